package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// misfits are what other programs have stored, and a patch that takes it away.
var misfits = []struct {
	name, collection, field string
	stored                  any
	patch                   string
	want                    any // nil where the field is gone
}{
	{"a list of text", "creatives", "tags", "x", `{"tags": null}`, nil},
	{"a list of text, emptied", "creatives", "tags", "x", `{"tags": []}`, nil},
	{"a figure of text", "creatives", "metrics", bson.D{{Key: "clicks", Value: "7"}}, `{"metrics": {"clicks": null}}`, nil},
	{
		"a figure beside others", "creatives", "metrics",
		bson.D{{Key: "clicks", Value: "7"}, {Key: "shares", Value: int32(1)}},
		`{"metrics": {"clicks": null}}`,
		bson.D{{Key: "shares", Value: int32(1)}},
	},
	{
		"figures of others", "creatives", "metrics",
		bson.D{{Key: "clicks", Value: int64(7)}, {Key: "shares", Value: int32(1)}},
		`{"metrics": null}`, nil,
	},
	{
		"an attribute of another type", "creatives", "attributes",
		bson.D{{Key: "a.b", Value: 5}, {Key: "c", Value: "d"}},
		`{"attributes": {"a.b": null}}`,
		bson.D{{Key: "c", Value: "d"}},
	},
	{"a date of text", "tasks", "due_at", "2020-01-01", `{"due_at": null}`, nil},
	{"an id of text", "tasks", "creative_id", "x", `{"creative_id": null}`, nil},
}

// Null takes away what is stored, also where it is of a type that nobody is shown.
func TestPatchRemovesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	a := editable(t)
	paths := map[string]string{"creatives": a.create(t, "/creatives", aCreative), "tasks": a.create(t, "/tasks", aTask)}
	for _, m := range misfits {
		path := paths[m.collection]
		id := bson.D{{Key: "_id", Value: a.stored(t, m.collection, path)["_id"]}}
		_, err := a.db.Collection(m.collection).UpdateOne(t.Context(), id, bson.A{bson.D{{Key: "$set", Value: bson.D{
			{Key: m.field, Value: bson.D{{Key: "$literal", Value: m.stored}}},
		}}}})
		require.NoError(t, err, m.name)
		before := a.stored(t, m.collection, path)
		a.patch(t, path, m.patch).thing(t, 200)
		after := a.stored(t, m.collection, path)
		require.Equal(t, m.want, after[m.field], m.name)
		require.Equal(t, revOf(t, before)+1, revOf(t, after), m.name)

		a.patch(t, path, m.patch).thing(t, 200)
		require.Equal(t, after, a.stored(t, m.collection, path), "%s: it is gone", m.name)
	}
}

// The same in a request of many, by id and by source.
func TestItemsRemoveWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	a := editable(t)
	path := a.create(t, "/creatives", `{"name": "n", "status": "active", "format": "image", "source": {"system": "s", "id": "1"}}`)
	id := path[len("/creatives/"):]
	for target, item := range map[string]string{
		"/creatives/bulk":    `{"op": "patch", "id": "` + id + `", "data": {"metrics": {"clicks": null}}}`,
		"/creatives/metrics": `{"source": {"system": "s", "id": "1"}, "metrics": {"clicks": null}}`,
	} {
		_, err := a.db.Collection("creatives").UpdateOne(t.Context(), bson.D{},
			bson.D{{Key: "$set", Value: bson.D{{Key: "metrics", Value: bson.D{{Key: "clicks", Value: "7"}}}}}})
		require.NoError(t, err)
		res := a.write(t, "POST", target, `{"items": [`+item+`]}`, headers{"Idempotency-Key": target})
		require.Equal(t, 200, res.status, "%s", res.body)
		require.NotContains(t, a.stored(t, "creatives", path), "metrics", target)
	}
}

// A task that is reopened is closed at no time, whatever stood there.
func TestReopeningClearsWhateverStandsInClosedAt(t *testing.T) {
	t.Parallel()
	a := editable(t)
	for _, odd := range []any{"2020-01-01", int64(5), bson.D{{Key: "a", Value: int32(1)}}, bson.DateTime(0)} {
		task := a.create(t, "/tasks", aTask)
		id := bson.D{{Key: "_id", Value: a.stored(t, "tasks", task)["_id"]}}
		_, err := a.db.Collection("tasks").UpdateOne(t.Context(), id, bson.D{{Key: "$set", Value: bson.D{
			{Key: "status", Value: "done"}, {Key: "closed_at", Value: odd},
		}}})
		require.NoError(t, err)
		a.patch(t, task, `{"title": "other"}`).thing(t, 200)
		require.Equal(t, odd, a.stored(t, "tasks", task)["closed_at"], "no move, so it stays")
		a.patch(t, task, `{"status": "open"}`).thing(t, 200)
		require.NotContains(t, a.stored(t, "tasks", task), "closed_at", "%v", odd)
	}
}

func revOf(t *testing.T, doc bson.M) int64 {
	t.Helper()
	rev, ok := doc["rev"].(int64)
	require.True(t, ok)
	return rev
}
