package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/mongotest"
)

// together runs n calls at once and returns their answers.
func together(n int, call func(i int) response) []response {
	out := make([]response, n)
	start := make(chan struct{})
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			<-start
			out[i] = call(i)
		})
	}
	close(start)
	group.Wait()
	return out
}

// patient serves an empty database to many at once: requests may take as long as a slow disk needs for all of them.
func patient(t *testing.T) *api {
	t.Helper()
	mongotest.Needs(t, mongotest.Transactions)
	db := mongotest.Database(t)
	require.NotNil(t, serveDatabase(t, db))
	return serveWith(t, db, settings{requestTimeout: time.Minute})
}

func TestFiftyClientsChangeOneTaskAtOnce(t *testing.T) {
	t.Parallel()
	const clients = 50
	a := patient(t)
	task := a.create(t, "/tasks", aTask)
	next := []string{"in_progress", "blocked", "open", "cancelled"}
	answers := together(clients, func(i int) response {
		return a.patch(t, task, `{"status": "`+next[i%len(next)]+`", "title": "t`+strconv.Itoa(i)+`"}`)
	})
	successes := 0
	for _, res := range answers {
		if res.status == 200 {
			successes++
			continue
		}
		res.refused(t, 409, "status_move_not_allowed")
	}
	require.Greater(t, successes, 1)
	shown := a.get(t, task).thing(t, 200)
	require.InDelta(t, 1+successes, shown["rev"], 0, "each success raised rev by one")
	require.Equal(t, successes, a.count(t, "history", bson.D{{Key: "action", Value: "task.changed"}}))
	moves := a.count(t, "history", bson.D{{Key: "action", Value: "task.status_changed"}})

	list := a.page(t, task+"/history?sort=at&limit=200")
	require.Len(t, list.Data, moves)
	require.Positive(t, moves)
	from := "open"
	for _, raw := range list.Data { // each move begins where the one before has ended
		var entry struct{ From, To string }
		require.NoError(t, json.Unmarshal(raw, &entry))
		require.Equal(t, from, entry.From)
		require.NotEqual(t, entry.From, entry.To)
		from = entry.To
	}
	require.Equal(t, shown["status"], from)
}

func TestOfManyWhoSawOneVersionOneWins(t *testing.T) {
	t.Parallel()
	a := patient(t)
	for path, body := range map[string]string{
		a.create(t, "/tasks", aTask):         `{"status": "in_progress"}`,
		a.create(t, "/creatives", aCreative): `{"name": "m"}`,
	} {
		won := 0
		for i, res := range together(20, func(int) response {
			return a.write(t, http.MethodPatch, path, body, headers{"If-Match": `"1"`})
		}) {
			if res.status == 200 {
				won++
				require.Equal(t, `"2"`, res.header.Get("ETag"))
				continue
			}
			require.Equal(t, 412, res.status, "%d: %s", i, res.body)
			require.Equal(t, `"2"`, res.header.Get("ETag"))
		}
		require.Equal(t, 1, won, path)
	}
	require.Equal(t, 1, a.count(t, "history", bson.D{{Key: "action", Value: "task.status_changed"}}))
}

func TestChangesOfDifferentFieldsAtOnceAllCount(t *testing.T) {
	t.Parallel()
	const clients = 16
	a := patient(t)
	path := a.create(t, "/creatives", aCreative)
	for _, res := range together(clients, func(i int) response {
		return a.patch(t, path, fmt.Sprintf(`{"attributes": {"a%d": "v"}}`, i))
	}) {
		require.Equal(t, 200, res.status, "%s", res.body)
	}
	got := a.get(t, path).thing(t, 200)
	require.Len(t, got["attributes"], clients)
	require.InDelta(t, clients+1, got["rev"], 0)
}

func TestACommentIsNeverLeftBelowATaskThatIsGone(t *testing.T) {
	t.Parallel()
	a := patient(t)
	for range 5 {
		task := a.create(t, "/tasks", aTask)
		id := strings.TrimPrefix(task, "/tasks/")
		made := 0
		for i, res := range together(9, func(i int) response {
			if i == 4 {
				return a.write(t, http.MethodDelete, task, "")
			}
			return a.write(t, http.MethodPost, task+"/comments", `{"body": "b"}`)
		}) {
			switch {
			case i == 4:
				require.Equal(t, 204, res.status, "%s", res.body)
			case res.status == 201:
				made++
			default:
				require.Equal(t, 404, res.status, "%s", res.body)
			}
		}
		parent, err := bson.ObjectIDFromHex(id)
		require.NoError(t, err)
		require.Zero(t, a.count(t, "comments", bson.D{{Key: "entity_id", Value: parent}}))
		require.Zero(t, a.count(t, "history", bson.D{{Key: "entity_id", Value: parent}}))
		require.Equal(t, made, a.count(t, "tombstones", bson.D{{Key: "entity", Value: "comment"}}))
		_, err = a.db.Collection("tombstones").DeleteMany(t.Context(), bson.D{})
		require.NoError(t, err)
	}
}
