package measure

import (
	"cmp"
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"

	"catalogue/bench/report"
)

// resamples of a bootstrap: enough for the second digit of an interval's ends.
const resamples = 2000

// Ratio is the quantile q (0.5, 0.95, 0.99) of a over that of b, with its confidence interval, from samples that were
// taken in the same rounds: rounds are drawn with both their times, so that a slow moment of the machine counts on both
// sides. Samples of different lengths were not taken in the same rounds and make it panic. Without samples it is NaN.
func Ratio(a, b Samples, q float64) report.Interval {
	rounds := len(a.Times)
	if rounds != len(b.Times) {
		panic("samples of " + a.Subject.Name + " and " + b.Subject.Name + " are not of the same rounds")
	}
	over, under := newResample(a.Times), newResample(b.Times)
	return bootstrap(over, under, q, func(roll func(n int) int) {
		for range rounds {
			round := roll(rounds)
			over.take(round)
			under.take(round)
		}
	})
}

// RatioApart is Ratio for samples that were taken at different times, or of different numbers.
func RatioApart(a, b Samples, q float64) report.Interval {
	over, under := newResample(a.Times), newResample(b.Times)
	return bootstrap(over, under, q, func(roll func(n int) int) {
		for _, r := range []*resample{over, under} {
			for range r.sorted {
				r.take(roll(len(r.sorted)))
			}
		}
	})
}

// bootstrap is the ratio of the quantiles with the interval that ratios of resamples give it. draw fills both resamples
// by rolling numbers below n.
func bootstrap(over, under *resample, q float64, draw func(roll func(n int) int)) report.Interval {
	if len(over.sorted) == 0 || len(under.sorted) == 0 {
		return report.Interval{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	estimate := stats.Sample{Xs: over.sorted, Sorted: true}.Quantile(q) / stats.Sample{Xs: under.sorted, Sorted: true}.Quantile(q)
	dice, ratios := newDice(), make([]float64, resamples)
	for i := range ratios {
		draw(dice.IntN)
		ratios[i] = over.quantile(q) / under.quantile(q)
	}
	spread := stats.Sample{Xs: ratios}
	spread.Sort()
	return report.Interval{
		Value: estimate,
		// Draws of a steep tail can all but miss the estimate; an interval that leaves it out would be read as an error.
		Low:  min(estimate, spread.Quantile((1-confidence)/2)),
		High: max(estimate, spread.Quantile((1+confidence)/2)),
	}
}

// resample is a drawing of samples with replacement. It counts how often each was drawn and so need not sort the
// drawn ones, which would take minutes for the samples of a load.
type resample struct {
	sorted []float64
	rank   []int // of each sample, in the order of the samples
	drawn  []int // how often each rank was drawn
}

func newResample(times []float64) *resample {
	order := make([]int, len(times)) // indexes of times, by their times
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(times[i], times[j]) })
	r := &resample{sorted: make([]float64, len(times)), rank: make([]int, len(times)), drawn: make([]int, len(times))}
	for rank, i := range order {
		r.sorted[rank], r.rank[i] = times[i], rank
	}
	return r
}

func (r *resample) take(i int) { r.drawn[r.rank[i]]++ }

// quantile is that of what was drawn, by the same rule as stats.Sample.Quantile has (R8 of Hyndman and Fan), and
// empties the drawing.
func (r *resample) quantile(q float64) float64 {
	n := float64(len(r.sorted))
	position := min(max((n+1.0/3)*q+1.0/3, 1), n)
	whole, part := math.Modf(position)
	below := r.at(int(whole))
	above := below
	if part > 0 {
		above = r.at(int(whole) + 1)
	}
	clear(r.drawn)
	return below + part*(above-below)
}

// at is the kth of the drawn, from 1.
func (r *resample) at(k int) float64 {
	for rank, times := range r.drawn {
		if k -= times; k <= 0 {
			return r.sorted[rank]
		}
	}
	return r.sorted[len(r.sorted)-1]
}
