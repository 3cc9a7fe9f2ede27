package measure

import (
	"testing"

	"github.com/aclements/go-moremath/stats"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPropertyOfResamples(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		given := rapid.SliceOfN(rapid.Float64Range(0, 100), 1, 50).Draw(t, "times")
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		r := newResample(given)
		for range 2 { // the second time tells whether the first has been emptied
			var drawn []float64
			for range given {
				i := rapid.IntRange(0, len(given)-1).Draw(t, "i")
				r.take(i)
				drawn = append(drawn, given[i])
			}
			require.InDelta(t, stats.Sample{Xs: drawn}.Quantile(q), r.quantile(q), 1e-9)
		}
	})
}
