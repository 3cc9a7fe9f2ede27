package pagination

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func counted(n int64, kind TotalKind) func(context.Context) Total {
	return func(context.Context) Total { return Total{Count: &n, Kind: kind} }
}

func pageOf(n int, more bool) func(context.Context) (Page[int], error) {
	return func(context.Context) (Page[int], error) {
		p := Page[int]{Items: make([]int, n)}
		if more {
			p.Next = &RowPosition{Phase: Nulls}
		}
		return p, nil
	}
}

func TestAPageThatHoldsTheWholeListNeedsNoCount(t *testing.T) {
	t.Parallel()
	_, total, err := First(t.Context(), pageOf(3, false), func(context.Context) Total {
		t.Error("a count ran")
		return Total{}
	}, time.Hour)
	require.NoError(t, err)
	require.Equal(t, ExactTotal(3), total)
}

func TestASlowPageAndItsCountRunSideBySide(t *testing.T) {
	t.Parallel()
	counting := make(chan struct{})
	_, total, err := First(t.Context(),
		func(ctx context.Context) (Page[int], error) {
			<-counting // a page that waits for its count: the two can only end together
			return pageOf(3, true)(ctx)
		},
		func(ctx context.Context) Total {
			close(counting)
			return counted(12, TotalExact)(ctx)
		}, 0)
	require.NoError(t, err)
	require.Equal(t, ExactTotal(12), total)
}

func TestACountThatASlowWholePageMadeNeedlessIsEndedAndIgnored(t *testing.T) {
	t.Parallel()
	counting, ended := make(chan struct{}), make(chan struct{})
	_, total, err := First(t.Context(),
		func(ctx context.Context) (Page[int], error) {
			<-counting
			return pageOf(3, false)(ctx)
		},
		func(ctx context.Context) Total {
			close(counting)
			<-ctx.Done()
			close(ended)
			return ExactTotal(99)
		}, 0)
	require.NoError(t, err)
	require.Equal(t, ExactTotal(3), total)
	<-ended
}

func TestAPanicOfTheCountReachesWhoeverWantsTheTotal(t *testing.T) {
	t.Parallel()
	counting := make(chan struct{})
	slow := func(more bool) func(context.Context) (Page[int], error) {
		return func(ctx context.Context) (Page[int], error) {
			<-counting
			return pageOf(3, more)(ctx)
		}
	}
	panics := func(context.Context) Total {
		close(counting)
		panic("broken")
	}
	require.PanicsWithValue(t, "broken", func() { _, _, _ = First(t.Context(), slow(true), panics, CountHeadStart) })
	counting = make(chan struct{})
	_, total, err := First(t.Context(), slow(false), panics, CountHeadStart)
	require.NoError(t, err, "nobody needs it")
	require.Equal(t, ExactTotal(3), total)
}

func TestAFailedPageHasNoTotal(t *testing.T) {
	t.Parallel()
	want := errors.New("away")
	_, _, err := First(t.Context(), func(context.Context) (Page[int], error) { return Page[int]{}, want }, counted(1, TotalExact), CountHeadStart)
	require.ErrorIs(t, err, want)
}

func TestAnEstimateIsNoLessThanWhatWasSeen(t *testing.T) {
	t.Parallel()
	_, total, err := First(t.Context(), pageOf(50, true), counted(7, TotalEstimated), CountHeadStart)
	require.NoError(t, err)
	require.Equal(t, int64(51), *total.Count)
	require.Equal(t, TotalEstimated, total.Kind)
}

func TestACachedTotalThatTheRowsContradictIsUnknown(t *testing.T) {
	t.Parallel()
	asOf := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for count, want := range map[int64]Total{7: {Kind: TotalUnknown}, 51: CachedTotal(51, asOf), 400: CachedTotal(400, asOf)} {
		_, total, err := First(t.Context(), pageOf(50, true), func(context.Context) Total { return CachedTotal(count, asOf) }, CountHeadStart)
		require.NoError(t, err)
		require.Equal(t, want, total)
	}
}

func TestCounterEstimatesWithoutAFilterAndCountsWithOne(t *testing.T) {
	t.Parallel()
	w := watch(t, score, with("score", 1, 2, 2)...)
	counter := Counter{Timeout: 5 * time.Second}

	require.Equal(t, int64(3), *counter.Count(t.Context(), w.Collection, nil, "").Count)
	require.Len(t, w.sent("count"), 1, "the estimate is the metadata's")

	total := counter.Count(t.Context(), w.Collection, bson.D{{Key: "score", Value: 2}}, "")
	require.Equal(t, ExactTotal(2), total)
	sent := w.sent("aggregate")
	require.Len(t, sent, 1)
	require.Positive(t, sent[0].Lookup("maxTimeMS").AsInt64(), "the server keeps the deadline too")
}

func TestACountPastItsDeadlineIsUnknown(t *testing.T) {
	t.Parallel()
	coll := collection(t, score, with("score", 1, 2)...)
	counter := Counter{Timeout: time.Nanosecond, OnError: func(_ context.Context, err error) { t.Errorf("reported: %v", err) }}
	require.Equal(t, Total{Kind: TotalUnknown}, counter.Count(t.Context(), coll, bson.D{{Key: "score", Value: 2}}, ""))
}

func TestACountThatFailsIsUnknownAndReported(t *testing.T) {
	t.Parallel()
	coll := collection(t, score, with("score", 1, 2)...)
	var reported error
	counter := Counter{Timeout: 5 * time.Second, OnError: func(_ context.Context, err error) { reported = err }}
	total := counter.Count(t.Context(), coll, bson.D{{Key: "$noSuchOperator", Value: 2}}, "")
	require.Equal(t, Total{Kind: TotalUnknown}, total)
	require.Error(t, reported)
}
