package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/comments"
	"catalogue/creatives"
	"catalogue/feed"
	"catalogue/history"
	"catalogue/internal/mongotest"
	"catalogue/pagination"
	"catalogue/tasks"
)

// listCase is a list with its sorts; paths has the list below two entities where it stands below one.
type listCase struct {
	name  string
	paths []string
	sorts pagination.Sorts
}

func everyList(taskA, taskB string) []listCase {
	return []listCase{
		{"creatives", []string{"/creatives"}, creatives.List().Sorts},
		{"gallery", []string{"/creatives/gallery"}, creatives.Gallery().Sorts},
		{"tasks", []string{"/tasks"}, tasks.List().Sorts},
		{"comments", []string{"/tasks/" + taskA + "/comments", "/tasks/" + taskB + "/comments"}, comments.OfTask().Sorts},
		{"history", []string{"/tasks/" + taskA + "/history", "/tasks/" + taskB + "/history"}, history.OfTask().Sorts},
	}
}

// TestEveryListIsTested compares the lists that the tests go over with the routes that are served.
func TestEveryListIsTested(t *testing.T) {
	t.Parallel()
	tested := map[string]bool{
		"/creatives/:id": true, "/tasks/:id": true, "/healthz": true, "/readyz": true,
		"/creatives/search": true, "/tasks/search": true, "/creatives/fields": true, "/tasks/fields": true,
		"/creatives/bulk": true, "/creatives/metrics": true, "/tasks/:id/comments/:comment_id": true,
	}
	for _, list := range everyList(":id", ":id") {
		tested[list.paths[0]] = true
	}
	for _, route := range serveDatabase(t, mongotest.Database(t)).routes {
		require.True(t, tested[route] || strings.HasPrefix(route, feed.Prefix), "%s is served, but not in everyList", route)
	}
}

// twoTasks makes two tasks with three comments and moves each.
func twoTasks(t *testing.T, a *api) (string, string) {
	t.Helper()
	var ids []string
	for range 2 {
		id := bson.NewObjectID()
		plant(t, a.db, "tasks", bson.D{{Key: "_id", Value: id}, {Key: "title", Value: "x"}})
		for _, collection := range []string{"comments", "history"} {
			for i := range 3 {
				plant(t, a.db, collection, bson.D{
					{Key: "entity_type", Value: "task"},
					{Key: "entity_id", Value: id},
					{Key: "action", Value: "task.status_changed"},
					{Key: "created_at", Value: bson.DateTime(i)},
					{Key: "at", Value: bson.DateTime(i)},
				})
			}
		}
		ids = append(ids, id.Hex())
	}
	return ids[0], ids[1]
}

func TestCase15EveryCursorIsRefusedEverywhereElse(t *testing.T) {
	t.Parallel()
	a := seeded(t, 30, 5)
	taskA, taskB := twoTasks(t, a)
	var targets []string // every list, entity, sort and direction
	for _, list := range everyList(taskA, taskB) {
		for _, path := range list.paths {
			for _, order := range list.sorts.Allowed() {
				targets = append(targets, path+"?limit=1&sort="+order)
			}
		}
	}
	require.Greater(t, len(targets), 60)
	for _, source := range targets {
		cursor := *a.page(t, source).Meta.NextCursor
		for _, target := range targets {
			res := a.get(t, target+"&cursor="+cursor)
			if source == target {
				require.Equal(t, http.StatusOK, res.status, target)
				continue
			}
			require.Equal(t, http.StatusUnprocessableEntity, res.status, "%s on %s", source, target)
			p := res.problem(t)
			require.Equal(t, "cursor_mismatch", p.Code)
			require.Equal(t, "cursor=cursor_mismatch", p.codes())
		}
	}
}

