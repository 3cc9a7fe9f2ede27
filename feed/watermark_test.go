package feed

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWatermark: forward always, descending on the first page only, never on a descending page with an offset.
func TestWatermark(t *testing.T) {
	t.Parallel()
	asked := 0
	w := NewWatermark(func(context.Context) (time.Time, error) {
		asked++
		return time.UnixMilli(1760598968123), nil
	}, time.Second)
	for _, c := range []struct {
		walk Walk
		want float64
	}{
		{Walk{}, 1760598967.123},
		{Walk{First: true}, 1760598967.123},
		{Walk{Descending: true, First: true}, 1760598967.123},
		{Walk{Descending: true}, math.Inf(1)},
	} {
		got, err := w.Horizon(t.Context(), c.walk)
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%+v", c.walk) //nolint:testifylint // the very double that the database computes
	}
	require.Equal(t, 3, asked, "the clock is asked where it matters")
}

func TestWatermarkWithoutClock(t *testing.T) {
	t.Parallel()
	broken := errors.New("no clock")
	w := NewWatermark(func(context.Context) (time.Time, error) { return time.Time{}, broken }, time.Second)
	_, err := w.Horizon(t.Context(), Walk{})
	require.ErrorIs(t, err, broken)
}

func TestNoneShowsEverything(t *testing.T) {
	t.Parallel()
	for _, walk := range []Walk{{}, {Descending: true}, {First: true}, {Descending: true, First: true}} {
		got, err := None{}.Horizon(t.Context(), walk)
		require.NoError(t, err)
		require.True(t, math.IsInf(got, 1))
	}
}
