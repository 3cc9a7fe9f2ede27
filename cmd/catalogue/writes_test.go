package main

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/mongotest"
)

func TestACreationAnswers201WithLocationAndETag(t *testing.T) {
	t.Parallel()
	a := editable(t)
	task := a.create(t, "/tasks", aTask)
	for _, c := range []struct{ path, body string }{
		{"/creatives", aCreative},
		{"/tasks", aTask},
		{task + "/comments", `{"body": "b"}`},
	} {
		before := time.Now().Add(-time.Minute)
		made := a.write(t, http.MethodPost, c.path, c.body)
		got := made.thing(t, http.StatusCreated)
		require.Regexp(t, "^"+regexp.QuoteMeta(c.path)+"/[0-9a-f]{24}$", made.header.Get("Location"))
		require.Equal(t, c.path+"/"+got.text("id"), made.header.Get("Location"))
		require.Equal(t, `"1"`, made.header.Get("ETag"))
		require.InDelta(t, 1, got["rev"], 0)
		for _, moment := range []string{"created_at", "dateModified"} {
			at, err := time.Parse(time.RFC3339, got.text(moment))
			require.NoError(t, err)
			require.WithinRange(t, at, before, time.Now().Add(time.Minute), moment)
		}
		if strings.HasSuffix(c.path, "/comments") {
			require.NotContains(t, got, "updated_at")
		} else {
			require.Equal(t, got["dateModified"], got["updated_at"])
		}
		shown := a.get(t, made.header.Get("Location"))
		require.Equal(t, string(made.body), string(shown.body), "what is shown is what was answered")
		require.Equal(t, `"1"`, shown.header.Get("ETag"))
	}
}

func TestWhatIsNotSaidOfANewObject(t *testing.T) {
	t.Parallel()
	a := editable(t)
	task := a.write(t, http.MethodPost, "/tasks", aTask, headers{"X-Catalogue-User": "Zoë"}).thing(t, http.StatusCreated)
	require.Equal(t, "open", task["status"])
	require.Equal(t, "live", task["mode"])
	require.Equal(t, "Zoë", task["created_by"])
	require.NotContains(t, task, "closed_at")

	creative := a.write(t, http.MethodPost, "/creatives", aCreative).thing(t, http.StatusCreated)
	require.Equal(t, "live", creative["mode"])
	require.NotContains(t, creative, "source")

	p := a.write(t, http.MethodPost, "/creatives", "{}").refused(t, 422, "field_invalid")
	require.Equal(t, "name=field_invalid status=field_invalid format=field_invalid", p.codes())
	require.Equal(t, "name is required", p.Errors[0].Message)
	p = a.write(t, http.MethodPost, "/tasks", "{}").refused(t, 422, "field_invalid")
	require.Equal(t, "title=field_invalid priority=field_invalid", p.codes())
}

func TestACommentBelongsToItsTaskAndItsAuthor(t *testing.T) {
	t.Parallel()
	a := editable(t)
	task := a.create(t, "/tasks", `{"title": "t", "priority": 1, "mode": "test"}`)
	other := a.create(t, "/tasks", aTask)
	path := a.create(t, task+"/comments", `{"body": "first"}`)
	shown := decodeObject(t, a.page(t, task+"/comments").Data[0])
	require.JSONEq(t, `"ann"`, string(shown["author"]))
	require.JSONEq(t, `"task"`, string(shown["entity_type"]))
	require.JSONEq(t, `"test"`, string(shown["mode"]), "the mode is the task's")
	require.JSONEq(t, `"`+strings.TrimPrefix(task, "/tasks/")+`"`, string(shown["entity_id"]))

	bob := headers{"X-Catalogue-User": "bob"}
	a.patch(t, path, `{"body": "second"}`, bob).refused(t, 403, "not_yours")
	a.write(t, http.MethodPatch, path, `{"body": "second"}`, bob).refused(t, 403, "not_yours")
	a.write(t, http.MethodDelete, path, "", bob).refused(t, 403, "not_yours")
	elsewhere := strings.Replace(path, task, other, 1)
	a.patch(t, elsewhere, `{"body": "second"}`).refused(t, 404, "not_found")
	a.write(t, http.MethodDelete, elsewhere, "").refused(t, 404, "not_found")

	changed := a.write(t, http.MethodPatch, path, `{"body": "second"}`, headers{"If-Match": `"1"`})
	require.Equal(t, "second", changed.thing(t, 200)["body"])
	require.Equal(t, `"2"`, changed.header.Get("ETag"))
	require.Equal(t, http.StatusNoContent, a.write(t, http.MethodDelete, path, "").status)
	a.patch(t, path, `{"body": "third"}`).refused(t, 404, "not_found")
	require.Empty(t, a.page(t, task+"/comments").Data)

	nowhere := "/tasks/" + bson.NewObjectID().Hex() + "/comments"
	a.write(t, http.MethodPost, nowhere, `{"body": "b"}`).refused(t, 404, "not_found")
	a.write(t, http.MethodPost, "/tasks/none/comments", `{"body": "b"}`).refused(t, 404, "not_found")
}

