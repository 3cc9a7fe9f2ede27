package counting_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"catalogue/internal/mongotest"
	"catalogue/internal/redistest"
	"catalogue/pagination"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// Redis goes away and comes back while eight callers count without a pause: each gets the right number every time.
func TestRedisIsCutOffAndBackUnderLoad(t *testing.T) {
	t.Parallel()
	url, proxy := redistest.NewProxy(t)
	s := startOn(t, newDatabase(t), url, 20*time.Second, 0)
	s.db.plant(t, "creatives", "active", 3)
	var all sync.WaitGroup
	stop := make(chan struct{})
	end := sync.OnceFunc(func() { close(stop) })
	defer end()
	kinds := make(chan pagination.TotalKind)
	const callers = 8
	for caller := range callers {
		all.Go(func() {
			for {
				total := s.Count(context.Background(), s.numbered(caller%2))
				if !isThree(total) {
					t.Errorf("counted %+v", total)
				}
				select {
				case kinds <- total.Kind:
				case <-stop:
					return
				}
			}
		})
	}
	always := func() bool { return true }
	// A caller may hold a total from before, so as many are read as there are callers and one more.
	await := func(want pagination.TotalKind, since func() bool) {
		t.Helper()
		patience := time.After(30 * time.Second)
		for left := callers + 1; left > 0; {
			select {
			case kind := <-kinds:
				if kind == want && since() {
					left--
				}
			case <-patience:
				require.FailNow(t, "no totals of the kind", string(want))
			}
		}
	}
	await(pagination.TotalCached, always)
	for _, outage := range []func(){proxy.Cut, proxy.Stall} {
		before := s.cache.Failures()
		outage()
		await(pagination.TotalExact, func() bool { return s.cache.Failures() > before })
		proxy.Restore()
		await(pagination.TotalCached, always)
	}
	end()
	all.Wait()
	require.NotZero(t, s.cache.Failures())
	require.Zero(t, s.log.Load())
}

func isThree(total pagination.Total) bool { return total.Count != nil && *total.Count == 3 }

func TestTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	uri, proxy := mongotest.NewProxy(t)
	db := newDatabaseAt(t, uri)
	s := startWith(t, db, redistest.URL(t), timeout)
	db.plant(t, "creatives", "active", 3)
	short := startWith(t, db, redistest.URL(t), 100*time.Millisecond)

	proxy.Stall()
	began := time.Now()
	require.Equal(t, unknown, short.count(t, short.request("active")))
	require.Less(t, time.Since(began), 2*time.Second)
	short.Close()
	require.Empty(t, s.keys(t))

	proxy.Restore()
	require.Eventually(t, func() bool { return isThree(s.count(t, s.request("active"))) }, 15*time.Second, time.Millisecond)
	key := s.settle(t)
	proxy.Stall()
	total := s.count(t, s.request("active"))
	require.Equal(t, pagination.TotalCached, total.Kind, "what was kept needs no database")
	proxy.Restore()
	require.NoError(t, s.redis.Del(t.Context(), key).Err())
}
