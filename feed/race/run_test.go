package race_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/feed/race"
	"catalogue/internal/instant"
)

// shelf keeps objects in memory, and serves them in the order in which they were put there: a feed that loses nothing,
// unless it is told to.
type shelf struct {
	mu        sync.Mutex
	rows      []race.Version
	leavesOut func(n int) bool // tells of a row whether it is never shown; nil where all are
	fails     error            // of every write
}

func (s *shelf) Create(ctx context.Context, hold race.Hold) (race.Version, error) {
	return s.Patch(ctx, bson.NewObjectID(), hold)
}

func (s *shelf) Patch(ctx context.Context, id bson.ObjectID, hold race.Hold) (race.Version, error) {
	if s.fails != nil {
		return race.Version{}, s.fails
	}
	stamp, err := instant.FromTime(time.Now())
	if err != nil {
		return race.Version{}, err
	}
	if hold != nil {
		if err := hold(ctx); err != nil {
			return race.Version{}, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v := race.Version{ID: id, Stamp: stamp}
	s.rows = append(s.rows, v)
	return v, wait(ctx) // writers that never rest would be all that runs
}

// wait lets others run.
func wait(ctx context.Context) error {
	timer := time.NewTimer(ms)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	from, _ := strconv.Atoi(r.URL.Query().Get("offset"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	s.mu.Lock()
	defer s.mu.Unlock()
	to := min(len(s.rows), from+limit)
	data := []map[string]any{}
	for n := from; n < to; n++ {
		if s.leavesOut == nil || !s.leavesOut(n) {
			data = append(data, map[string]any{"id": s.rows[n].ID, "dateModified": s.rows[n].Stamp})
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data, "next_page": map[string]any{"offset": strconv.Itoa(to)}})
}

func localClock(context.Context) (time.Time, error) { return time.Now(), nil }

func quick() race.Plan {
	return race.Plan{Duration: time.Minute, Writes: 403, Writers: 4, SlowShare: 0.02, SlowTime: 20 * ms, Delay: 50 * ms}
}

func TestRunJudgesEachOrderingByWhatItsFollowerSaw(t *testing.T) {
	t.Parallel()
	rows := &shelf{}
	lossy := &shelf{leavesOut: func(n int) bool { return n%10 == 0 }}
	both := tee{rows, lossy}
	result, err := race.Run(t.Context(), quick(), both, localClock,
		race.Ordering{Name: "whole", Lossless: true, Handler: rows},
		race.Ordering{Name: "lossy", Lossless: true, Handler: lossy},
	)
	require.NoError(t, err)
	require.Len(t, result.Writes, 403)
	require.Positive(t, result.Rate())
	whole, lost := result.Outcomes[0], result.Outcomes[1]
	require.Equal(t, "whole", whole.Ordering)
	require.Empty(t, whole.Lost)
	require.Less(t, whole.VisibleP50, 100*ms)
	require.Greater(t, len(lost.Lost), 10)
	require.ErrorContains(t, result.Broken(), "the ordering lossy lost ")

	objects, slow := map[bson.ObjectID]int{}, 0
	for _, w := range result.Writes {
		objects[w.ID]++
		if w.Slow {
			slow++
			require.GreaterOrEqual(t, w.Late, 18*ms, "it held its write open")
		}
	}
	require.InDelta(t, 0.02*403, slow, 4)
	require.InDelta(t, 403*7/8, len(objects), 4, "one in eight is a patch")
	for id, times := range objects {
		require.LessOrEqual(t, times, 2, id)
	}
}

// tee writes to two shelves at once, and answers with the first one's versions.
type tee [2]*shelf

func (t tee) Create(ctx context.Context, hold race.Hold) (race.Version, error) {
	return t.Patch(ctx, bson.NewObjectID(), hold)
}

func (t tee) Patch(ctx context.Context, id bson.ObjectID, hold race.Hold) (race.Version, error) {
	v, err := t[0].Patch(ctx, id, hold)
	t[1].mu.Lock()
	defer t[1].mu.Unlock()
	t[1].rows = append(t[1].rows, v)
	return v, err
}

func TestRunEndsWithTheTime(t *testing.T) {
	t.Parallel()
	rows := &shelf{}
	plan := quick()
	plan.Duration, plan.Writes = 200*ms, 0
	result, err := race.Run(t.Context(), plan, rows, localClock, race.Ordering{Name: "whole", Handler: rows})
	require.NoError(t, err)
	require.Greater(t, result.Elapsed, 190*ms)
	require.NotEmpty(t, result.Writes)
	require.Empty(t, result.Outcomes[0].Lost)
}

func TestRunFailsWhereItCannotJudge(t *testing.T) {
	t.Parallel()
	gone := http.NotFoundHandler()
	garbled := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) })
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		writer  *shelf
		handler http.Handler
		clock   race.Clock
		err     string
	}{
		"the feed answers with an error": {&shelf{}, gone, localClock, `ordering x: the feed answers 404 Not Found to the offset ""`},
		"the feed answers with no page":  {&shelf{}, garbled, localClock, "ordering x: a page of the feed"},
		"a write fails":                  {&shelf{fails: broken}, &shelf{}, localClock, "write: broken"},
		"the clock is away": {
			&shelf{}, &shelf{}, func(context.Context) (time.Time, error) { return time.Time{}, broken },
			"read the database's clock: broken",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := race.Run(t.Context(), quick(), c.writer, c.clock, race.Ordering{Name: "x", Handler: c.handler})
			require.ErrorContains(t, err, c.err)
		})
	}
}

func TestRunEndsWhenItIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	rows := &shelf{}
	interrupting := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		interrupt()
		rows.ServeHTTP(w, r)
	})
	_, err := race.Run(ctx, quick(), rows, localClock, race.Ordering{Name: "x", Handler: interrupting})
	require.ErrorIs(t, err, context.Canceled)
}
