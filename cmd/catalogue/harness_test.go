package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/feed"
	"catalogue/indexes"
	"catalogue/internal/counting"
	"catalogue/internal/editing"
	"catalogue/internal/httpserver"
	"catalogue/internal/idempotency"
	"catalogue/internal/listing"
	"catalogue/internal/mongotest"
	"catalogue/internal/redistest"
	"catalogue/internal/testenv"
	"catalogue/pagination"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode)
	if lease := os.Getenv(childLease); lease != "" {
		os.Exit(child(lease))
	}
	os.Exit(testenv.Main(m, mongotest.Server(), redistest.Server()))
}

const testCursorKey = "a key for the cursors of the tests, long enough"

// api is a catalogue that serves over a real connection.
type api struct {
	url    string
	db     *mongo.Database
	client *http.Client
	routes []string
	state  *indexes.State
}

// serveDatabase serves db, with the declared indexes built, over a connection on loopback.
func serveDatabase(t testing.TB, db *mongo.Database) *api {
	t.Helper()
	require.NoError(t, indexes.Apply(t.Context(), db, declaredIndexes(), func(indexes.Standing) {}))
	return serveAsIs(t, db, 10*time.Second)
}

// serveAsIs serves db with the indexes that it has.
func serveAsIs(t testing.TB, db *mongo.Database, requestTimeout time.Duration) *api {
	t.Helper()
	return serveWith(t, db, settings{requestTimeout: requestTimeout})
}

// settings are what tests choose of a server.
type settings struct {
	requestTimeout time.Duration    // 10 s where zero
	now            func() time.Time // the real clock where nil
	cache          counting.Cache   // none where nil
	strangers      bool             // nobody's name is believed
	ordering       feed.Ordering    // none where nil
	feedRate       int              // requests a second, any number where zero
	gate           *gate            // one that has asked the database where nil
}

