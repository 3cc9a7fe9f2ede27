package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"catalogue/feed"
	"catalogue/internal/mongodb"
	"catalogue/internal/mongotest"
	"catalogue/tasks"
)

func TestFeed15Detail(t *testing.T) {
	t.Parallel()
	title := bson.E{Key: "title", Value: "a task"}
	a := servedTasks(t,
		entry(10, start, "live", title, bson.E{Key: "priority", Value: int64(2)}), entry(11, start, "test", title),
		entry(12, start, "", title))
	const item = `"id":"00000000000000000000000a","dateModified":"2025-10-16T07:16:08.000Z"`
	path := "/api/v1/tasks/" + feedID(10).Hex()
	for query, want := range map[string]string{
		"":                                     `{"data":{` + item + `,"priority":2,"title":"a task"}}`,
		"?opt_fields=&mode=&unknown=1":         `{"data":{` + item + `,"priority":2,"title":"a task"}}`,
		"?opt_fields=title,unknown":            `{"data":{` + item + `,"title":"a task"}}`,
		"?opt_fields=unknown":                  `{"data":{` + item + `}}`,
		"?opt_fields=public_modified,assignee": `{"data":{` + item + `,"public_modified":1760598968}}`,
	} {
		res := a.get(t, path+query)
		require.Equal(t, http.StatusOK, res.status)
		require.Equal(t, "application/json", res.header.Get("Content-Type"))
		require.Equal(t, want, string(res.body), query)
	}
	require.Equal(t, http.StatusOK, a.get(t, "/api/v1/tasks/"+strings.ToUpper(feedID(10).Hex())).status)
	require.Equal(t, http.StatusOK, a.get(t, "/api/v1/tasks/"+feedID(11).Hex()).status, "test objects are public")
	for _, id := range []string{feedID(12).Hex(), feedID(99).Hex(), "x", "00000000000000000000000", "%00"} {
		res := a.get(t, "/api/v1/tasks/"+id)
		require.Equal(t, http.StatusNotFound, res.status, "drafts, deleted and unknown ones: %s", id)
		location, name, description := res.feedError(t)
		require.Equal(t, "url id Not Found", location+" "+name+" "+description)
	}
}

// commands counts what a client asks of the database.
type commands struct{ started atomic.Int64 }

func (c *commands) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{Started: func(context.Context, *event.CommandStartedEvent) { c.started.Add(1) }}
}

func TestFeed16RateLimit(t *testing.T) {
	t.Parallel()
	var asked commands
	direct := mongotest.Database(t)
	plant(t, direct, tasks.Collection, planted(3)...)
	client, err := mongodb.Open(mongodb.Options{URI: mongotest.URI(t), Database: direct.Name(), Monitor: asked.monitor()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Disconnect(context.Background())) })
	var clock atomic.Int64
	now := func() time.Time { return time.Unix(0, clock.Load()) }
	a := serveFeed(t, client.Database(), feedSettings{limiter: feed.NewLimiter(140, now)})

	statuses := func(n int, target string) map[int]int {
		var mu sync.Mutex
		var group sync.WaitGroup
		out := map[int]int{}
		for range n {
			group.Go(func() {
				res := a.get(t, target)
				if res.status == http.StatusTooManyRequests {
					_, _, description := res.feedError(t)
					require.Equal(t, "Too many requests", description)
					require.Equal(t, "1", res.header.Get("Retry-After"), "whole seconds, never 0")
				}
				mu.Lock()
				defer mu.Unlock()
				out[res.status]++
			})
		}
		group.Wait()
		return out
	}
	require.Equal(t, map[int]int{http.StatusOK: 140, http.StatusTooManyRequests: 60}, statuses(200, "/api/v1/tasks?limit=1"))
	before := asked.started.Load()
	for _, target := range []string{
		"/api/v1/tasks", "/api/v1/creatives?offset=x", "/api/v1/tasks?x=%ZZ", "/api/v1/tasks/" + feedID(0).Hex(), "/api/v1/comments/x",
	} {
		require.Equal(t, map[int]int{http.StatusTooManyRequests: 20}, statuses(20, target), "one limit for all of the feed: %s", target)
	}
	require.Equal(t, before, asked.started.Load(), "a refusal asks nothing of the database")

	clock.Add(int64(time.Second/140) + 1)
	require.Equal(t, http.StatusOK, a.get(t, "/api/v1/tasks").status, "refusals do not put off the next allowed request")
	require.Equal(t, http.StatusTooManyRequests, a.get(t, "/api/v1/tasks").status)
	require.Equal(t, http.StatusOK, a.get(t, "/healthz").status, "the rest is not limited")
}

