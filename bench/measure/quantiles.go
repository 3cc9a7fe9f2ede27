package measure

import (
	"slices"

	"github.com/aclements/go-moremath/stats"

	"catalogue/bench/report"
)

// confidence of every interval.
const confidence = 0.95

// Summary makes the measurement of samples. Without samples its figures are zero.
func (s Samples) Summary() report.Measurement {
	sorted := slices.Sorted(slices.Values(s.Times))
	return report.Measurement{
		Name: s.Subject.Name, Labels: s.Subject.Labels, Count: len(sorted),
		P50: quantile(sorted, 0.50), P95: quantile(sorted, 0.95), P99: quantile(sorted, 0.99),
	}
}

// Quantile is the quantile q of times, with the interval that order statistics give it, which holds whatever the
// distribution is. Low is never below zero, the least time there is; High is +Inf where the samples are too few to
// bound a quantile so near their end.
func (s Samples) Quantile(q float64) report.Interval {
	return quantile(slices.Sorted(slices.Values(s.Times)), q)
}

func quantile(sorted []float64, q float64) report.Interval {
	if len(sorted) == 0 {
		return report.Interval{}
	}
	value, low, high := stats.QuantileCI(len(sorted), q, confidence).SampleCI(stats.Sample{Xs: sorted, Sorted: true})
	return report.Interval{Value: value, Low: max(low, 0), High: high}
}
