package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/mongotest"
)

// writeStep is one of a row of requests, each with one thing less wrong than the one before.
type writeStep struct {
	name         string
	target, body string
	more         headers
	status       int
	code         string
}

func (a *api) steps(t *testing.T, method string, steps []writeStep) {
	t.Helper()
	for _, s := range steps {
		res := a.write(t, method, s.target, s.body, s.more)
		require.Equal(t, s.status, res.status, "%s: %.300s", s.name, res.body)
		if s.code != "" {
			require.Equal(t, s.code, res.problem(t).Code, s.name)
		}
	}
}

const tooLarge = 1<<20 + 1

func large(n int) string { return `{"title": "` + strings.Repeat("a", n) + `"}` }

func TestTheChecksOfAPatchComeInTheirOrder(t *testing.T) {
	t.Parallel()
	a := editable(t)
	task := a.create(t, "/tasks", aTask)
	nobody := "/tasks/" + bson.NewObjectID().Hex()
	text := headers{"Content-Type": "text/plain"}
	a.steps(t, http.MethodPatch, []writeStep{
		{"no user", nobody, large(tooLarge), headers{"X-Catalogue-User": "", "Content-Type": "text/plain"}, 403, "user_required"},
		{"another type", nobody, large(tooLarge), text, 415, "media_type_unsupported"},
		{"too large", nobody, large(tooLarge), headers{"If-Match": "5"}, 413, "body_too_large"},
		{"a tag that is none", nobody, `{"zz": 1}`, headers{"If-Match": "5"}, 400, "if_match_malformed"},
		{"no JSON", nobody, `{"zz": 1`, nil, 400, "body_malformed"},
		{"a wrong field", nobody, `{"zz": 1}`, nil, 422, "field_unknown"},
		{"a wrong value", nobody, `{"priority": 5}`, nil, 422, "field_invalid"},
		{"no such object", nobody, `{"status": "done"}`, nil, 404, "not_found"},
		{"no such object, any version", nobody, `{"status": "done"}`, headers{"If-Match": "*"}, 404, "not_found"},
		{"an id that is none", "/tasks/x", `{"status": "done"}`, headers{"If-Match": "*"}, 404, "not_found"},
		{"no version", task, `{"status": "done"}`, nil, 428, "precondition_required"},
		{"another version", task, `{"status": "done"}`, headers{"If-Match": `"2"`}, 412, "precondition_failed"},
		{"no such move", task, `{"status": "done"}`, headers{"If-Match": `W/"1"`}, 409, "status_move_not_allowed"},
		{"all is well", task, `{"status": "in_progress"}`, headers{"If-Match": `"0", W/"1"`}, 200, ""},
	})
}

func TestTheChecksOfACreationComeInTheirOrder(t *testing.T) {
	t.Parallel()
	a := editable(t)
	task := a.create(t, "/tasks", aTask)
	nobody := "/tasks/" + bson.NewObjectID().Hex() + "/comments"
	key := headers{"Idempotency-Key": "k"}
	require.Equal(t, 201, a.write(t, http.MethodPost, task+"/comments", `{"body": "b"}`, key).status)
	a.steps(t, http.MethodPost, []writeStep{
		{"no user", nobody, large(tooLarge), headers{"X-Catalogue-User": "", "Content-Type": ""}, 403, "user_required"},
		{"no type", nobody, large(tooLarge), headers{"Content-Type": ""}, 415, "media_type_unsupported"},
		{"a merge patch", nobody, large(tooLarge), headers{"Content-Type": "application/merge-patch+json"}, 415, "media_type_unsupported"},
		{"too large", nobody, large(tooLarge), headers{"Idempotency-Key": "a b"}, 413, "body_too_large"},
		{"a key that is none", nobody, `{"zz": 1}`, headers{"Idempotency-Key": "a b"}, 400, "idempotency_key_malformed"},
		{"no JSON", nobody, `{"zz": 1`, key, 400, "body_malformed"},
		{"a wrong field", nobody, `{"zz": 1}`, key, 422, "field_unknown"},
		{"no such task", nobody, `{"body": "b"}`, key, 404, "not_found"},
		{"a key of another body", task + "/comments", `{"body": "c"}`, key, 422, "idempotency_key_reused"},
		{"all is well", task + "/comments", `{"body": "b"}`, nil, 201, ""},
	})
}

func TestTheChecksOfADeletionComeInTheirOrder(t *testing.T) {
	t.Parallel()
	a := editable(t)
	task := a.create(t, "/tasks", aTask)
	nobody := "/tasks/" + bson.NewObjectID().Hex()
	a.steps(t, http.MethodDelete, []writeStep{
		{"no user", nobody, "", headers{"X-Catalogue-User": "", "If-Match": "5"}, 403, "user_required"},
		{"a tag that is none", nobody, "", headers{"If-Match": "5"}, 400, "if_match_malformed"},
		{"no such object", nobody, "", headers{"If-Match": `"5"`}, 404, "not_found"},
		{"another version", task, "", headers{"If-Match": `"5"`}, 412, "precondition_failed"},
		{"this version", task, "", headers{"If-Match": `"1"`}, 204, ""},
		{"gone", task, "", nil, 404, "not_found"},
	})
}

