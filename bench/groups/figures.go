package groups

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"catalogue/bench/measure"
	"catalogue/bench/report"
)

const bytesPerMB = 1_000_000

// number writes a whole number with its thousands apart: 1,000,000.
func number(n int) string {
	digits := strconv.Itoa(n)
	var parts []string
	for len(digits) > 3 {
		parts = append(parts, digits[len(digits)-3:])
		digits = digits[:len(digits)-3]
	}
	parts = append(parts, digits)
	slices.Reverse(parts)
	return strings.Join(parts, ",")
}

// millis writes a time in milliseconds.
func millis(ms float64) string { return fmt.Sprintf("%.2f", ms) }

// percentiles writes p50, p95 and p99 in milliseconds.
func percentiles(s measure.Samples) string {
	m := s.Summary()
	return millis(m.P50.Value) + " / " + millis(m.P95.Value) + " / " + millis(m.P99.Value)
}

// times writes a ratio with its interval.
func times(i report.Interval) string {
	return fmt.Sprintf("%.2f (%.2f–%.2f)", i.Value, i.Low, i.High)
}

// megabytes of a number of bytes.
func megabytes(bytes int64) float64 { return float64(bytes) / bytesPerMB }

// exactly is a figure that was counted and not sampled.
func exactly(x float64) report.Interval { return report.Interval{Value: x, Low: x, High: x} }

func compare(a, b float64) int { return cmp.Compare(a, b) }

// union is all of a and b, each once, ascending.
func union(a, b []int) []int {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

// unmeasured is a promise that this run has no figure for.
func unmeasured(text, unit string, limit float64, why string) report.Goal { //nolint:unparam // goals have many units
	return report.Goal{Text: text, Unit: unit, Limit: limit, NotMeasured: true, Reason: why}
}
