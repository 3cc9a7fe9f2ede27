package changes_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/changes"
)

// undefined and dbPointer are values of the types that no query may name.
func undefined() any { return bson.Undefined{} }

func dbPointer() any { return bson.DBPointer{DB: "a.b", Pointer: bson.ObjectID{1}} }

// A rev goes up by one exactly, also where a double no longer holds every number.
func TestGreatRevsGoUpByOne(t *testing.T) {
	t.Parallel()
	const exact, bound = int64(1) << 53, int64(1) << 62
	db := database(t)
	for stored, want := range map[any]int64{
		exact - 1: exact, exact: exact + 1, exact + 1: exact + 2, exact + 3: exact + 4, float64(exact): exact + 1,
		float64(bound / 2): bound/2 + 1, bound - 1: bound, bound: 1, float64(bound): 1,
	} {
		created := newJob(t, db, job{Name: new("a")})
		_, err := db.Collection(collection).UpdateByID(t.Context(), created.ID, bson.M{"$set": bson.M{"rev": stored}})
		require.NoError(t, err)
		seen := int64(0)
		saved, err := jobWriter(db).Patch(soon(t), changes.Change[job]{
			ID: created.ID, Apply: func(j *job) error { j.Name = new("b"); return nil },
			Check: func(_ *job, rev int64) error { seen = rev; return nil },
		})
		require.NoError(t, err)
		require.Equal(t, want, saved.Rev, "%T %v", stored, stored)
		require.Equal(t, want, raw(t, db, collection, created.ID)["rev"], "%T %v", stored, stored)
		if want != 1 {
			require.Equal(t, want-1, seen, "%T %v", stored, stored)
		}
	}
}

// Values of types that engines do not let a query name stand in the way of no write.
func TestValuesThatNoQueryMayName(t *testing.T) {
	t.Parallel()
	db := database(t)
	for key, odd := range map[string]any{"undefined": undefined(), "dbPointer": dbPointer()} {
		plant := func(fields bson.M) bson.ObjectID {
			id := bson.NewObjectID()
			fields["_id"] = id
			_, err := db.Collection(collection).InsertOne(t.Context(), fields)
			require.NoError(t, err)
			return id
		}
		id := plant(bson.M{"rev": odd, "public_modified": odd, "metrics": bson.M{"views": 1, "other": odd}})
		saved, err := patchJob(t, db, id, func(j *job) { j.Name, j.Metrics = new("b"), &metrics{Views: new(int64(2))} })
		require.NoError(t, err)
		require.Equal(t, int64(1), saved.Rev)
		saved, err = patchJob(t, db, id, func(j *job) { j.Name = new("c") })
		require.NoError(t, err)
		require.Equal(t, int64(2), saved.Rev)
		require.Len(t, raw(t, db, collection, id)["metrics"], 2)

		id = plant(bson.M{"rev": odd, "public_modified": odd, "source": bson.M{"system": "s", "id": key, "digest": odd}})
		outcomes := applyTo(t, db, collection, row(key, "x", job{Name: new("b")}))
		require.Equal(t, []changes.Outcome{changes.Updated}, outcomes)
		require.Equal(t, int64(1), raw(t, db, collection, id)["rev"])
		deleteJob(t, jobWriter(db), id)
		deleteJob(t, jobWriter(db), plant(bson.M{"rev": odd, "public_modified": odd}))

		id = plant(bson.M{"name": odd})
		doc, err := db.Collection("history").InsertOne(t.Context(), bson.M{"at": odd})
		require.NoError(t, err)
		for kind, of := range map[string]any{"history": doc.InsertedID, collection: id} {
			field := map[string]string{"history": "at", collection: "name"}[kind]
			stored, err := db.Collection(kind).FindOne(t.Context(), bson.M{"_id": of}).Raw()
			require.NoError(t, err)
			done, err := changes.Rewrite(t.Context(), db, changes.Imported{Collection: kind, Stamped: kind == collection}, changes.Rewriting{
				ID: stored.Lookup("_id"), Field: field, From: stored.Lookup(field), To: bson.RawValue{Type: bson.TypeNull},
			})
			require.NoError(t, err)
			require.True(t, done, kind)
			require.Nil(t, raw(t, db, kind, of)[field])
		}
	}
}