// TestFeedReadsOncePerPage: a page at the beginning, at a number or at a group is one read, after one of the clock; a
// mode of both is two.
func TestFeedReadsOncePerPage(t *testing.T) {
	t.Parallel()
	var asked commands
	direct := mongotest.Database(t)
	plant(t, direct, tasks.Collection, planted(30)...)
	client, err := mongodb.Open(mongodb.Options{URI: mongotest.URI(t), Database: direct.Name(), Monitor: asked.monitor()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Disconnect(context.Background())) })
	plain := serveFeed(t, client.Database(), feedSettings{})
	held := serveFeed(t, client.Database(), feedSettings{ordering: feed.NewWatermark(feed.DatabaseClock(client.Database()), time.Second)})
	group := *plain.feedAt(t, "/api/v1/tasks?limit=10").Next.Offset
	for target, want := range map[string][2]int64{
		"tasks":                              {1, 2},
		"tasks?mode=_all_":                   {2, 3},
		"tasks?limit=7":                      {1, 2},
		"tasks?offset=1760598970":            {1, 2},
		"tasks?offset=" + group:              {1, 2},
		"tasks?descending=1":                 {1, 2},
		"tasks?offset=x":                     {0, 0},
		"tasks/" + feedID(1).Hex():           {1, 1},
		"tasks?descending=1&offset=" + group: {1, 1},
	} {
		for i, a := range []*api{plain, held} {
			before := asked.started.Load()
			a.get(t, "/api/v1/"+target)
			require.Equal(t, want[i], asked.started.Load()-before, "%s, ordering %d", target, i)
		}
	}
}

// TestFeedWatermark: what is younger than the delay by the database's clock is held back from every forward page and
// from the first descending one, and from no other.
func TestFeedWatermark(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	now, err := feed.DatabaseClock(db)(t.Context())
	require.NoError(t, err)
	young := float64(now.UnixMilli()) / 1000
	plant(t, db, tasks.Collection, entry(0, start, "live"), entry(1, young-3600, "live"), entry(2, young, "live"))
	a := serveFeed(t, db, feedSettings{ordering: feed.NewWatermark(feed.DatabaseClock(db), time.Hour/2)})

	forward := a.feedAt(t, "/api/v1/tasks")
	require.Equal(t, hexIDs(0, 2), forward.ids(t))
	require.Empty(t, a.feedAt(t, forward.Next.Path).Data)
	require.Empty(t, a.feedAt(t, "/api/v1/tasks?offset="+strconv.FormatFloat(young-1, 'f', -1, 64)).Data)
	first := a.feedAt(t, "/api/v1/tasks?descending=1")
	require.Equal(t, []string{feedID(1).Hex(), feedID(0).Hex()}, first.ids(t))
	require.Empty(t, a.feedAt(t, first.Prev.Path).Data)
	require.Len(t, a.feedAt(t, "/api/v1/tasks?descending=1&offset=99999999999").Data, 3)

	soon := serveFeed(t, db, feedSettings{ordering: feed.NewWatermark(feed.DatabaseClock(db), time.Second)})
	require.Eventually(t, func() bool {
		return len(soon.feedAt(t, first.Prev.Path).Data) == 1
	}, 10*time.Second, 20*time.Millisecond, "it shows when the delay has passed, from the first page's prev_page on")
}

// TestFeedWithoutItsDatabase: an outage is answered inside the deadline, in the feed's shape, and the offset goes on
// afterwards.
func TestFeedWithoutItsDatabase(t *testing.T) {
	t.Parallel()
	const deadline = 2 * time.Second
	uri, proxy := mongotest.NewProxy(t)
	direct := mongotest.Database(t)
	plant(t, direct, tasks.Collection, planted(4)...)
	client, err := mongodb.Connect(t.Context(), mongodb.Options{URI: uri, Database: direct.Name()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	clock := feed.DatabaseClock(client.Database())
	a := serveFeed(t, client.Database(), feedSettings{ordering: feed.NewWatermark(clock, time.Second), requestTimeout: deadline})
	next := a.feedAt(t, "/api/v1/tasks?limit=2").Next.Path
	for name, away := range map[string]func(){"cut": proxy.Cut, "silent": proxy.Stall} {
		away()
		for _, target := range []string{next, next + "&mode=_all_", next + "&descending=1", "/api/v1/tasks/" + feedID(0).Hex()} {
			began := time.Now()
			res := a.get(t, target)
			require.Less(t, time.Since(began), deadline, name)
			require.Equal(t, http.StatusServiceUnavailable, res.status, name)
			require.NotEmpty(t, res.header.Get("Retry-After"))
			location, _, description := res.feedError(t)
			require.Equal(t, "server", location)
			require.NotContains(t, description, "127.0.0.1", "no cause leaks out")
		}
		require.Equal(t, http.StatusNotFound, a.get(t, "/api/v1/tasks?offset=x").status, "known without the database")
		proxy.Restore()
		require.Equal(t, hexIDs(2, 4), a.feedAt(t, next).ids(t))
	}
}

// brokenOrdering fails in a way that nobody expects.
type brokenOrdering struct{}

func (brokenOrdering) Horizon(context.Context, feed.Walk) (float64, error) {
	return 0, fmt.Errorf("a secret: %w", context.DeadlineExceeded)
}

// TestFeedInternalErrors: the cause is in the log, once, and nowhere else.
func TestFeedInternalErrors(t *testing.T) {
	t.Parallel()
	var log syncBuffer
	a := serveFeed(t, mongotest.Database(t), feedSettings{
		ordering: brokenOrdering{}, log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	res := a.get(t, "/api/v1/tasks")
	require.Equal(t, http.StatusInternalServerError, res.status)
	location, name, description := res.feedError(t)
	require.Equal(t, "server internal", location+" "+name)
	require.NotContains(t, description, "secret")
	require.Eventually(t, func() bool { return strings.Contains(log.String(), "msg=request ") }, 5*time.Second, time.Millisecond)
	require.Equal(t, 1, strings.Count(log.String(), "a secret"))
}
