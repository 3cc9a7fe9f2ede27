package measure_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"catalogue/bench/measure"
	"catalogue/bench/report"
)

var quantiles = []float64{0.5, 0.95, 0.99}

func samplesOf(times ...float64) measure.Samples {
	return measure.Samples{Subject: measure.Subject{Name: "x", Labels: map[string]string{"rows": "10000"}}, Times: times}
}

// drawn makes n samples of the distribution whose inverse is given.
func drawn(seed uint64, n int, inverse func(p float64) float64) measure.Samples {
	dice := rand.New(rand.NewPCG(seed, 7))
	times := make([]float64, n)
	for i := range times {
		times[i] = inverse(dice.Float64())
	}
	return samplesOf(times...)
}

// exponential has the quantiles -ln(1-q) and, as times have, a long tail to the right.
func exponential(p float64) float64 { return -math.Log1p(-p) }

func times(most int) *rapid.Generator[[]float64] {
	return rapid.SliceOfN(rapid.Float64Range(0.001, 1e5), 1, most)
}

func contains(i report.Interval, x float64) bool { return i.Low <= x && x <= i.High }

func TestIntervalsCoverTheTrueQuantile(t *testing.T) {
	t.Parallel()
	const tries, n = 400, 500
	for _, q := range quantiles {
		covered := 0
		for try := range tries {
			if contains(drawn(uint64(try), n, exponential).Quantile(q), exponential(q)) {
				covered++
			}
		}
		require.InDelta(t, 0.95, float64(covered)/tries, 0.035, "of intervals at 95 %%, quantile %v", q)
	}
}

func TestRatiosCoverTheTrueRatio(t *testing.T) {
	t.Parallel()
	const tries, n = 60, 100
	for name, ratio := range map[string]func(a, b measure.Samples, q float64) report.Interval{
		"paired": measure.Ratio, "apart": measure.RatioApart,
	} {
		covered := 0
		for try := range tries {
			a, b := drawn(uint64(try), n, exponential), drawn(uint64(try+tries), n, exponential)
			for i := range a.Times {
				a.Times[i] *= 3
			}
			if contains(ratio(a, b, 0.5), 3) {
				covered++
			}
		}
		require.Greater(t, float64(covered)/tries, 0.85, name)
	}
}

// A slow machine slows both sides of a round: what pairs them sees the ratio through it, what does not is less sure.
func TestPairingTakesOutWhatBothSidesShare(t *testing.T) {
	t.Parallel()
	b := drawn(1, 200, exponential)
	a := samplesOf()
	for _, x := range b.Times {
		a.Times = append(a.Times, 2*x)
	}
	paired, apart := measure.Ratio(a, b, 0.5), measure.RatioApart(a, b, 0.5)
	require.InDelta(t, 2, paired.Low, 1e-9)
	require.InDelta(t, 2, paired.High, 1e-9)
	require.Greater(t, apart.High-apart.Low, 0.1)
}

func TestFewSamplesDoNotBoundTheEnd(t *testing.T) {
	t.Parallel()
	m := samplesOf(3, 1, 2).Summary()
	require.InDelta(t, 2, m.P50.Value, 1e-9)
	require.Zero(t, m.P50.Low)
	require.True(t, math.IsInf(m.P99.High, 1))
	require.Equal(t, 3, m.Count)
	require.Equal(t, "x", m.Name)
	require.Equal(t, "10000", m.Labels["rows"])
}

func TestWithoutSamplesThereAreNoFigures(t *testing.T) {
	t.Parallel()
	require.Equal(t, report.Interval{}, samplesOf().Summary().P99)
	require.True(t, math.IsNaN(measure.RatioApart(samplesOf(), samplesOf(1), 0.5).Value))
}

func TestRatioRefusesOtherRounds(t *testing.T) {
	t.Parallel()
	require.Panics(t, func() { measure.Ratio(samplesOf(1), samplesOf(1, 2), 0.5) })
}

func TestPropertyOfSummaries(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		given := times(200).Draw(t, "times")
		before := append([]float64(nil), given...)
		m := samplesOf(given...).Summary()
		require.Equal(t, before, given, "samples keep their order")
		require.LessOrEqual(t, m.P50.Value, m.P95.Value)
		require.LessOrEqual(t, m.P95.Value, m.P99.Value)
		for i, interval := range []report.Interval{m.P50, m.P95, m.P99} {
			require.True(t, contains(interval, interval.Value), "%v", interval)
			require.Equal(t, interval, samplesOf(given...).Quantile(quantiles[i]))
		}
	})
}

func TestPropertyOfRatios(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, q := times(40).Draw(t, "a"), rapid.SampledFrom(quantiles).Draw(t, "q")
		same := measure.Ratio(samplesOf(a...), samplesOf(a...), q)
		require.Equal(t, report.Interval{Value: 1, Low: 1, High: 1}, same)
		require.True(t, contains(measure.RatioApart(samplesOf(a...), samplesOf(a...), q), 1))

		b := rapid.SliceOfN(rapid.Float64Range(0.001, 1e5), len(a), len(a)).Draw(t, "b")
		ratio := measure.Ratio(samplesOf(a...), samplesOf(b...), q)
		require.True(t, contains(ratio, ratio.Value), "%v", ratio)
		require.Equal(t, ratio, measure.Ratio(samplesOf(a...), samplesOf(b...), q), "the draws are the same each time")
	})
}
