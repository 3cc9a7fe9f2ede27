package changes_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/changes"
	"catalogue/internal/mongotest"
)

func bsonValue(t *testing.T, v any) bson.RawValue {
	t.Helper()
	kind, data, err := bson.MarshalValue(v)
	require.NoError(t, err)
	return bson.RawValue{Type: kind, Value: data}
}

func TestARewriteChangesAFieldThatIsAsItWas(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	coll := db.Collection("rows")
	_, err := coll.InsertOne(t.Context(), bson.D{
		{Key: "_id", Value: "a"},
		{Key: "rev", Value: int64(4)},
		{Key: "updated_at", Value: "stays"},
		{Key: "metrics", Value: bson.D{{Key: "$x", Value: 1}, {Key: "at", Value: "$1"}, {Key: "y", Value: nil}}},
		{Key: "s", Value: bson.Symbol("s")},
	})
	require.NoError(t, err)
	kind := changes.Imported{Entity: "row", Collection: "rows", Stamped: true}
	for _, c := range []struct {
		r    changes.Rewriting
		kind changes.Imported
		want bool
	}{
		{changes.Rewriting{Field: "metrics.at", From: bsonValue(t, "$1"), To: bsonValue(t, bson.DateTime(5))}, kind, true},
		{changes.Rewriting{Field: "metrics.at", From: bsonValue(t, "$1"), To: bsonValue(t, bson.DateTime(6))}, kind, false},
		{changes.Rewriting{Field: "metrics.none", From: bsonValue(t, "$1"), To: bsonValue(t, bson.DateTime(6))}, kind, false},
		{changes.Rewriting{ID: bsonValue(t, "b"), Field: "s", From: bsonValue(t, "s"), To: bsonValue(t, "t")}, kind, false},
		{changes.Rewriting{Field: "s", From: bsonValue(t, bson.Symbol("s")), To: bsonValue(t, "s")}, kind, true},
		{changes.Rewriting{Field: "s", From: bsonValue(t, "s"), To: bsonValue(t, bson.DateTime(7))}, changes.Imported{Collection: "rows"}, true},
	} {
		if c.r.ID.IsZero() {
			c.r.ID = bsonValue(t, "a")
		}
		done, err := changes.Rewrite(t.Context(), db, c.kind, c.r)
		require.NoError(t, err)
		require.Equal(t, c.want, done, c.r)
	}
	doc := mongotest.Everything(t, coll, bson.D{})[0]
	require.EqualValues(t, 6, doc.Lookup("rev").Int64(), "two of them were stamped")
	require.Equal(t, "stays", doc.Lookup("updated_at").StringValue())
	require.EqualValues(t, 7, doc.Lookup("s").DateTime())
	want, err := bson.Marshal(bson.D{{Key: "$x", Value: 1}, {Key: "at", Value: bson.DateTime(5)}, {Key: "y", Value: nil}})
	require.NoError(t, err)
	require.Equal(t, bson.Raw(want), doc.Lookup("metrics").Document())
}