func TestAnIDInThePathMayBeUpperCase(t *testing.T) {
	t.Parallel()
	a := editable(t)
	task := a.create(t, "/tasks", aTask)
	id := strings.TrimPrefix(task, "/tasks/")
	comment := a.write(t, http.MethodPost, "/tasks/"+strings.ToUpper(id)+"/comments", `{"body": "b"}`)
	comment.thing(t, http.StatusCreated)
	require.True(t, strings.HasPrefix(comment.header.Get("Location"), task+"/comments/"), "links carry lower case")
	a.patch(t, "/tasks/"+strings.ToUpper(id), `{"title": "u"}`).thing(t, 200)
	require.Equal(t, http.StatusNoContent, a.write(t, http.MethodDelete, "/tasks/"+strings.ToUpper(id), "").status)
}

func TestADeletionTakesTheObjectOutOfEverything(t *testing.T) {
	t.Parallel()
	a := editable(t)
	creative := a.create(t, "/creatives", aCreative)
	task := a.create(t, "/tasks", `{"title": "t", "priority": 1, "creative_id": "`+strings.TrimPrefix(creative, "/creatives/")+`"}`)
	comment := a.create(t, task+"/comments", `{"body": "b"}`)
	for _, path := range []string{creative, task} {
		gone := a.write(t, http.MethodDelete, path, "")
		require.Equal(t, http.StatusNoContent, gone.status)
		require.Empty(t, gone.body)
		require.Empty(t, gone.header.Get("ETag"))
		a.write(t, http.MethodDelete, path, "").refused(t, 404, "not_found")
		a.patch(t, path, "{}").refused(t, 404, "not_found")
		a.get(t, path).refused(t, 404, "not_found")
		require.Empty(t, a.page(t, path[:strings.LastIndex(path, "/")]).Data)
		if path == creative {
			kept := a.get(t, task).thing(t, 200)
			require.Equal(t, strings.TrimPrefix(creative, "/creatives/"), kept["creative_id"], "tasks keep the id")
			a.patch(t, task, `{"title": "u"}`).thing(t, 200)
		}
	}
	require.Equal(t, 404, a.get(t, task+"/comments").status)
	require.Equal(t, 404, a.get(t, task+"/history").status)
	a.patch(t, comment, `{"body": "c"}`).refused(t, 404, "not_found")
	for _, collection := range []string{"creatives", "tasks", "comments", "history"} {
		require.Zero(t, a.count(t, collection, bson.D{}), collection)
	}
	tombstones := map[string]string{}
	for _, doc := range mongotest.Everything(t, a.db.Collection("tombstones"), bson.D{}) {
		tombstones[doc.Lookup("id").ObjectID().Hex()] = doc.Lookup("entity").StringValue()
		require.Positive(t, doc.Lookup("public_modified").Double())
		require.NotZero(t, doc.Lookup("deleted_at").DateTime())
	}
	id := func(path string) string { return path[strings.LastIndex(path, "/")+1:] }
	require.Equal(t, map[string]string{id(creative): "creative", id(task): "task", id(comment): "comment"}, tombstones)
}

