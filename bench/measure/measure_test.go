package measure_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"catalogue/bench/measure"
)

// recorder makes subjects that write their names down when they run.
type recorder struct{ ran []string }

func (r *recorder) subject(name string) measure.Subject {
	return measure.Subject{Name: name, Run: func(context.Context) error {
		r.ran = append(r.ran, name)
		return nil
	}}
}

func TestEverySubjectRunsOnceARound(t *testing.T) {
	t.Parallel()
	var r recorder
	steps := 0
	samples, err := measure.Interleave(t.Context(), 3, 20, func() { steps++ }, r.subject("a"), r.subject("b"), r.subject("c"))
	require.NoError(t, err)
	require.Equal(t, 23, steps)
	orders := map[string]bool{}
	for round := range slices.Chunk(r.ran, 3) {
		orders[strings.Join(round, "")] = true
		slices.Sort(round)
		require.Equal(t, []string{"a", "b", "c"}, round)
	}
	require.Len(t, orders, 6, "every order comes up")
	require.Len(t, samples, 3)
	for i, name := range []string{"a", "b", "c"} {
		require.Equal(t, name, samples[i].Subject.Name)
		require.Len(t, samples[i].Times, 20, "warm-up is not kept")
	}
}

func TestPreparationIsNotTimed(t *testing.T) {
	t.Parallel()
	const pause = 20 * time.Millisecond
	wait := func(context.Context) error {
		<-time.After(pause)
		return nil
	}
	nothing := func(context.Context) error { return nil }
	samples, err := measure.Interleave(t.Context(), 0, 3, nil,
		measure.Subject{Name: "prepared", Prepare: wait, Run: nothing}, measure.Subject{Name: "timed", Run: wait})
	require.NoError(t, err)
	require.Less(t, slices.Min(samples[0].Times), measure.Milliseconds(pause))
	require.GreaterOrEqual(t, slices.Min(samples[1].Times), measure.Milliseconds(pause))
}

func TestAnErrorNamesItsSubjectAndEndsTheRounds(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	fail := func(context.Context) error { return broken }
	var r recorder
	for _, bad := range []measure.Subject{
		{Name: "the bad one", Run: fail},
		{Name: "the bad one", Run: r.subject("never").Run, Prepare: fail},
	} {
		_, err := measure.Interleave(t.Context(), 0, 5, nil, bad)
		require.ErrorIs(t, err, broken)
		require.ErrorContains(t, err, "the bad one")
	}
	require.Empty(t, r.ran)
}

func TestACancelledContextEndsTheRounds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var r recorder
	rounds := 0
	_, err := measure.Interleave(ctx, 0, 1000, func() {
		if rounds++; rounds == 2 {
			cancel()
		}
	}, r.subject("a"))
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, r.ran, 2)
}

func TestMilliseconds(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 1.5, measure.Milliseconds(1500*time.Microsecond), 1e-12)
	require.False(t, math.IsInf(measure.Milliseconds(math.MaxInt64), 0))
}
