package migrations_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/mongotest"
	"catalogue/migrations"
)

// plainly rewrites without stamps.
type plainly struct{ db *mongo.Database }

func (p plainly) Rewrite(ctx context.Context, r migrations.Rewrite) (bool, error) {
	result, err := p.db.Collection(r.Collection).UpdateOne(ctx,
		bson.D{{Key: "_id", Value: r.ID}, {Key: r.Field, Value: bson.D{{Key: "$exists", Value: true}}}},
		bson.A{bson.D{{Key: "$set", Value: bson.D{{Key: r.Field, Value: bson.D{{Key: "$literal", Value: r.To}}}}}}})
	if err != nil {
		return false, err
	}
	return result.ModifiedCount == 1, nil
}

func TestStrayTypesAreBroughtToTheDeclaredType(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.SchemaTitles)
	db := mongotest.Database(t)
	var rows []bson.D
	for i := range 120 {
		rows = append(rows, row(i, bson.E{Key: "at", Value: "2026-01-01T12:00:00Z"}))
	}
	insert(t, db, rows...)
	stays := []bson.D{
		row("a", bson.E{Key: "metrics", Value: bson.D{{Key: "spend", Value: "5"}, {Key: "clicks", Value: 5.0}}}),
		row("b", bson.E{Key: "metrics", Value: bson.A{5}}),
		row("c", bson.E{Key: "at", Value: bson.A{"2026-01-01T12:00:00Z"}}),
		row("d", bson.E{Key: "at", Value: "yesterday"}),
		row("e", bson.E{Key: "metrics", Value: bson.D{{Key: "clicks", Value: bson.NewDecimal128(0, 5)}}}, bson.E{Key: "rev", Value: "1"}),
	}
	insert(t, db, stays...)
	insert(t, db, row("f", bson.E{Key: "name", Value: bson.Symbol("$s")}))
	list := migrations.All(nil, testFields(), plainly{db})
	runner, err := migrations.NewRunner(db, list)
	require.NoError(t, err)
	forecast, err := runner.DryRun(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 121, forecast[2].Changes)

	events := up(t, db, "one", list...)
	require.EqualValues(t, 121, events[len(events)-1].Done)
	require.ElementsMatch(t, []string{
		`left as it is: rows "a": metrics.spend: stray type: string "5"`,
		`left as it is: rows "b": metrics: array: array`,
		`left as it is: rows "c": at: array: array`,
		`left as it is: rows "d": at: stray type: string "yesterday"`,
	}, notes(events))
	coll := db.Collection("rows")
	noon := bson.DateTime(1767268800000)
	require.Len(t, mongotest.Everything(t, coll, bson.D{{Key: "at", Value: noon}}), 120)
	require.Len(t, mongotest.Everything(t, coll, bson.D{{Key: "name", Value: "$s"}}), 1)
	for _, doc := range stays {
		want, err := bson.Marshal(doc)
		require.NoError(t, err)
		require.Equal(t, []bson.Raw{want}, mongotest.Everything(t, coll, doc[:1]))
	}
	all, err := runner.Status(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 121, all[2].Record.Done)
}

// breaking fails after some rewrites.
type breaking struct {
	plainly

	left *int
}

func (b breaking) Rewrite(ctx context.Context, r migrations.Rewrite) (bool, error) {
	if *b.left--; *b.left < 0 {
		return false, errBroken
	}
	return b.plainly.Rewrite(ctx, r)
}

func TestStrayTypesGoOnAfterAStop(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.SchemaTitles)
	db := mongotest.Database(t)
	for _, collection := range []string{"a", "rows"} {
		_, err := db.Collection(collection).InsertOne(t.Context(), row(1, bson.E{Key: "at", Value: "2026-01-01T12:00:00Z"}))
		require.NoError(t, err)
	}
	fields := testFields()
	fields["a"] = fields["rows"]
	left := 1
	_, err := tryUp(t.Context(), db, "one", migrations.All(nil, fields, breaking{plainly{db}, &left})...)
	require.ErrorIs(t, err, errBroken)
	require.ErrorContains(t, err, "0003 stray_types")
	events := up(t, db, "two", migrations.All(nil, fields, plainly{db})...)
	require.Equal(t, migrations.Resumed, events[0].Kind)
	require.Empty(t, check(t, db, fields))
	require.EqualValues(t, 2, events[len(events)-1].Done)
}
