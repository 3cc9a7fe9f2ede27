package counting_test

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/counting"
	"catalogue/internal/mongodb"
	"catalogue/internal/mongotest"
	"catalogue/internal/rediscache"
	"catalogue/internal/redistest"
	"catalogue/internal/testenv"
	"catalogue/pagination"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, mongotest.Server(), redistest.Server())) }

const (
	ttl     = time.Minute
	timeout = 5 * time.Second // longer than a busy machine needs
)

func at(text string) time.Time {
	parsed, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return parsed
}

// clock is a clock that stands still.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// database is a database whose counts are watched.
type database struct {
	*mongo.Database
	counts atomic.Int64 // count commands that were sent
	timed  atomic.Int64 // those with a maxTimeMS

	mu     sync.Mutex
	before func() // called before each count is sent, where set
	most   int64  // the largest maxTimeMS
}

func newDatabase(t testing.TB) *database {
	t.Helper()
	return newDatabaseAt(t, mongotest.URI(t))
}

func newDatabaseAt(t testing.TB, uri string) *database {
	t.Helper()
	d := &database{}
	client, err := mongodb.Open(mongodb.Options{
		URI: uri, Database: mongotest.Database(t).Name(), Monitor: &event.CommandMonitor{Started: d.started},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Disconnect(context.Background())) })
	d.Database = client.Database()
	return d
}

func (d *database) started(_ context.Context, e *event.CommandStartedEvent) {
	if e.CommandName != "aggregate" {
		return
	}
	d.counts.Add(1)
	limit, err := e.Command.LookupErr("maxTimeMS")
	d.mu.Lock()
	before := d.before
	if err == nil {
		d.timed.Add(1)
		d.most = max(d.most, limit.AsInt64())
	}
	d.mu.Unlock()
	if before != nil {
		before()
	}
}

// hold stops every count until the returned function is called, and tells of each that has come so far.
func (d *database) hold() (begun <-chan struct{}, release func()) {
	gate, here := make(chan struct{}), make(chan struct{}, 1000)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.before = func() {
		here <- struct{}{}
		<-gate
	}
	return here, sync.OnceFunc(func() { close(gate) })
}

// plant makes n rows of a status.
func (d *database) plant(t testing.TB, collection, status string, n int) {
	t.Helper()
	rows := make([]any, n)
	for i := range rows {
		rows[i] = bson.D{{Key: "status", Value: status}}
	}
	_, err := d.Collection(collection).InsertMany(t.Context(), rows)
	require.NoError(t, err)
}

// suite is what a test counts with.
type suite struct {
	*counting.Counts
	db    *database
	clock *clock
	cache *rediscache.Cache
	log   *atomic.Int64 // errors told to the counter
	redis *redis.Client // nil without Redis
}

func start(t testing.TB, address string) suite {
	t.Helper()
	return startWith(t, newDatabase(t), address, timeout)
}

// startWith counts in db. Without an address of Redis nothing is kept.
func startWith(t testing.TB, db *database, address string, timeout time.Duration) suite {
	t.Helper()
	return startOn(t, db, address, timeout, 10*time.Second)
}

// startOn is startWith with the time that Redis has to answer; zero means that of the product.
func startOn(t testing.TB, db *database, address string, timeout, answer time.Duration) suite {
	t.Helper()
	s := suite{db: db, clock: &clock{now: time.Now().Truncate(time.Millisecond)}, log: new(atomic.Int64)}
	o := counting.Options{TTL: ttl, Now: s.clock.Now, Counter: pagination.Counter{
		Timeout: timeout, OnError: func(context.Context, error) { s.log.Add(1) },
	}}
	if address != "" {
		cache, err := rediscache.Open(rediscache.Options{URL: address, Logger: slog.New(slog.DiscardHandler), Timeout: answer})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, cache.Close()) })
		s.cache, o.Cache = cache, cache
		s.redis = redistest.Client(t)
	}
	s.Counts = counting.New(o)
	t.Cleanup(s.Close)
	return s
}

// request asks for the creatives of a status.
func (s suite) request(status string) counting.Request {
	return counting.Request{
		Collection: s.db.Collection("creatives"), Filter: bson.D{{Key: "status", Value: status}}, Digest: "status=" + status,
	}
}

func (s suite) count(t testing.TB, r counting.Request) pagination.Total {
	t.Helper()
	return s.Count(t.Context(), r)
}

// keys are those of the test's database.
func (s suite) keys(t require.TestingT) []string {
	keys, err := s.redis.Keys(context.Background(), "catalogue:count:*:"+s.db.Name()+":*").Result()
	require.NoError(t, err)
	return keys
}

// settle waits until what was counted is in Redis and returns its one key.
func (s suite) settle(t testing.TB) string {
	t.Helper()
	s.Settle()
	keys := s.keys(t)
	require.Len(t, keys, 1)
	return keys[0]
}

// await fails a test that would wait for ever.
func await(t testing.TB, signal <-chan struct{}) {
	t.Helper()
	select {
	case <-signal:
	case <-time.After(30 * time.Second):
		require.FailNow(t, "it does not happen")
	}
}

var unknown = pagination.Total{Kind: pagination.TotalUnknown}