func TestTheChecksOfManyComeInTheirOrder(t *testing.T) {
	t.Parallel()
	a := editable(t)
	tooMany := `{"items": [` + strings.Repeat("1,", 1000) + `1]}`
	for _, path := range []string{"/creatives/bulk", "/creatives/metrics"} {
		a.steps(t, http.MethodPost, []writeStep{
			{"no user", path, "{", headers{"X-Catalogue-User": "", "Content-Type": ""}, 403, "user_required"},
			{"no type", path, "{", headers{"Content-Type": "text/json"}, 415, "media_type_unsupported"},
			{"above 8 MiB", path, large(8 * tooLarge), nil, 413, "body_too_large"},
			{"no JSON", path, "{", nil, 400, "body_malformed"},
			{"above 1 MiB", path, large(tooLarge), nil, 422, "field_unknown"},
			{"no object", path, "[]", nil, 422, "field_type"},
			{"no items", path, "{}", nil, 422, "items_invalid"},
			{"items that are none", path, `{"items": {}}`, nil, 422, "items_invalid"},
			{"null", path, `{"items": null}`, nil, 422, "items_invalid"},
			{"an empty list", path, `{"items": []}`, nil, 422, "items_invalid"},
			{"1,001", path, tooMany, nil, 422, "items_invalid"},
			{"1,000 bad ones", path, strings.Replace(tooMany, "1,", "", 1), nil, 207, ""},
		})
	}
}

func TestABodyOfUnknownLengthIsMeasured(t *testing.T) {
	t.Parallel()
	a := editable(t)
	for size, want := range map[int]int{1<<20 - 100: 422, 1<<20 + 1: 413} { // the first is too long a title, not a body
		body := struct{ io.Reader }{strings.NewReader(large(size))} // whose length the client does not know
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.url+"/tasks", body)
		require.NoError(t, err)
		req.Header.Set("X-Catalogue-User", "ann")
		req.Header.Set("Content-Type", "application/json")
		res, err := a.client.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, want, res.StatusCode)
	}
}

func TestEveryWriteNeedsAUser(t *testing.T) {
	t.Parallel()
	id := bson.NewObjectID().Hex()
	writes := map[string][]string{
		http.MethodPost:   {"/creatives", "/creatives/bulk", "/creatives/metrics", "/tasks", "/tasks/" + id + "/comments"},
		http.MethodPatch:  {"/creatives/" + id, "/tasks/" + id, "/tasks/" + id + "/comments/" + id},
		http.MethodDelete: {"/creatives/" + id, "/tasks/" + id, "/tasks/" + id + "/comments/" + id},
	}
	trusting, strict := editable(t), serveWith(t, mongotest.Database(t), settings{strangers: true})
	for method, targets := range writes {
		for _, target := range targets {
			trusting.write(t, method, target, "{}", headers{"X-Catalogue-User": ""}).refused(t, 403, "user_required")
			strict.write(t, method, target, "{}").refused(t, 403, "user_required")
		}
	}
}

func TestA415OfAPatchNamesTheRightTypes(t *testing.T) {
	t.Parallel()
	a := editable(t)
	task := a.create(t, "/tasks", aTask)
	res := a.patch(t, task, `{}`, headers{"Content-Type": "application/json-patch+json"})
	res.refused(t, 415, "media_type_unsupported")
	require.Equal(t, "application/merge-patch+json, application/json", res.header.Get("Accept-Patch"))
	for _, right := range []string{"application/merge-patch+json", "application/json", "application/json; charset=utf-8"} {
		a.patch(t, task, `{}`, headers{"Content-Type": right}).thing(t, 200)
	}
}

func TestAStaleVersionIsToldTheCurrentOne(t *testing.T) {
	t.Parallel()
	a := editable(t)
	creative := a.create(t, "/creatives", aCreative)
	require.Equal(t, `"2"`, a.write(t, http.MethodPatch, creative, `{"name": "m"}`, headers{"If-Match": `"1"`}).header.Get("ETag"))
	for _, method := range []string{http.MethodPatch, http.MethodDelete} {
		res := a.write(t, method, creative, `{"name": "o"}`, headers{"If-Match": `"1", "3"`})
		res.refused(t, 412, "precondition_failed")
		require.Equal(t, `"2"`, res.header.Get("ETag"))
	}
	require.Equal(t, "m", a.get(t, creative).thing(t, 200)["name"])
}

func TestObjectsOfBeforeHaveNoETagUntilTheyChange(t *testing.T) {
	t.Parallel()
	a := editable(t)
	id := bson.NewObjectID()
	plant(t, a.db, "tasks", bson.D{
		{Key: "_id", Value: id},
		{Key: "title", Value: "old"},
		{Key: "status", Value: "open"},
		{Key: "priority", Value: 1},
		{Key: "mode", Value: "live"},
		{Key: "created_at", Value: bson.NewDateTimeFromTime(time.Now())},
	})
	path := "/tasks/" + id.Hex()
	require.NotContains(t, a.get(t, path).header, "Etag")
	res := a.write(t, http.MethodPatch, path, `{"title": "new"}`, headers{"If-Match": `"1"`})
	res.refused(t, 412, "precondition_failed")
	require.NotContains(t, res.header, "Etag")
	require.Equal(t, `"1"`, a.patch(t, path, `{"title": "new"}`).header.Get("ETag"))
}

func TestRequestsThatTheWritesDoNotTake(t *testing.T) {
	t.Parallel()
	a := editable(t)
	task := a.create(t, "/tasks", aTask)
	for target, allow := range map[string]string{
		"/creatives":         "GET, HEAD, POST",
		task:                 "DELETE, GET, HEAD, PATCH",
		task + "/comments":   "GET, HEAD, POST",
		task + "/comments/1": "DELETE, GET, HEAD, PATCH",
	} {
		res := a.write(t, http.MethodPut, target, `{}`)
		res.refused(t, 405, "method_not_allowed")
		require.Equal(t, allow, res.header.Get("Allow"))
	}
	a.write(t, http.MethodPost, "/creatives/", aCreative).refused(t, 404, "not_found")
	a.write(t, http.MethodPost, "/creatives?a=1;b=2", aCreative).refused(t, 422, "query_malformed")
}