func serveWith(t testing.TB, db *mongo.Database, s settings) *api {
	t.Helper()
	if s.requestTimeout == 0 {
		s.requestTimeout = 10 * time.Second
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.ordering == nil {
		s.ordering = feed.None{}
	}
	log := slog.New(slog.DiscardHandler)
	server, err := httpserver.New(httpserver.Options{
		Logger: log, RequestTimeout: s.requestTimeout, ShutdownGrace: time.Second, Foreign: httpserver.Foreign{Prefix: feed.Prefix + "/", Fail: feed.Fail},
	})
	require.NoError(t, err)
	ring, err := pagination.NewKeyring(testCursorKey)
	require.NoError(t, err)
	state := indexes.NewState(db, declaredIndexes(), time.Now)
	require.NoError(t, state.Look(t.Context()))
	counts := counting.New(counting.Options{
		Counter: pagination.Counter{Timeout: 5 * time.Second}, Cache: s.cache, TTL: time.Minute, Now: s.now,
	})
	t.Cleanup(counts.Close)
	shut := s.gate
	if shut == nil {
		shut = newGate()
		shut.probe(t.Context(), db, log)
	}
	require.NoError(t, catalogue{
		db: db, state: state, log: log, gate: shut,
		lists: listing.Services{Keys: ring, Hints: state, Now: s.now, Counter: counts},
		writes: editing.Services{
			TrustUser: !s.strangers, Keys: idempotency.NewStore(db, s.requestTimeout+time.Second), Log: log,
		},
		feed: feed.Services{Ordering: s.ordering, Limiter: feed.NewLimiter(s.feedRate, time.Now), Logger: log},
	}.register(server.Routes()))
	web := httptest.NewServer(server.Handler())
	t.Cleanup(web.Close)
	a := &api{url: web.URL, db: db, client: web.Client(), state: state}
	engine, ok := server.Routes().(*gin.Engine)
	require.True(t, ok)
	for _, route := range engine.Routes() {
		a.routes = append(a.routes, route.Path)
	}
	return a
}

// response is an answer, read whole.
type response struct {
	status int
	header http.Header
	body   []byte
}

func (a *api) do(t require.TestingT, method, target string) response {
	return a.send(t, method, target, http.NoBody)
}

func (a *api) post(t require.TestingT, target, body string) response {
	return a.send(t, http.MethodPost, target, strings.NewReader(body))
}

func (a *api) send(t require.TestingT, method, target string, content io.Reader) response {
	req, err := http.NewRequestWithContext(context.Background(), method, a.url+target, content)
	require.NoError(t, err)
	res, err := a.client.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return response{status: res.StatusCode, header: res.Header, body: body}
}

func (a *api) get(t require.TestingT, target string) response { return a.do(t, http.MethodGet, target) }

// page is a list's answer.
type page struct {
	Data []json.RawMessage `json:"data"`
	Meta struct {
		NextCursor *string `json:"next_cursor"`
		Total      *int64  `json:"total"`
		TotalKind  *string `json:"total_kind"`
		TotalAsOf  *string `json:"total_as_of"`
	} `json:"meta"`
}

func (p page) ids(t require.TestingT) []string {
	out := make([]string, 0, len(p.Data))
	for _, item := range p.Data {
		var row struct {
			ID string `json:"id"`
		}
		require.NoError(t, json.Unmarshal(item, &row))
		out = append(out, row.ID)
	}
	return out
}

func (a *api) page(t require.TestingT, target string) page { return a.get(t, target).page(t, target) }

func (r response) page(t require.TestingT, what string) page {
	require.Equal(t, http.StatusOK, r.status, "%s: %s", what, r.body)
	var p page
	require.NoError(t, json.Unmarshal(r.body, &p))
	return p
}

// walk reads a list to its end. It fails where the walk does not end.
func (a *api) walk(t require.TestingT, path, sort string, limit, most int) []string {
	return a.walkFiltered(t, path, url.Values{"sort": {sort}}, limit, most)
}

func (a *api) walkFiltered(t require.TestingT, path string, query url.Values, limit, most int) []string {
	query = maps.Clone(query)
	query.Set("limit", strconv.Itoa(limit))
	var ids []string
	for pages := 0; ; pages++ {
		require.LessOrEqual(t, pages, most, "the walk does not end")
		p := a.page(t, path+"?"+query.Encode())
		require.LessOrEqual(t, len(p.Data), limit)
		ids = append(ids, p.ids(t)...)
		if p.Meta.NextCursor == nil {
			return ids
		}
		require.Len(t, p.Data, limit, "a page with a next one is full")
		query.Set("cursor", *p.Meta.NextCursor)
	}
}

// problemOf is a problem document, decoded.
type problemOf struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Code   string `json:"code"`
	Errors []struct {
		Field   string   `json:"field"`
		Code    string   `json:"code"`
		Message string   `json:"message"`
		Allowed []string `json:"allowed"`
	} `json:"errors"`
}

func (r response) problem(t require.TestingT) problemOf {
	require.Equal(t, "application/problem+json", r.header.Get("Content-Type"), "%s", r.body)
	var p problemOf
	require.NoError(t, json.Unmarshal(r.body, &p))
	require.Equal(t, r.status, p.Status)
	return p
}

// codes are the codes of the wrong parameters, in order.
func (p problemOf) codes() string {
	var out []string
	for _, e := range p.Errors {
		out = append(out, e.Field+"="+e.Code)
	}
	return strings.Join(out, " ")
}

// plant inserts documents as they are.
func plant(t testing.TB, db *mongo.Database, collection string, docs ...bson.D) {
	t.Helper()
	rows := make([]any, 0, len(docs))
	for _, d := range docs {
		rows = append(rows, d)
	}
	_, err := db.Collection(collection).InsertMany(t.Context(), rows)
	require.NoError(t, err)
}

// compact removes the white space of JSON written over several lines.
func compact(t require.TestingT, s string) string {
	var b bytes.Buffer
	require.NoError(t, json.Compact(&b, []byte(s)))
	return b.String()
}

func decodeObject(t require.TestingT, raw json.RawMessage) map[string]json.RawMessage {
	var out map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(raw, &out))
	return out
}