func TestAMismatchNamesWhatDiffers(t *testing.T) {
	t.Parallel()
	a := seeded(t, 30, 5)
	taskA, taskB := twoTasks(t, a)
	next := func(target string) string { return *a.page(t, target).Meta.NextCursor }
	for _, c := range []struct{ source, target, want string }{
		{"/creatives?limit=1", "/tasks?limit=1", "another list"},
		{"/creatives?limit=1", "/creatives/gallery?limit=1", "another list"},
		{"/tasks/" + taskA + "/comments?limit=1", "/tasks/" + taskB + "/comments?limit=1", "another entity"},
		{"/creatives?limit=1&sort=name", "/creatives?limit=1&sort=-name", "another direction"},
		{"/creatives?limit=1&sort=name", "/creatives?limit=1", "another sort"},
	} {
		p := a.get(t, c.target+"&cursor="+next(c.source)).problem(t)
		require.Contains(t, p.Detail, c.want)
	}
	require.Equal(t, http.StatusOK, a.get(t, "/creatives?limit=7&sort=-created_at&cursor="+next("/creatives?limit=1")).status,
		"the default sort is the same whether it is written or not")
}

func TestEveryEditedOrCutCursorIsRefused(t *testing.T) {
	t.Parallel()
	a := seeded(t, 5, 0)
	cursor := *a.page(t, "/creatives?limit=1").Meta.NextCursor
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	refused := func(edited string) {
		res := a.get(t, "/creatives?limit=1&cursor="+edited)
		require.Equal(t, http.StatusUnprocessableEntity, res.status, edited)
		require.Equal(t, "cursor_malformed", res.problem(t).Code)
	}
	for i := range cursor {
		if i > 0 {
			refused(cursor[:i])
		}
		// Neighbours in the alphabet differ in the lowest bits, which the end of a text may not use.
		at := strings.IndexByte(alphabet, cursor[i])
		for _, other := range []int{at ^ 1, at ^ 2, at ^ 32} {
			refused(cursor[:i] + alphabet[other:other+1] + cursor[i+1:])
		}
		refused(cursor[:i] + "%0A" + cursor[i:])
	}
	refused(cursor + "A")
	refused(cursor + "%3D")
	refused("%20" + cursor)
}

func TestACursorOfAnotherDeploymentIsMalformed(t *testing.T) {
	t.Parallel()
	a := seeded(t, 5, 0)
	ring, err := pagination.NewKeyring("a key that this server does not know, at all")
	require.NoError(t, err)
	foreign, err := ring.Encode(pagination.NewCursor(
		pagination.Scope{List: "creatives"}, creatives.List().Default, "", 0, pagination.Start[bson.RawValue]()))
	require.NoError(t, err)
	require.Equal(t, "cursor_malformed", a.get(t, "/creatives?cursor="+foreign).problem(t).Code)
}

// FuzzListNeverFails sends any query string to any list: the answer is a page, or a problem of the client's.
func FuzzListNeverFails(f *testing.F) {
	db := mongotest.Database(f)
	a := serveDatabase(f, db)
	id := bson.NewObjectID()
	plant(f, db, "tasks", bson.D{{Key: "_id", Value: id}}, bson.D{{Key: "title", Value: "a"}}, bson.D{{Key: "title", Value: 5}})
	cursor := *a.page(f, "/tasks?limit=1&sort=title").Meta.NextCursor
	for _, query := range []string{
		"", "limit=5", "sort=title&cursor=" + cursor, "sort=-title&cursor=" + cursor, "limit=5;sort=title", "cursor=%ZZ",
		"limit=1&limit=2", "sort=%00", "cursor=" + cursor + "%0A", "limit=%F0%9F%8E%A8", "a[$ne]=1", "sort[$gt]=", "&&=&",
	} {
		for list := range 5 {
			f.Add(list, query)
		}
	}
	f.Fuzz(func(t *testing.T, list int, query string) {
		paths := []string{"/creatives", "/creatives/gallery", "/tasks", "/tasks/" + id.Hex() + "/comments", "/tasks/" + id.Hex() + "/history"}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.url+paths[((list%5)+5)%5], http.NoBody)
		require.NoError(t, err)
		req.URL.RawQuery = strings.Map(func(r rune) rune { // what net/http refuses to send is not ours to test
			if r <= ' ' || r == 0x7f {
				return '+'
			}
			return r
		}, query)
		res, err := a.client.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Less(t, res.StatusCode, 500, query)
	})
}