func TestWhatAWriteStamps(t *testing.T) {
	t.Parallel()
	a := editable(t)
	path := a.create(t, "/creatives", `{"name": "n", "status": "draft", "format": "image"}`)
	first := a.stored(t, "creatives", path)
	require.NotContains(t, first, "feed", "a draft is in no feed")

	a.patch(t, path, `{"status": "active"}`).thing(t, 200)
	second := a.stored(t, "creatives", path)
	require.Equal(t, "live", second["feed"])
	require.Greater(t, second["public_modified"], first["public_modified"])
	require.Greater(t, second["updated_at"], first["updated_at"])
	require.Equal(t, first["created_at"], second["created_at"])
	require.InDelta(t, 2, second["rev"], 0)

	a.patch(t, path, `{"mode": "test"}`).thing(t, 200)
	require.Equal(t, "test", a.stored(t, "creatives", path)["feed"])
	a.patch(t, path, `{"status": "draft"}`).thing(t, 200)
	require.NotContains(t, a.stored(t, "creatives", path), "feed")
}

func TestAWriteThatChangesNothingLeavesEverythingAlone(t *testing.T) {
	t.Parallel()
	a := editable(t)
	creative := a.create(t, "/creatives", `{"name": "n", "status": "active", "format": "image", "tags": ["a"],
		"launched_at": "2026-01-31T12:00:00Z", "metrics": {"spend": 5, "currency": "EUR", "clicks": 2}, "media": {"width": 3}}`)
	task := a.create(t, "/tasks", aTask)
	both := func() []bson.M { return []bson.M{a.stored(t, "creatives", creative), a.stored(t, "tasks", task)} }
	before := both()
	for _, body := range []string{
		`{}`, `{"name": "n"}`, `{"launched_at": "2026-01-31T14:00:00+02:00"}`, `{"launched_at": "2026-01-31T12:00:00.0009Z"}`,
		`{"metrics": {}}`, `{"metrics": {"spend": 5.0, "clicks": 2.0}}`, `{"metrics": {"spend": 0.5e1, "impressions": null}}`,
		`{"attributes": {}}`, `{"attributes": null}`, `{"attributes": {"a": null}}`, `{"tags": ["a"]}`, `{"ended_at": null}`,
		`{"media": {"url": null}}`, `{"source": null}`,
	} {
		if strings.Contains(body, "source") {
			a.patch(t, creative, body).refused(t, 422, "field_read_only")
			continue
		}
		same := a.patch(t, creative, body)
		same.thing(t, 200)
		require.Equal(t, `"1"`, same.header.Get("ETag"), body)
	}
	for _, body := range []string{`{}`, `{"status": "open"}`, `{"description": null}`, `{"priority": 1.0}`, `{"creative_id": null}`} {
		require.Equal(t, `"1"`, a.patch(t, task, body).header.Get("ETag"), body)
	}
	plain := a.create(t, "/creatives", aCreative)
	require.Equal(t, `"1"`, a.patch(t, plain, `{"tags": [], "media": {}, "metrics": {"spend": null}}`).header.Get("ETag"))
	require.Equal(t, before, both())
	require.Equal(t, 1, a.count(t, "history", bson.D{}), "that the task was created")
}

