package migrations_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"pgregory.net/rapid"

	"catalogue/comments"  //nolint:depguard // these tests know every domain, the package none
	"catalogue/creatives" //nolint:depguard // as above
	"catalogue/history"   //nolint:depguard // as above
	"catalogue/internal/mongotest"
	"catalogue/internal/seeding"
	"catalogue/migrations"
	"catalogue/pagination"
	"catalogue/tasks" //nolint:depguard // as above
)

func catalogueFields() migrations.Fields {
	return migrations.Fields{
		creatives.Collection: append(creatives.List().Sorts, creatives.Gallery().Sorts...),
		tasks.Collection:     tasks.List().Sorts,
		comments.Collection:  comments.OfTask().Sorts,
		history.Collection:   history.OfTask().Sorts,
	}
}

// What seeds and writers store breaks no rule, explicit nulls and empty parents included.
func TestSeedsPassTheStrictValidators(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.SchemaTitles)
	db := mongotest.Database(t)
	up(t, db, "one", migrations.All(nil, catalogueFields(), plainly{db})...)
	require.Empty(t, check(t, db, catalogueFields()))
	require.NoError(t, migrations.Enforce(t.Context(), db, catalogueFields()))
	seeder, err := seeding.New(db, seeding.Options{Creatives: 500, Tasks: 200, Seed: 7}, func(int) {})
	require.NoError(t, err)
	_, err = seeder.Run(t.Context())
	require.NoError(t, err)
	require.Empty(t, check(t, db, catalogueFields()))
}

// The validators refuse what Check finds, but for values that only their types do not show, and nothing else.
func TestValidatorsRefuseWhatCheckFinds(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.SchemaTitles)
	db, copied := mongotest.Database(t), mongotest.Database(t) // with the validators, and without
	require.NoError(t, migrations.Enforce(t.Context(), db, testFields()))
	scalars := []any{
		nil, "2026-01-01T00:00:00Z", 1, int64(1) << 60, 1.5, math.NaN(), true, bson.DateTime(0), bson.DateTime(math.MinInt64),
		bson.Timestamp{T: 1},
		bson.Symbol("s"),
		bson.Undefined{},
		bson.NewDecimal128(1, 2),
		bson.A{},
		bson.A{1},
		bson.D{},
		bson.NewObjectID(),
		bson.Regex{Pattern: "a"},
		bson.MinKey{},
	}
	rapid.Check(t, func(t *rapid.T) {
		doc := row(bson.NewObjectID())
		for _, name := range []string{"at", "name", "rev", "feed", "other"} {
			if rapid.Bool().Draw(t, "has "+name) {
				doc = append(doc, bson.E{Key: name, Value: rapid.SampledFrom(scalars).Draw(t, name)})
			}
		}
		switch rapid.IntRange(0, 2).Draw(t, "metrics") {
		case 0:
			doc = append(doc, bson.E{Key: "metrics", Value: rapid.SampledFrom(scalars).Draw(t, "no metrics")})
		case 1:
			doc = append(doc, bson.E{Key: "metrics", Value: bson.D{
				{Key: "spend", Value: rapid.SampledFrom(scalars).Draw(t, "spend")},
				{Key: "clicks", Value: rapid.SampledFrom(scalars).Draw(t, "clicks")},
			}})
		}
		_, refused := db.Collection("rows").InsertOne(context.Background(), doc)
		_, err := copied.Collection("rows").DeleteMany(context.Background(), bson.D{})
		require.NoError(t, err)
		_, err = copied.Collection("rows").InsertOne(context.Background(), doc)
		require.NoError(t, err)
		typed := true
		for p, err := range migrations.Check(context.Background(), copied, testFields()) {
			require.NoError(t, err)
			typed = typed && p.Kind != migrations.Stray && p.Kind != migrations.Array
		}
		require.Equal(t, typed, refused == nil, refused)
	})
}

