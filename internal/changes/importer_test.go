package changes_test

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"golang.org/x/sync/errgroup"

	"catalogue/internal/changes"
	"catalogue/internal/instant"
	"catalogue/internal/mongotest"
	"catalogue/internal/origin"
)

// imported is the stored form of the item with an id.
func imported(t *testing.T, db *mongo.Database, collection, id string) bson.M {
	t.Helper()
	rows := rowsOf(t, db, collection, bson.M{"source.system": "s", "source.id": id})
	require.Len(t, rows, 1)
	return rows[0]
}

func applyTo(t *testing.T, db *mongo.Database, collection string, items ...changes.Item) []changes.Outcome {
	t.Helper()
	out, err := importer(t, db).Apply(t.Context(), collection, items)
	require.NoError(t, err)
	return out
}

// row is an imported job, which says what jobFields names.
func row(id, digest string, entity job) changes.Item {
	return changes.Item{Source: origin.Source{System: "s", ID: id, Digest: digest}, Entity: &entity, Fields: jobFields}
}

var jobFields = []string{"name", "status", "mode", "updated_at", "attributes.a", "metrics.views"}

func TestImportStamps(t *testing.T) {
	t.Parallel()
	db := database(t)
	long := new(instant.MustParse("2001-02-03T04:05:06Z"))
	entity := job{Name: new("a"), Mode: new("test"), UpdatedAt: long, Rev: new(int64(9))}
	applyTo(t, db, collection, row("1", "x", entity), row("2", "x", job{Status: new("draft")}))
	first := imported(t, db, collection, "1")
	require.Equal(t, int64(1), first["rev"])
	require.Equal(t, "test", first["feed"])
	require.Equal(t, bson.DateTime(long.Millis()), first["updated_at"], "it is the file's")
	require.NotContains(t, first, "created_at")
	moment, ok := first["dateModified"].(bson.DateTime)
	require.True(t, ok)
	require.InDelta(t, float64(moment)/1000, first["public_modified"], 1e-9)
	require.NotContains(t, imported(t, db, collection, "2"), "feed")

	entity.Name = new("b")
	require.Equal(t, []changes.Outcome{changes.Updated}, applyTo(t, db, collection, row("1", "y", entity)))
	second := imported(t, db, collection, "1")
	require.Equal(t, int64(2), second["rev"])
	require.Greater(t, second["public_modified"], first["public_modified"])
	require.Equal(t, first["updated_at"], second["updated_at"])
	require.Empty(t, rowsOf(t, db, "history", bson.M{}))
}

// A row that says in other words what is stored moves nothing on; only its digest is remembered.
func TestImportOfTheSameContentStampsNothing(t *testing.T) {
	t.Parallel()
	db := database(t)
	entity := job{Name: new("a"), Attributes: map[string]string{"a": "x"}, Metrics: &metrics{Views: new(int64(5))}}
	applyTo(t, db, collection, row("1", "x", entity))
	_, err := db.Collection(collection).UpdateOne(t.Context(), bson.M{}, bson.M{"$set": bson.M{
		"metrics.views": 5.0, "attributes.mine": "y", "status": nil, "source.note": "kept",
	}})
	require.NoError(t, err)
	before := imported(t, db, collection, "1")
	require.Equal(t, []changes.Outcome{changes.Unchanged}, applyTo(t, db, collection, row("1", "y", entity)))
	after := imported(t, db, collection, "1")
	source, ok := after["source"].(bson.D)
	require.True(t, ok)
	require.ElementsMatch(t, bson.D{
		{Key: "system", Value: "s"}, {Key: "id", Value: "1"}, {Key: "note", Value: "kept"}, {Key: "digest", Value: "y"},
	}, source)
	delete(before, "source")
	delete(after, "source")
	require.Equal(t, before, after)
}

// A row from before there were revs gets its first one with the next update.
func TestImportOverARowWithoutARev(t *testing.T) {
	t.Parallel()
	db := database(t)
	_, err := db.Collection(collection).InsertOne(t.Context(),
		bson.M{"name": "old", "rev": "abc", "public_modified": "x", "source": bson.M{"system": "s", "id": "1", "digest": "x"}})
	require.NoError(t, err)
	require.Equal(t, []changes.Outcome{changes.Updated}, applyTo(t, db, collection, row("1", "y", job{Name: new("a")})))
	require.Equal(t, int64(1), imported(t, db, collection, "1")["rev"])
	require.Equal(t, "live", imported(t, db, collection, "1")["feed"])
}