func TestSourceIsGivenAtTheCreationOnly(t *testing.T) {
	t.Parallel()
	a := editable(t)
	made := func(path, rest, source string) response {
		return a.write(t, http.MethodPost, path, rest[:len(rest)-1]+`, "source": `+source+`}`)
	}
	for path, rest := range map[string]string{"/creatives": aCreative, "/tasks": aTask} {
		first := made(path, rest, `{"system": "s", "id": "1"}`).thing(t, http.StatusCreated)
		require.Equal(t, map[string]any{"system": "s", "id": "1"}, first["source"])
		p := made(path, rest, `{"system": "s", "id": "1"}`).refused(t, 409, "source_taken")
		require.Equal(t, "source=source_taken", p.codes())
		made(path, rest, `{"system": "s", "id": "2"}`).thing(t, http.StatusCreated)
		require.NotContains(t, made(path, rest, `null`).thing(t, http.StatusCreated), "source")

		for source, want := range map[string]string{
			`{"system": "s"}`: "source.id=field_invalid",
			`{"id": "3"}`:     "source.system=field_invalid",
			`{"system": "s", "id": "3", "digest": "d"}`: "source.digest=field_unknown",
			`{"system": "s", "id": ""}`:                 "source.id=field_invalid",
			`"s"`:                                       "source=field_type",
		} {
			require.Equal(t, want, made(path, rest, source).refused(t, 422, want[strings.Index(want, "=")+1:]).codes())
		}
		a.patch(t, path+"/"+first.text("id"), `{"source": {"system": "s", "id": "9"}}`).refused(t, 422, "field_read_only")
	}
}

func TestACreativeOfATaskHasToExist(t *testing.T) {
	t.Parallel()
	a := editable(t)
	creative := strings.TrimPrefix(a.create(t, "/creatives", aCreative), "/creatives/")
	nobody := bson.NewObjectID().Hex()
	p := a.write(t, http.MethodPost, "/tasks", `{"title": "t", "priority": 1, "creative_id": "`+nobody+`"}`)
	require.Equal(t, "creative_id=field_invalid", p.refused(t, 422, "field_invalid").codes())
	task := a.create(t, "/tasks", `{"title": "t", "priority": 1, "creative_id": "`+creative+`"}`)
	p = a.patch(t, task, `{"creative_id": "`+nobody+`"}`)
	require.Equal(t, "creative_id=field_invalid", p.refused(t, 422, "field_invalid").codes())
	a.patch(t, task, `{"creative_id": null}`).thing(t, 200)
	require.Equal(t, creative, a.patch(t, task, `{"creative_id": "`+strings.ToUpper(creative)+`"}`).thing(t, 200)["creative_id"])
	require.Equal(t, 1, a.count(t, "tasks", bson.D{}))
}

func TestFiguresAreDerivedAndCurrencyGoesWithSpend(t *testing.T) {
	t.Parallel()
	a := editable(t)
	path := a.create(t, "/creatives", `{"name": "n", "status": "active", "format": "image",
		"metrics": {"spend": 5.5, "currency": "EUR", "impressions": 8, "clicks": 1}}`)
	metrics := func(r response) string {
		out, err := json.Marshal(r.thing(t, 200)["metrics"])
		require.NoError(t, err)
		return string(out)
	}
	require.JSONEq(t, `{"spend": 5.5, "currency": "EUR", "impressions": 8, "clicks": 1, "ctr": 0.125}`, metrics(a.get(t, path)))
	require.JSONEq(t, `{"spend": 5.5, "currency": "EUR", "impressions": 8, "clicks": 2, "ctr": 0.25}`,
		metrics(a.patch(t, path, `{"metrics": {"clicks": 2}}`)), "metrics keep their siblings")
	a.patch(t, path, `{"metrics": {"ctr": 1}}`).refused(t, 422, "field_read_only")
	require.JSONEq(t, `{"impressions": 8, "clicks": 2, "ctr": 0.25}`, metrics(a.patch(t, path, `{"metrics": {"spend": null}}`)))
	require.Equal(t, "metrics.currency=field_invalid",
		a.patch(t, path, `{"metrics": {"spend": 1}}`).refused(t, 422, "field_invalid").codes())
	require.JSONEq(t, `{"spend": 1, "currency": "USD", "impressions": 8}`,
		metrics(a.patch(t, path, `{"metrics": {"spend": 1, "currency": "USD", "clicks": null}}`)))
	require.Equal(t, "metrics.currency=field_invalid",
		a.patch(t, path, `{"metrics": {"currency": null}}`).refused(t, 422, "field_invalid").codes())
	require.NotContains(t, a.patch(t, path, `{"metrics": null}`).thing(t, 200), "metrics")
}
