package indexes

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/mongodb"
	"catalogue/internal/mongotest"
)

func clockAt(t time.Duration) func() time.Time {
	return func() time.Time { return time.Unix(1_790_000_000, 0).Add(t) }
}

// watched is a database whose looks are counted and can be held up.
type watched struct {
	*mongo.Database
	looks   atomic.Int64
	started chan struct{} // one for each look
	pass    chan struct{} // closed: looks go on
}

func watch(t testing.TB) *watched {
	t.Helper()
	plain := mongotest.Database(t) // makes the name, and drops it
	w := &watched{started: make(chan struct{}, 100), pass: make(chan struct{})}
	client, err := mongodb.Open(mongodb.Options{
		URI: mongotest.URI(t), Database: plain.Name(),
		Monitor: &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
			// A server that does not mark what it builds is asked a second time, without the marks.
			if _, err := e.Command.LookupErr("includeBuildUUIDs"); e.CommandName == "listIndexes" && err == nil {
				w.looks.Add(1)
				w.started <- struct{}{}
				<-w.pass
			}
		}},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Disconnect(context.Background())) })
	w.Database = client.Database()
	return w
}

func TestAStateKnowsNothingBeforeItsFirstLook(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	require.NoError(t, Apply(t.Context(), db, []Index{byName}, func(Standing) {}))
	state := NewState(db, []Index{byName, byScore}, clockAt(0))
	require.Empty(t, state.Hint(byName))
	require.EqualError(t, state.Unready(),
		"indexes are not ready: rows {name: 1, _id: 1} is missing; rows {kind: 1, metrics.score: 1, _id: 1} is missing")

	require.NoError(t, state.Look(t.Context()))
	require.Equal(t, byName.Name(), state.Hint(byName))
	require.Empty(t, state.Hint(byScore))
	require.EqualError(t, state.Unready(), "indexes are not ready: rows {kind: 1, metrics.score: 1, _id: 1} is missing")

	require.NoError(t, Apply(t.Context(), db, []Index{byScore}, func(Standing) {}))
	require.NoError(t, state.Look(t.Context()))
	require.NoError(t, state.Unready())
	require.Empty(t, state.Hint(unique), "an index that was not declared")
}

func TestAnIndexIsHintedOnlyWhileItIsBuiltAndVisible(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	require.NoError(t, Apply(t.Context(), db, []Index{byName}, func(Standing) {}))
	state := NewState(db, []Index{byName}, clockAt(0))
	look := func() { require.NoError(t, state.Look(t.Context())) }

	look()
	require.Equal(t, byName.Name(), state.Hint(byName))
	hide(t, db, byName.Name(), true)
	look()
	require.Empty(t, state.Hint(byName))
	require.EqualError(t, state.Unready(), "indexes are not ready: rows {name: 1, _id: 1} is hidden")
	state.Refused("rows", byName.Name())
	require.ErrorContains(t, state.Unready(), "is hidden", "it stays what it is")
	hide(t, db, byName.Name(), false)
	look()
	require.Equal(t, byName.Name(), state.Hint(byName))
	require.NoError(t, db.Collection("rows").Indexes().DropOne(t.Context(), byName.Name()))
	look()
	require.Empty(t, state.Hint(byName))
}

func TestARefusedIndexIsNotHintedUntilItIsSeenAgain(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	require.NoError(t, Apply(t.Context(), db, []Index{byName, byScore}, func(Standing) {}))
	state := NewState(db, []Index{byName, byScore}, clockAt(0))
	require.NoError(t, state.Look(t.Context()))

	state.Refused("others", byName.Name())
	require.NotEmpty(t, state.Hint(byName), "another collection")
	state.Refused("rows", "")
	state.Refused("rows", byName.Name())
	require.EqualValues(t, 3, state.Repeats())
	require.Empty(t, state.Hint(byName))
	require.NotEmpty(t, state.Hint(byScore))
	require.ErrorContains(t, state.Unready(), byName.String())

	require.NoError(t, state.Look(t.Context()))
	require.NotEmpty(t, state.Hint(byName))
}