func TestEnforceRefusesWhileAnythingIsFound(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.SchemaTitles)
	db := mongotest.Database(t)
	up(t, db, "one", migrations.All(nil, testFields(), plainly{db})...)
	var rows []bson.D
	for i := range 25 {
		rows = append(rows, row(i, bson.E{Key: "name", Value: 5}))
	}
	insert(t, db, rows...) // the validators only warn
	err := migrations.Enforce(t.Context(), db, testFields())
	problems, ok := errors.AsType[*migrations.ProblemsError](err)
	require.True(t, ok, err)
	require.Len(t, problems.First, 20)
	require.True(t, problems.More)
	require.Contains(t, err.Error(), `rows {"$numberInt":"0"}: name: stray type`)
	insert(t, db, row(100, bson.E{Key: "name", Value: 5}))

	_, err = db.Collection("rows").DeleteMany(t.Context(), bson.D{})
	require.NoError(t, err)
	require.NoError(t, migrations.Enforce(t.Context(), db, testFields()))
	_, err = db.Collection("rows").InsertOne(t.Context(), row(1, bson.E{Key: "name", Value: 5}))
	require.Error(t, err)
	insert(t, db, row(1, bson.E{Key: "name", Value: "five"}))
}

// A collection's validator in the database.
func validator(t *testing.T, db *mongo.Database, collection string) (rule, action, level string) {
	t.Helper()
	list, err := db.ListCollectionSpecifications(t.Context(), bson.D{{Key: "name", Value: collection}})
	require.NoError(t, err)
	require.Len(t, list, 1)
	action, _ = list[0].Options.Lookup("validationAction").StringValueOK()
	level, _ = list[0].Options.Lookup("validationLevel").StringValueOK()
	return list[0].Options.Lookup("validator").String(), action, level
}

func TestValidatorsFollowTheSorts(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.SchemaTitles)
	db := mongotest.Database(t)
	insert(t, db, row(1))
	fields := testFields()
	up(t, db, "one", migrations.All(nil, fields, plainly{db})...)
	before, action, level := validator(t, db, "rows")
	require.Equal(t, []string{"warn", "moderate"}, []string{action, level})
	require.NoError(t, migrations.Enforce(t.Context(), db, fields))

	reordered := migrations.Fields{"rows": append(fields["rows"][2:4:4], append(fields["rows"][:2:2], fields["rows"][0])...)}
	require.Empty(t, up(t, db, "two", migrations.All(nil, reordered, plainly{db})...), "the same fields, said otherwise")
	_, action, _ = validator(t, db, "rows")
	require.Equal(t, "error", action)

	fields["rows"] = append(fields["rows"], pagination.Sort{Field: "due", Kind: pagination.Date})
	fields["others"] = pagination.Sorts{{Field: "at", Kind: pagination.Date}}
	events := up(t, db, "three", migrations.All(nil, fields, plainly{db})...)
	after, action, _ := validator(t, db, "rows")
	require.NotEqual(t, before, after)
	require.Equal(t, "warn", action)
	require.Contains(t, notes(events), "the validator of rows has changed and only warns until it is enforced again")
	_, action, _ = validator(t, db, "others")
	require.Equal(t, "warn", action, "collections that are not there yet get theirs, too")
}

func TestValidatorsOfOthersStay(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	theirs := bson.D{{Key: "name", Value: bson.D{{Key: "$exists", Value: true}}}}
	require.NoError(t, db.CreateCollection(t.Context(), "rows"))
	require.NoError(t, db.RunCommand(t.Context(), bson.D{{Key: "collMod", Value: "rows"}, {Key: "validator", Value: theirs}}).Err())
	before, _, _ := validator(t, db, "rows")
	runner, err := migrations.NewRunner(db, migrations.All(nil, testFields(), plainly{db}))
	require.NoError(t, err)
	forecast, err := runner.DryRun(t.Context())
	require.NoError(t, err)
	require.Zero(t, forecast[1].Changes)
	events := up(t, db, "one", migrations.All(nil, testFields(), plainly{db})...)
	require.Contains(t, notes(events), "rows has a validator of its own, which stays")
	require.ErrorContains(t, migrations.Enforce(t.Context(), db, testFields()), "rows has a validator of its own")
	after, _, _ := validator(t, db, "rows")
	require.Equal(t, before, after)
}

func notes(events []migrations.Event) (texts []string) {
	for _, e := range events {
		if e.Kind == migrations.Note {
			texts = append(texts, e.Text)
		}
	}
	return texts
}