func TestImportedTextsComeBackAsTheyWereSent(t *testing.T) {
	t.Parallel()
	db := database(t)
	for i, text := range []string{"$status", "$$NOW", "$$ROOT", "$$REMOVE"} {
		id := fmt.Sprint(text, i)
		entity := job{Name: &text, Status: &text, Mode: &text, Attributes: map[string]string{"a": text}}
		applyTo(t, db, collection, row(id, text, job{Name: new("old")}))
		require.Equal(t, []changes.Outcome{changes.Updated, changes.Inserted},
			applyTo(t, db, collection, row(id, text+"2", entity), row("new"+id, text, entity)))
		for _, id := range []string{id, "new" + id} {
			doc := imported(t, db, collection, id)
			require.Equal(t, []any{text, text, text, bson.D{{Key: "a", Value: text}}},
				[]any{doc["name"], doc["status"], doc["mode"], doc["attributes"]})
		}
	}
}

// Rows without a rev are kept apart by their digests: of two imports at once, each object is as one of them says, whole.
func TestImportsOfRowsWithoutStampsAtOnce(t *testing.T) {
	t.Parallel()
	const rows = 100
	db := database(t)
	contents := map[string]thing{
		"first": {Name: new("x"), Parent: &parent{A: new(int64(0))}},
		"one":   {Name: new("y"), Parent: &parent{A: new(int64(0))}},
		"other": {Name: new("x"), Parent: &parent{A: new(int64(1))}},
	}
	im := changes.NewImporter(db, changes.ImporterOptions{
		NewID: bson.NewObjectID, Kinds: []changes.Imported{{Collection: collection}},
	})
	imports := func(ctx context.Context, digest string) error {
		items := make([]changes.Item, rows)
		for i := range items {
			items[i] = item(strconv.Itoa(i), digest, contents[digest], all...)
		}
		_, err := im.Apply(ctx, collection, items)
		return err
	}
	require.NoError(t, imports(t.Context(), "first"))
	calls, ctx := errgroup.WithContext(soon(t))
	calls.Go(func() error { return imports(ctx, "one") })
	calls.Go(func() error { return imports(ctx, "other") })
	require.NoError(t, calls.Wait())
	cursor, err := db.Collection(collection).Find(t.Context(), bson.D{})
	require.NoError(t, err)
	var got []thing
	require.NoError(t, cursor.All(t.Context(), &got))
	require.Len(t, got, rows)
	for _, one := range got {
		want := contents[one.Source.Digest]
		require.Equal(t, want.Name, one.Name)
		require.Equal(t, want.Parent, one.Parent)
	}
	require.Empty(t, rowsOf(t, db, collection, bson.M{"rev": bson.M{"$exists": true}}))
}

// What was deleted stays so until its row says something new.
func TestDeletedObjectStaysDeletedAtReimport(t *testing.T) {
	t.Parallel()
	db := database(t)
	old, changed := row("1", "x", job{Name: new("a")}), row("1", "y", job{Name: new("b")})
	applyTo(t, db, collection, old, row("2", "x", job{}))
	remove := func() {
		id, ok := imported(t, db, collection, "1")["_id"].(bson.ObjectID)
		require.True(t, ok)
		deleteJob(t, jobWriter(db), id)
	}
	remove()
	require.Equal(t, []changes.Outcome{changes.Unchanged, changes.Unchanged}, applyTo(t, db, collection, old, row("2", "x", job{})))
	require.Len(t, rowsOf(t, db, collection, bson.M{}), 1)

	require.Equal(t, []changes.Outcome{changes.Inserted}, applyTo(t, db, collection, changed))
	require.Equal(t, int64(1), imported(t, db, collection, "1")["rev"])
	remove()
	require.Equal(t, []changes.Outcome{changes.Unchanged}, applyTo(t, db, collection, changed), "the latest deletion counts")
	require.Equal(t, []changes.Outcome{changes.Inserted}, applyTo(t, db, collection, old))
	require.Equal(t, []changes.Outcome{changes.Inserted}, applyTo(t, db, notes, below(t, db, "1", "y")),
		"deletions of another kind of objects do not count")
}

// below is an imported note with the id, below the job of that id.
func below(t *testing.T, db *mongo.Database, id, digest string) changes.Item {
	t.Helper()
	parent, ok := imported(t, db, collection, id)["_id"].(bson.ObjectID)
	require.True(t, ok)
	return noteRow(id, digest, parent)
}

func noteRow(id, digest string, parent bson.ObjectID) changes.Item {
	return changes.Item{
		Source: origin.Source{System: "s", ID: id, Digest: digest},
		Entity: &note{EntityType: new("thing"), EntityID: parent, Body: new(digest)},
		Fields: []string{"entity_type", "entity_id", "body"},
	}
}

func TestImportBelowAParent(t *testing.T) {
	t.Parallel()
	for name, transactions := range map[string]bool{"with transactions": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if transactions {
				mongotest.Needs(t, mongotest.Transactions)
			}
			importBelowAParent(t, transactions)
		})
	}
}

