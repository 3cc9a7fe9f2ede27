package counting_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/counting"
	"catalogue/internal/redistest"
	"catalogue/pagination"
)

func TestManyAtOnceRunOneCount(t *testing.T) {
	t.Parallel()
	for name, redis := range map[string]string{"with Redis": redistest.URL(t), "without": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, redis)
			s.db.plant(t, "creatives", "active", 3)
			begun, release := s.db.hold()
			defer release()

			const callers = 200
			totals := make(chan pagination.Total, callers)
			var asking, all sync.WaitGroup
			asking.Add(callers)
			for range callers {
				all.Go(func() {
					asking.Done()
					totals <- s.Count(context.Background(), s.request("active"))
				})
			}
			await(t, begun)
			asking.Wait()
			release()
			all.Wait()
			close(totals)
			for total := range totals {
				require.Equal(t, int64(3), *total.Count)
			}
			if redis != "" {
				require.Equal(t, int64(1), s.db.counts.Load())
			} else {
				// who was scheduled only after the count had ended needs another one
				require.Less(t, s.db.counts.Load(), int64(callers/10))
			}
			require.Equal(t, s.db.counts.Load(), s.db.timed.Load(), "the server knows the deadline")
			require.Greater(t, s.db.most, timeout.Milliseconds())
			require.LessOrEqual(t, s.db.most, 5*timeout.Milliseconds())
		})
	}
}

func TestTheFirstCallerMayLeave(t *testing.T) {
	t.Parallel()
	s := start(t, redistest.URL(t))
	s.db.plant(t, "creatives", "active", 3)
	begun, release := s.db.hold()
	defer release()

	gone, leave := context.WithCancel(t.Context())
	first, second := make(chan pagination.Total, 1), make(chan pagination.Total, 1)
	go func() { first <- s.Count(gone, s.request("active")) }()
	await(t, begun)
	go func() { second <- s.Count(context.Background(), s.request("active")) }()
	leave()
	require.Equal(t, unknown, <-first)
	release()
	require.Equal(t, int64(3), *(<-second).Count)
	require.Equal(t, int64(1), s.db.counts.Load())
	require.Zero(t, s.log.Load())
}

func TestACountFillsTheCacheAfterItsWaitersHaveLeft(t *testing.T) {
	t.Parallel()
	s := startWith(t, newDatabase(t), redistest.URL(t), 2*time.Second)
	s.db.plant(t, "creatives", "active", 3)
	begun, release := s.db.hold()
	defer release()
	began := time.Now()
	require.Equal(t, unknown, s.count(t, s.request("active")), "past its own deadline")
	require.GreaterOrEqual(t, time.Since(began), 2*time.Second)
	await(t, begun)

	for range 20 { // searches that are given up while the count runs
		gone, leave := context.WithCancel(t.Context())
		leave()
		require.Equal(t, unknown, s.Count(gone, s.request("active")))
	}
	release()
	s.settle(t)
	total := s.count(t, s.request("active"))
	require.Equal(t, pagination.TotalCached, total.Kind)
	require.Equal(t, int64(3), *total.Count)
	require.Equal(t, int64(1), s.db.counts.Load())
	require.Zero(t, s.log.Load(), "nobody needs to hear of it")
}

func TestACountThatTakesTooLongEnds(t *testing.T) {
	t.Parallel()
	s := startWith(t, newDatabase(t), redistest.URL(t), 500*time.Millisecond)
	s.db.plant(t, "creatives", "active", 50)
	r := s.request("slow")
	begun, release := s.db.hold()
	require.Equal(t, unknown, s.count(t, r))
	await(t, begun)
	time.AfterFunc(2500*time.Millisecond, release) // five times its timeout
	s.Settle()
	require.Zero(t, s.log.Load())
	require.Empty(t, s.keys(t), "what was not counted is not kept")
}

func TestACountThatFailsIsUnknownForAll(t *testing.T) {
	t.Parallel()
	s := start(t, redistest.URL(t))
	s.db.plant(t, "creatives", "active", 3)
	bad := s.request("bad")
	bad.Filter = bson.D{{Key: "$noSuchOperator", Value: 1}}
	begun, release := s.db.hold()
	defer release()

	totals := make(chan pagination.Total, 50)
	var all sync.WaitGroup
	for range cap(totals) {
		all.Go(func() { totals <- s.Count(context.Background(), bad) })
	}
	await(t, begun)
	release()
	all.Wait()
	close(totals)
	for total := range totals {
		require.Equal(t, unknown, total)
	}
	require.Equal(t, s.db.counts.Load(), s.log.Load(), "each count that failed is told once")
	require.Empty(t, s.keys(t))
	require.Equal(t, pagination.ExactTotal(3), s.count(t, s.request("active")), "others are none the worse")
	s.settle(t)
}

