package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/mongodb"
	"catalogue/internal/mongotest"
)

// writeRoutes are all that change something, feedRoutes all that are read by crawlers.
func writeRoutes() [][2]string {
	const id = "/00112233445566778899aabb"
	return [][2]string{
		{"POST", "/creatives"},
		{"PATCH", "/creatives" + id},
		{"DELETE", "/creatives" + id},
		{"POST", "/creatives/bulk"},
		{"POST", "/creatives/metrics"},
		{"POST", "/tasks"},
		{"PATCH", "/tasks" + id},
		{"DELETE", "/tasks" + id},
		{"POST", "/tasks" + id + "/comments"},
		{"PATCH", "/tasks" + id + "/comments" + id},
		{"DELETE", "/tasks" + id + "/comments" + id},
	}
}

func feedRoutes() []string {
	const id = "/00112233445566778899aabb"
	return []string{
		"/api/v1/creatives", "/api/v1/tasks", "/api/v1/comments",
		"/api/v1/creatives" + id, "/api/v1/tasks" + id, "/api/v1/comments" + id,
	}
}

// Writes and the feed need transactions. Where the database has none, or has not said yet, they are not served; lists are.
func TestWritesAndFeedNeedTransactions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		has    *bool
		status int
		code   string
	}{
		{"there are none", new(false), http.StatusNotImplemented, "not_supported"},
		{"nobody knows yet", nil, http.StatusServiceUnavailable, "not_ready"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			db := mongotest.Database(t)
			shut := newGate()
			shut.transactions.Store(c.has)
			a := serveWith(t, db, settings{gate: shut})
			for _, route := range writeRoutes() {
				a.write(t, route[0], route[1], `{}`).refused(t, c.status, c.code)
			}
			for _, path := range feedRoutes() {
				res := a.get(t, path)
				require.Equal(t, c.status, res.status, "%s", res.body)
				require.Equal(t, "application/json", res.header.Get("Content-Type"))
				var body struct {
					Status string            `json:"status"`
					Errors []json.RawMessage `json:"errors"`
				}
				require.NoError(t, json.Unmarshal(res.body, &body))
				require.Equal(t, "error", body.Status)
				require.Len(t, body.Errors, 1)
			}
			require.Equal(t, http.StatusOK, a.get(t, "/creatives").status)
			require.Equal(t, http.StatusOK, a.get(t, "/tasks/fields").status)
			for _, collection := range []string{"creatives", "tasks", "comments"} {
				require.Empty(t, mongotest.Everything(t, db.Collection(collection), bson.D{}))
			}
		})
	}
}

func TestTheGateLogsWhatTheDatabaseCanDo(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	can, err := mongodb.Probe(t.Context(), db)
	require.NoError(t, err)
	has, lacks := can.Describe()
	var log bytes.Buffer

	newGate().probe(t.Context(), db, slog.New(slog.NewJSONHandler(&log, nil)))

	lines := logLines(t, log.String(), "database")
	require.Len(t, lines, 1)
	require.Equal(t, "INFO", lines[0]["level"])
	require.ElementsMatch(t, has, lines[0]["can"])
	require.ElementsMatch(t, lacks, lines[0]["cannot"])
	require.NotEqual(t, can.Transactions, strings.Contains(log.String(), "writes and the feed are not served"))
}

// Paths and methods that the feed has none of are answered in its form, too: its crawlers know no other.
func TestWhatTheFeedHasNotIsToldInItsForm(t *testing.T) {
	t.Parallel()
	a := serveDatabase(t, mongotest.Database(t))
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/api/v1/users", http.StatusNotFound},
		{"GET", "/api/v1/creatives/", http.StatusNotFound},
		{"POST", "/api/v1/creatives", http.StatusMethodNotAllowed},
	} {
		res := a.do(t, c.method, c.path)
		require.Equal(t, c.status, res.status, "%s", res.body)
		require.Equal(t, "application/json", res.header.Get("Content-Type"))
		require.Contains(t, string(res.body), `{"status":"error","errors":[{"location":"url",`)
	}
	require.Equal(t, "GET, HEAD", a.do(t, http.MethodPost, "/api/v1/tasks").header.Get("Allow"))
}