func TestRefreshLooksOnceAnInterval(t *testing.T) {
	t.Parallel()
	db := watch(t)
	close(db.pass)
	var now time.Duration
	state := NewState(db.Database, []Index{byName}, func() time.Time { return clockAt(now)() })
	for _, c := range []struct {
		now   time.Duration
		looks int64
	}{
		{0, 1},
		{0, 1},
		{refreshInterval - 1, 1},
		{refreshInterval, 2},
		{2*refreshInterval - 1, 2},
		{2 * refreshInterval, 3},
		{-time.Hour, 4}, // the clock is set back
		{-time.Hour, 4},
	} {
		now = c.now
		require.NoError(t, state.Refresh(t.Context()))
		require.Equal(t, c.looks, db.looks.Load(), c.now)
	}
	require.NoError(t, state.Look(t.Context()))
	require.EqualValues(t, 5, db.looks.Load(), "Look does not wait for the interval")
}

func TestAFailedLookIsToldAndKeepsWhatWasKnown(t *testing.T) {
	t.Parallel()
	uri, proxy := mongotest.NewProxy(t)
	db := mongotest.Database(t)
	require.NoError(t, Apply(t.Context(), db, []Index{byName}, func(Standing) {}))
	client, err := mongodb.Open(mongodb.Options{URI: uri, Database: db.Name(), ServerSelectionTimeout: 200 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Disconnect(context.Background())) })
	var now time.Duration
	state := NewState(client.Database(), []Index{byName}, func() time.Time { return clockAt(now)() })
	require.NoError(t, state.Refresh(t.Context()))

	proxy.Cut()
	now = refreshInterval
	require.Error(t, state.Refresh(t.Context()))
	require.Equal(t, byName.Name(), state.Hint(byName))
	require.Error(t, state.Refresh(t.Context()), "it is not taken for a look")
	proxy.Restore()
	require.Eventually(t, func() bool { return state.Refresh(t.Context()) == nil }, 15*time.Second, time.Millisecond)
}

func TestSeveralCallersShareOneLook(t *testing.T) {
	t.Parallel()
	db := watch(t)
	state := NewState(db.Database, []Index{byName, byScore, unique}, clockAt(0))
	var group sync.WaitGroup
	failures := make([]error, 20)
	for i := range failures {
		group.Go(func() { failures[i] = state.Refresh(t.Context()) })
	}
	<-db.started
	close(db.pass)
	group.Wait()
	for _, err := range failures {
		require.NoError(t, err)
	}
	require.EqualValues(t, 1, db.looks.Load(), "one look, and one command for the collection")
}

func TestACallerThatLeavesTakesNoLookFromTheOthers(t *testing.T) {
	t.Parallel()
	db := watch(t)
	state := NewState(db.Database, []Index{byName}, clockAt(0))
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() { first <- state.Look(ctx) }()
	<-db.started
	cancel()
	require.ErrorIs(t, <-first, context.Canceled, "each leaves on its own deadline")

	second := make(chan error, 1)
	go func() { second <- state.Refresh(t.Context()) }()
	close(db.pass)
	require.NoError(t, <-second)
	require.EqualValues(t, 1, db.looks.Load())
}

// Two versions that let rows expire at other times serve side by side.
func TestWhenRowsExpireIsNoMatterOfReadiness(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	require.NoError(t, Apply(t.Context(), db, []Index{expiring}, func(Standing) {}))
	longer := expiring
	longer.ExpireAfter *= 2
	state := NewState(db, []Index{longer}, clockAt(0))
	require.NoError(t, state.Look(t.Context()))
	require.NoError(t, state.Unready())
	require.Equal(t, expiring.Name(), state.Hint(longer))
}