func TestCountsWaitForAPlace(t *testing.T) {
	t.Parallel()
	s := start(t, "")
	s.db.plant(t, "creatives", "active", 3)
	begun, release := s.db.hold()
	defer release()
	const places = 16
	var all sync.WaitGroup
	for i := range places {
		all.Go(func() { s.Count(context.Background(), s.numbered(i)) })
	}
	for range places {
		await(t, begun)
	}
	gone, leave := context.WithCancel(t.Context())
	abandoned, patient := make(chan pagination.Total, 1), make(chan pagination.Total, 1)
	go func() { abandoned <- s.Count(gone, s.numbered(100)) }()
	go func() { patient <- s.Count(context.Background(), s.numbered(101)) }()
	leave()
	require.Equal(t, unknown, <-abandoned)
	require.Equal(t, int64(places), s.db.counts.Load())
	release()
	require.Equal(t, pagination.ExactTotal(3), <-patient)
	all.Wait()
	s.Close()
	require.Equal(t, int64(places+1), s.db.counts.Load(), "one that nobody waits for never begins")
}

// numbered asks for the same rows under another digest.
func (s suite) numbered(n int) counting.Request {
	r := s.request("active")
	r.Digest = itoa(int64(n))
	return r
}

func TestCloseEndsWhatRuns(t *testing.T) {
	t.Parallel()
	s := start(t, redistest.URL(t))
	s.db.plant(t, "creatives", "active", 3)
	begun, release := s.db.hold()
	waiter := make(chan pagination.Total, 1)
	go func() { waiter <- s.Count(context.Background(), s.request("active")) }()
	await(t, begun)
	closed := make(chan struct{})
	go func() {
		s.Close()
		close(closed)
	}()
	release()
	await(t, closed)
	<-waiter
	require.Equal(t, unknown, s.count(t, s.request("active")))
	require.Zero(t, s.log.Load())
}

// slowCache holds nothing and takes its time to say so.
type slowCache struct {
	setting chan struct{}
	set     chan struct{}
}

func (c *slowCache) Get(context.Context, string) ([]byte, bool) { return nil, false }
func (c *slowCache) Reject(context.Context, error)              {}
func (c *slowCache) Set(context.Context, string, []byte, time.Duration) {
	close(c.setting)
	<-c.set
}

func TestNobodyWaitsForTheCacheToBeTold(t *testing.T) {
	t.Parallel()
	db, cache := newDatabase(t), &slowCache{setting: make(chan struct{}), set: make(chan struct{})}
	db.plant(t, "creatives", "active", 3)
	now := &clock{now: time.Now().Truncate(time.Millisecond)}
	s := suite{db: db, clock: now, Counts: counting.New(counting.Options{
		Counter: pagination.Counter{Timeout: timeout}, Cache: cache, TTL: ttl, Now: now.Now,
	})}
	t.Cleanup(s.Close)
	require.Equal(t, pagination.ExactTotal(3), s.count(t, s.request("active")))
	await(t, cache.setting)
	require.Equal(t, pagination.CachedTotal(3, now.Now()), s.count(t, s.request("active")), "and no second count starts")
	require.Equal(t, int64(1), db.counts.Load())
	close(cache.set)
}

// noCache holds nothing.
type noCache struct{}

func (noCache) Get(context.Context, string) ([]byte, bool)         { return nil, false }
func (noCache) Set(context.Context, string, []byte, time.Duration) {}
func (noCache) Reject(context.Context, error)                      {}

func TestACountIsHeldWhereTheCacheIsLate(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	db.plant(t, "creatives", "active", 3)
	counts := counting.New(counting.Options{
		Counter: pagination.Counter{Timeout: timeout}, Cache: noCache{}, TTL: ttl, Hold: time.Hour, Now: time.Now,
	})
	request := counting.Request{
		Collection: db.Collection("creatives"), Filter: bson.D{{Key: "status", Value: "active"}}, Digest: "d",
	}
	require.Equal(t, pagination.TotalExact, counts.Count(t.Context(), request).Kind)
	for range 50 {
		require.Equal(t, pagination.TotalCached, counts.Count(t.Context(), request).Kind)
	}
	require.EqualValues(t, 1, db.counts.Load())
	counts.Close() // does not wait for the hold
}
