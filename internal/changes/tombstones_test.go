package changes_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/changes"
	"catalogue/internal/origin"
)

// idOf is the id of the imported job with a source.id.
func idOf(t *testing.T, db *mongo.Database, id string) bson.ObjectID {
	t.Helper()
	out, ok := imported(t, db, collection, id)["_id"].(bson.ObjectID)
	require.True(t, ok)
	return out
}

// What somebody has made in the place of an imported object that was deleted stays until the row says something new.
func TestObjectInThePlaceOfADeletedOneStaysAtReimport(t *testing.T) {
	t.Parallel()
	db := database(t)
	old, changed := row("1", "x", job{Name: new("imported")}), row("1", "y", job{Name: new("changed")})
	applyTo(t, db, collection, old)
	deleteJob(t, jobWriter(db), idOf(t, db, "1"))
	made := newJob(t, db, job{Name: new("made"), Source: &origin.Source{System: "s", ID: "1"}})
	before := raw(t, db, collection, made.ID)
	require.Equal(t, []changes.Outcome{changes.Unchanged}, applyTo(t, db, collection, old))
	require.Equal(t, before, raw(t, db, collection, made.ID))

	deleteJob(t, jobWriter(db), made.ID)
	require.Equal(t, []changes.Outcome{changes.Unchanged}, applyTo(t, db, collection, old), "it was never imported")
	require.Empty(t, rowsOf(t, db, collection, bson.M{}))

	made = newJob(t, db, job{Name: new("made"), Source: &origin.Source{System: "s", ID: "1"}})
	require.Equal(t, []changes.Outcome{changes.Updated}, applyTo(t, db, collection, changed))
	require.Equal(t, "changed", raw(t, db, collection, made.ID)["name"])
	require.Equal(t, []changes.Outcome{changes.Updated}, applyTo(t, db, collection, old), "it has a digest of its own now")
}

// Below a deleted object, what was there before is as it was, and nothing new comes.
func TestImportBelowADeletedParent(t *testing.T) {
	t.Parallel()
	db := database(t)
	require.NoError(t, uniqueSource(t, db, notes))
	applyTo(t, db, collection, row("1", "x", job{}))
	id := idOf(t, db, "1")
	applyTo(t, db, notes, noteRow("n", "x", id))
	applyTo(t, db, "history", noteRow("h", "x", id))
	deleteJob(t, jobWriter(db), id)
	require.Equal(t, []changes.Outcome{changes.Unchanged, changes.Orphaned},
		applyTo(t, db, notes, noteRow("n", "x", id), noteRow("new", "x", id)))
	require.Equal(t, []changes.Outcome{changes.Orphaned}, applyTo(t, db, notes, noteRow("n", "y", id)))
	require.Equal(t, []changes.Outcome{changes.Unchanged, changes.Orphaned},
		applyTo(t, db, "history", noteRow("h", "x", id), noteRow("h2", "x", bson.NewObjectID())))
	require.Empty(t, rowsOf(t, db, notes, bson.M{}))
	require.Empty(t, rowsOf(t, db, "history", bson.M{}))
}

// A reference leads to what exists, and else to what was deleted last.
func TestReferencesFindDeletedObjects(t *testing.T) {
	t.Parallel()
	db := database(t)
	find := func(kind changes.Imported, system string) map[string]bson.ObjectID {
		found, err := changes.NewReferences(db, kind).IDsBySource(t.Context(), system, []string{"1", "2", "3"})
		require.NoError(t, err)
		return found
	}
	jobKind := jobs().Imported()
	require.Empty(t, find(jobKind, "s"))
	applyTo(t, db, collection, row("1", "x", job{}), row("2", "x", job{}))
	first, second := idOf(t, db, "1"), idOf(t, db, "2")
	require.Equal(t, map[string]bson.ObjectID{"1": first, "2": second}, find(jobKind, "s"))

	deleteJob(t, jobWriter(db), first)
	require.Equal(t, map[string]bson.ObjectID{"1": first, "2": second}, find(jobKind, "s"))
	live, err := changes.NewSources(db.Collection(collection)).IDsBySource(t.Context(), "s", []string{"1", "2"})
	require.NoError(t, err)
	require.Equal(t, map[string]bson.ObjectID{"2": second}, live)
	require.Empty(t, find(jobKind, "other"))
	require.Empty(t, find(notesOfJobs().Imported(), "s"), "they are of another kind")

	applyTo(t, db, collection, row("1", "y", job{}))
	again := idOf(t, db, "1")
	require.Equal(t, again, find(jobKind, "s")["1"])
	deleteJob(t, jobWriter(db), again)
	require.Equal(t, again, find(jobKind, "s")["1"], "the latest deletion counts")
	require.NotEqual(t, first, again)
}