func importBelowAParent(t *testing.T, transactions bool) {
	t.Helper()
	db := database(t)
	im := changes.NewImporter(db, changes.ImporterOptions{
		NewID: bson.NewObjectID, Transactions: transactions,
		Kinds: []changes.Imported{notesOfJobs().Imported(), {Collection: "history", Parent: collection}},
	})
	live, test := plantJob(t, db, "live"), plantJob(t, db, "test")
	out, err := im.Apply(t.Context(), notes, []changes.Item{
		noteRow("1", "x", live), noteRow("2", "x", bson.NewObjectID()), noteRow("3", "x", test),
	})
	require.NoError(t, err)
	require.Equal(t, []changes.Outcome{changes.Inserted, changes.Orphaned, changes.Inserted}, out)
	require.Empty(t, rowsOf(t, db, notes, bson.M{"source.id": "2"}))
	require.Equal(t, "live", imported(t, db, notes, "1")["feed"])
	require.Equal(t, "test", imported(t, db, notes, "3")["mode"])
	require.Equal(t, "test", imported(t, db, notes, "3")["feed"])
	require.Equal(t, int64(1), raw(t, db, collection, test)["rev"], "a lock is no change")
	require.Equal(t, transactions, raw(t, db, collection, test)["lock"] != nil)

	_, err = db.Collection(collection).UpdateByID(t.Context(), test, bson.M{"$set": bson.M{"mode": "live"}})
	require.NoError(t, err)
	same := noteRow("3", "y", test)
	same.Entity = &note{EntityType: new("thing"), EntityID: test, Body: new("x")}
	out, err = im.Apply(t.Context(), notes, []changes.Item{same, noteRow("1", "y", live)})
	require.NoError(t, err)
	require.Equal(t, []changes.Outcome{changes.Unchanged, changes.Updated}, out)
	require.Equal(t, "test", imported(t, db, notes, "3")["feed"], "a moved mode alone makes no write")

	out, err = im.Apply(t.Context(), "history", []changes.Item{noteRow("1", "x", test), noteRow("2", "x", bson.NewObjectID())})
	require.NoError(t, err)
	require.Equal(t, []changes.Outcome{changes.Inserted, changes.Orphaned}, out)
	entry := imported(t, db, "history", "1")
	for _, field := range []string{"rev", "feed", "dateModified", "public_modified", "mode"} {
		require.NotContains(t, entry, field)
	}
}

// Notes are imported while their job is deleted: none is left below nothing.
func TestImportBelowAnObjectThatIsDeletedLeavesNoOrphan(t *testing.T) {
	t.Parallel()
	const rounds = 15
	db := database(t)
	im := importer(t, db)
	var inserted, orphaned atomic.Int64
	for i := range rounds {
		parent := newJob(t, db, job{})
		calls, ctx := errgroup.WithContext(soon(t))
		calls.Go(func() error {
			items := make([]changes.Item, 20)
			for n := range items {
				items[n] = noteRow(fmt.Sprint(i, " ", n), "x", parent.ID)
			}
			out, err := im.Apply(ctx, notes, items)
			for _, o := range out {
				if o == changes.Orphaned {
					orphaned.Add(1)
				} else {
					inserted.Add(1)
				}
			}
			return err
		})
		calls.Go(func() error { return jobWriter(db).Delete(ctx, changes.Removal[job]{ID: parent.ID}) })
		require.NoError(t, calls.Wait())
		require.Empty(t, rowsOf(t, db, notes, bson.M{}))
	}
	require.Equal(t, int64(20*rounds), inserted.Load()+orphaned.Load())
	require.Len(t, rowsOf(t, db, "tombstones", bson.M{"entity": "note"}), int(inserted.Load()))
}

// Imports of the same notes at once: a transaction that finds another one's insert is tried again.
func TestImportsOfTheSameRowsBelowAParentAtOnce(t *testing.T) {
	t.Parallel()
	const rows = 60
	db := database(t)
	im := importer(t, db)
	require.NoError(t, uniqueSource(t, db, notes))
	parent := plantJob(t, db, "live")
	var inserted atomic.Int64
	calls, ctx := errgroup.WithContext(soon(t))
	for range 4 {
		calls.Go(func() error {
			items := make([]changes.Item, rows)
			for n := range items {
				items[n] = noteRow(strconv.Itoa(n), "x", parent)
			}
			out, err := im.Apply(ctx, notes, items)
			for _, o := range out {
				if o == changes.Inserted {
					inserted.Add(1)
				}
			}
			return err
		})
	}
	require.NoError(t, calls.Wait())
	require.Len(t, rowsOf(t, db, notes, bson.M{}), rows)
	require.Equal(t, int64(rows), inserted.Load())
}

func TestImportIntoACollectionThatIsNotKnown(t *testing.T) {
	t.Parallel()
	_, err := importer(t, database(t)).Apply(t.Context(), "others", []changes.Item{row("1", "x", job{})})
	require.ErrorContains(t, err, "import into others: it is not known what it holds")
}
