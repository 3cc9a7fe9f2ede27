package groups

import (
	"fmt"
	"slices"

	"catalogue/bench/measure"
	"catalogue/bench/report"
)

const hintsText = `Pages of %d by the driver alone, at %s rows, under filters that match different shares of them: as the planner chooses,
with a hint to the index of the sort, and, where the filter has a condition on the field of a declared pair, with a hint to
the pair's index. One page of each place is compared: every way must serve the same rows.

The rule, as the catalogue applies it:

1. A filter that asks for one value of a pair's field, which is no list, and of no other field anything but of the sort's:
   the index of the pair. It holds the matching rows in the order of the page. The hint bounds the work where the planner's
   statistics are missing or wrong, as after a load, and costs what the figures say where they are right.
2. Everything else is left to the planner. How many rows a filter matches is not seen from its text, and an index in the
   order of the page is read to its end where few do. A filter on the sort's field alone needs no hint: the planner
   takes the index of the sort by itself.

The rule is safe where the planner is good: no declared index has fewer keys for such a page than the one that is hinted.
`

func (h hints) section(size int, found []hinted) report.Section {
	out := report.Section{
		ID: "hints", Title: "Hints under a filter",
		Text: fmt.Sprintf(hintsText, h.limit, number(size)) + ruleWords(found) + otherWords(found),
		Tables: []report.Table{{
			Title: fmt.Sprintf("p50 of a page, ms, %s rows", number(size)),
			Columns: []string{
				"Sort", "Filter", "Matches", "Page at", "Planner", "Index of the sort", "Index of the pair", "The rule", "Planner ÷ rule",
			},
		}},
	}
	changed := 0
	for _, f := range found {
		changed += f.changed
		for _, s := range f.samples {
			out.Measurements = append(out.Measurements, s.Summary())
		}
		out.Tables[0].Rows = append(out.Tables[0].Rows, f.row(size))
	}
	out.Goals = []report.Goal{{
		Text: "A hint changes no page: pages, of one a place and way, with other rows than without it", Value: exactly(float64(changed)), Unit: "pages",
		Reason: changedReason(changed),
	}}
	return out
}

func changedReason(changed int) string {
	if changed == 0 {
		return ""
	}
	return "an index of this engine does not hold all rows, or not in its order"
}

func (f hinted) row(size int) []string {
	row := []string{f.sort, f.name, fmt.Sprintf("%.2f %%", 100*float64(f.matches)/float64(size)), f.at.String()}
	for i := range 3 {
		cell := "–"
		if i < len(f.samples) {
			cell = millis(f.samples[i].Quantile(0.5).Value)
		}
		row = append(row, cell)
	}
	if f.ruled == byPlanner {
		return append(row, f.ruled, "–")
	}
	return append(row, f.ruled, times(f.gain(f.ruled)))
}

// gain is the planner's p50 over that of another way.
func (f hinted) gain(way string) report.Interval {
	i := slices.IndexFunc(f.ways, func(w hintWay) bool { return w.name == way })
	return measure.Ratio(f.samples[0], f.samples[i], 0.5)
}

// ruleWords says what the rule does where it names an index.
func ruleWords(found []hinted) string {
	var gains []float64
	for _, f := range found {
		if f.ruled != byPlanner {
			gains = append(gains, f.gain(f.ruled).Value)
		}
	}
	if len(gains) == 0 {
		return ""
	}
	slices.Sort(gains)
	return fmt.Sprintf("\nOn the %d pages where the rule names an index, the page took %.2f × the planner's time in the median, from %.2f to %.2f ×.\n",
		len(gains), 1/gains[len(gains)/2], 1/gains[len(gains)-1], 1/gains[0])
}

// otherWords says what the index of the sort would do where the rule leaves the choice to the planner.
func otherWords(found []hinted) string {
	var worst, best hinted
	low, high, n := 0.0, 0.0, 0
	for _, f := range found {
		if f.ruled != byPlanner {
			continue
		}
		gain := f.gain(bySort).Value
		if n++; n == 1 || gain < low {
			worst, low = f, gain
		}
		if n == 1 || gain > high {
			best, high = f, gain
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("\nOn the other %d, a hint to the index of the sort would take from %.2f × the planner's time (%s by %s, %s) to %.2f × (%s by %s, %s).\n",
		n, 1/high, best.name, best.sort, best.at, 1/low, worst.name, worst.sort, worst.at)
}
