package migrations_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/history" //nolint:depguard // as above
	"catalogue/internal/changes"
	"catalogue/internal/mongotest"
	"catalogue/migrations"
	"catalogue/tasks" //nolint:depguard // as above
)

func TestRowsWithoutARevAreStamped(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.SchemaTitles)
	db := mongotest.Database(t)
	_, err := db.Collection(tasks.Collection).InsertMany(t.Context(), []bson.D{
		{{Key: "status", Value: "open"}},
		{{Key: "status", Value: "draft"}},
		{{Key: "rev", Value: int64(5)}, {Key: "public_modified", Value: 1.5}},
		{{Key: "rev", Value: int64(7)}, {Key: "public_modified", Value: nil}},
	})
	require.NoError(t, err)
	list := migrations.All([]changes.Imported{{Entity: tasks.Entity, Collection: tasks.Collection, Stamped: true}, {Collection: history.Collection}},
		catalogueFields(), plainly{db})
	runner, err := migrations.NewRunner(db, list)
	require.NoError(t, err)
	forecast, err := runner.DryRun(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 3, forecast[0].Changes)
	events := up(t, db, "one", list...)
	require.EqualValues(t, 3, events[1].Done)
	require.Len(t, mongotest.Everything(t, db.Collection(tasks.Collection), bson.D{{Key: "rev", Value: 1}}), 2)
	require.Len(t, mongotest.Everything(t, db.Collection(tasks.Collection), bson.D{{Key: "rev", Value: 8}}), 1)
	require.Empty(t, check(t, db, catalogueFields()))
}
