package main

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/comments"
	"catalogue/creatives"
	"catalogue/feed"
	"catalogue/indexes"
	"catalogue/internal/httpserver"
	"catalogue/internal/mongotest"
	"catalogue/internal/strictbson"
	"catalogue/tasks"
)

// feedSettings are what tests choose of a server that has the feeds only.
type feedSettings struct {
	ordering       feed.Ordering // none where nil
	limiter        *feed.Limiter
	publicURL      string
	requestTimeout time.Duration // 30 s where zero
	noIndexes      bool
	log            *slog.Logger // none where nil
}

// serveFeed serves the three feeds of db over a connection on loopback.
func serveFeed(t testing.TB, db *mongo.Database, s feedSettings) *api {
	t.Helper()
	if s.ordering == nil {
		s.ordering = feed.None{}
	}
	if s.requestTimeout == 0 {
		s.requestTimeout = 30 * time.Second
	}
	declared := feed.Indexes(creatives.Collection, tasks.Collection, comments.Collection)
	state := indexes.NewState(db, declared, time.Now)
	if !s.noIndexes {
		require.NoError(t, indexes.Apply(t.Context(), db, declared, func(indexes.Standing) {}))
		require.NoError(t, state.Look(t.Context()))
	}
	log := s.log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	server, err := httpserver.New(httpserver.Options{
		Logger: log, RequestTimeout: s.requestTimeout, ShutdownGrace: time.Second, Foreign: httpserver.Foreign{Prefix: feed.Prefix + "/", Fail: feed.Fail},
	})
	require.NoError(t, err)
	services := feed.Services{Ordering: s.ordering, Limiter: s.limiter, PublicURL: s.publicURL, Logger: log}
	registerFeed[creatives.Creative](server.Routes(), services, db, state, "creatives", creatives.Collection)
	registerFeed[tasks.Task](server.Routes(), services, db, state, "tasks", tasks.Collection)
	registerFeed[comments.Comment](server.Routes(), services, db, state, "comments", comments.Collection)
	web := httptest.NewServer(server.Handler())
	t.Cleanup(web.Close)
	return &api{url: web.URL, db: db, client: web.Client()}
}

func registerFeed[T any](
	r gin.IRoutes, services feed.Services, db *mongo.Database, state *indexes.State, path, collection string,
) {
	index := feed.Index(collection)
	feed.Register(r, services,
		feed.Resource[T]{Path: path, Collection: collection, Decoder: strictbson.New[T]()},
		feed.NewStore(db.Collection(collection), func() string { return state.Hint(index) },
			func(name string) { state.Refused(collection, name) }))
}

// feedPage is a feed's answer.
type feedPage struct {
	Data []json.RawMessage `json:"data"`
	Next *feedLink         `json:"next_page"`
	Prev *feedLink         `json:"prev_page"`
}

type feedLink struct {
	Offset *string `json:"offset"`
	Path   string  `json:"path"`
	URI    string  `json:"uri"`
}

func (p feedPage) ids(t require.TestingT) []string { return page{Data: p.Data}.ids(t) }

// feedPage reads a page; query may be empty.
func (a *api) feedPage(t require.TestingT, path string, query url.Values) feedPage {
	target := "/api/v1/" + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	return a.feedAt(t, target)
}

func (a *api) feedAt(t require.TestingT, target string) feedPage {
	return a.get(t, target).feedPage(t)
}

func (r response) feedPage(t require.TestingT) feedPage {
	require.Equal(t, http.StatusOK, r.status, "%s", r.body)
	var p feedPage
	require.NoError(t, json.Unmarshal(r.body, &p))
	for _, link := range []*feedLink{p.Next, p.Prev} {
		if link != nil {
			require.NotNil(t, link.Offset, "an offset is always a text: %s", r.body)
		}
	}
	return p
}

// queryOf are the parameters of a link.
func queryOf(t require.TestingT, link *feedLink) url.Values {
	require.NotNil(t, link)
	parsed, err := url.Parse(link.Path)
	require.NoError(t, err)
	return parsed.Query()
}

// feedID is the id of the nth planted row, in the order of n.
func feedID(n int) (id bson.ObjectID) {
	binary.BigEndian.PutUint64(id[4:], uint64(n))
	return id
}

// entry is a stored object of a feed, "live" or "test", or of none where that is empty.
func entry(n int, at float64, in string, more ...bson.E) bson.D {
	doc := bson.D{
		{Key: "_id", Value: feedID(n)},
		{Key: "public_modified", Value: at},
		{Key: "dateModified", Value: bson.DateTime(math.Round(at * 1000))},
	}
	if in != "" {
		doc = append(doc, bson.E{Key: "feed", Value: in})
	}
	return append(doc, more...)
}

// start is the timestamp of the first entries.
const start = 1760598968.0

// planted are n live entries a second apart.
func planted(n int) []bson.D {
	out := make([]bson.D, n)
	for i := range out {
		out[i] = entry(i, start+float64(i), "live")
	}
	return out
}

func hexIDs(from, to int) []string {
	out := []string{}
	for n := from; n < to; n++ {
		out = append(out, feedID(n).Hex())
	}
	return out
}

// md5Of is the hash of an offset, for ids in any order.
func md5Of(ids ...string) string {
	sorted := slices.Sorted(slices.Values(ids))
	sum := md5.Sum([]byte(strings.Join(sorted, "")))
	return hex.EncodeToString(sum[:])
}

// feedError is an error in the feed's shape, of which it checks every member.
func (r response) feedError(t require.TestingT) (location, name, description string) {
	require.Equal(t, "application/json", r.header.Get("Content-Type"), "%s", r.body)
	var e struct {
		Status string                   `json:"status"`
		Errors []map[string]interface{} `json:"errors"`
	}
	require.NoError(t, json.Unmarshal(r.body, &e))
	require.Equal(t, "error", e.Status)
	require.Len(t, e.Errors, 1)
	require.ElementsMatch(t, []string{"location", "name", "description"}, slices.Collect(maps.Keys(e.Errors[0])))
	require.Len(t, decodeObject(t, r.body), 2)
	return fmt.Sprint(e.Errors[0]["location"]), fmt.Sprint(e.Errors[0]["name"]), fmt.Sprint(e.Errors[0]["description"])
}

// servedTasks is a database with entries in the feed of tasks, and its server.
func servedTasks(t *testing.T, rows ...bson.D) *api {
	t.Helper()
	db := mongotest.Database(t)
	if len(rows) > 0 {
		plant(t, db, tasks.Collection, rows...)
	}
	return serveFeed(t, db, feedSettings{})
}

// feedWalk reads the feed of tasks by its offsets until a page has no rows, and looks at each page: none is above the limit, and
// each before the end is full.
func (a *api) feedWalk(t require.TestingT, query url.Values, limit int) []string {
	all := url.Values{"limit": {strconv.Itoa(limit)}}
	maps.Copy(all, query)
	ids, short := []string{}, false
	for pages := 0; ; pages++ {
		require.LessOrEqual(t, pages, 50_000, "the walk does not end")
		p := a.feedPage(t, "tasks", all)
		require.LessOrEqual(t, len(p.Data), limit, "no page above the limit")
		if len(p.Data) == 0 {
			return ids
		}
		require.False(t, short, "a page before the end was not full")
		short = len(p.Data) < limit
		ids = append(ids, p.ids(t)...)
		all.Set("offset", *p.Next.Offset)
	}
}
