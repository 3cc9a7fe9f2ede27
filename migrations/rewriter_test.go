package migrations_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/changes"
	"catalogue/internal/mongotest"
	"catalogue/migrations"
)

// A value of another type that becomes one that is shown is a change like any other.
func TestRewritesAreStamped(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.SchemaTitles)
	db := mongotest.Database(t)
	insert(t, db, row(1, bson.E{Key: "rev", Value: int64(3)}, bson.E{Key: "public_modified", Value: 1.5}, bson.E{Key: "at", Value: "2026-01-01T12:00:00Z"}))
	kinds := []changes.Imported{{Entity: "row", Collection: "rows", Stamped: true}}
	up(t, db, "one", migrations.All(kinds, testFields(), migrations.NewRewriter(db, kinds))...)
	doc := mongotest.Everything(t, db.Collection("rows"), bson.D{})[0]
	require.EqualValues(t, 4, doc.Lookup("rev").Int64())
	require.EqualValues(t, 1767268800000, doc.Lookup("at").DateTime())
	require.Empty(t, check(t, db, testFields()))
}
