package indexes

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"catalogue/internal/mongotest"
)

func TestMain(m *testing.M) { os.Exit(mongotest.Main(m)) }

var (
	byName  = ForSort("rows", nil, "name", "list rows by name")
	byScore = ForSort("rows", []string{"kind"}, "metrics.score", "list rows of a kind by score")
	unique  = UniqueSource("rows")
)

// create builds an index past the package, as a person or another program would.
func create(t testing.TB, db *mongo.Database, keys bson.D, opts *options.IndexOptionsBuilder) {
	t.Helper()
	_, err := db.Collection("rows").Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: keys, Options: opts})
	require.NoError(t, err)
}

func hide(t testing.TB, db *mongo.Database, name string, hidden bool) {
	t.Helper()
	require.NoError(t, db.RunCommand(t.Context(), bson.D{
		{Key: "collMod", Value: "rows"},
		{Key: "index", Value: bson.D{{Key: "name", Value: name}, {Key: "hidden", Value: hidden}}},
	}).Err())
}

// names are those of the indexes in the database, without that of _id.
func names(t testing.TB, db *mongo.Database) []string {
	t.Helper()
	list, err := listIndexes(t.Context(), db, "rows")
	require.NoError(t, err)
	var out []string
	for _, f := range list {
		if f.Name != "_id_" {
			out = append(out, f.Name)
		}
	}
	return out
}

// reports collects what Apply tells.
type reports []Standing

func (r *reports) add(s Standing) { *r = append(*r, s) }

func (r *reports) of(i Index) []Status {
	var out []Status
	for _, s := range *r {
		if s.Index.identity() == i.identity() {
			out = append(out, s.Status)
		}
	}
	return out
}

func plan(t testing.TB, db *mongo.Database, declared ...Index) []Standing {
	t.Helper()
	standings, err := Plan(t.Context(), db, declared)
	require.NoError(t, err)
	require.Len(t, standings, len(declared))
	return standings
}

func TestIndexesOfACollectionThatDoesNotExistAreMissingAndAreBuilt(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	require.Equal(t, []Standing{{byName, Missing, "name_1__id_1"}, {unique, Missing, "source.system_1_source.id_1"}}, plan(t, db, byName, unique))
	left, err := db.ListCollectionNames(t.Context(), bson.D{})
	require.NoError(t, err)
	require.Empty(t, left, "a plan changes nothing")

	var told reports
	require.NoError(t, Apply(t.Context(), db, []Index{byName, unique}, told.add))

	require.Equal(t, []Status{Missing, Built}, told.of(byName))
	require.Equal(t, []Status{Missing, Built}, told.of(unique))
	require.ElementsMatch(t, []string{byName.Name(), unique.Name()}, names(t, db))
	require.Equal(t, []Standing{{byName, Ready, byName.Name()}, {unique, Ready, unique.Name()}}, plan(t, db, byName, unique))
}

func TestApplyAgainBuildsNothing(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	require.NoError(t, Apply(t.Context(), db, []Index{byName, byScore, unique}, func(Standing) {}))
	before := names(t, db)

	var told reports
	require.NoError(t, Apply(t.Context(), db, []Index{byName, byScore, unique}, told.add))

	require.Equal(t, before, names(t, db))
	require.Len(t, told, 3)
	for _, s := range told {
		require.Equal(t, Ready, s.Status, s.Index)
	}
}

func TestAnIndexWhoseRowsExpire(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	expiring := Index{Collection: "rows", Keys: bson.D{{Key: "at", Value: int32(1)}}, ExpireAfter: 36 * time.Hour}
	require.NoError(t, Apply(t.Context(), db, []Index{expiring}, func(Standing) {}))
	require.Equal(t, []Standing{{expiring, Ready, "at_1"}}, plan(t, db, expiring))
	list, err := listIndexes(t.Context(), db, "rows")
	require.NoError(t, err)
	require.InEpsilon(t, 129600.0, *list[len(list)-1].ExpireAfter, 0)

	longer, forever := expiring, expiring
	longer.ExpireAfter, forever.ExpireAfter = 48*time.Hour, 0
	require.Equal(t, []Standing{{longer, Conflict, "at_1"}, {forever, Conflict, "at_1"}}, plan(t, db, longer, forever))
	require.ErrorContains(t, Apply(t.Context(), db, []Index{longer}, func(Standing) {}), "exists as \"at_1\" with other options")
}

func TestAnIndexUnderAnotherNameIsAsGood(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	create(t, db, bson.D{{Key: "name", Value: 1}, {Key: "_id", Value: 1}}, options.Index().SetName("by hand"))

	require.Equal(t, []Standing{{byName, Ready, "by hand"}}, plan(t, db, byName))
	require.NoError(t, Apply(t.Context(), db, []Index{byName}, func(Standing) {}))
	require.Equal(t, []string{"by hand"}, names(t, db))
}

func TestNumbersOfAKeyAreComparedAsNumbersAndItsOrderCounts(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]any{"int32": int32(1), "int64": int64(1), "double": 1.0} {
		db := mongotest.Database(t)
		create(t, db, bson.D{{Key: "name", Value: one}, {Key: "_id", Value: one}}, options.Index().SetName("x"))
		require.Equal(t, []Standing{{byName, Ready, "x"}}, plan(t, db, byName), name)
	}
	for name, keys := range map[string]bson.D{
		"turned round":     {{Key: "_id", Value: 1}, {Key: "name", Value: 1}},
		"prefix":           {{Key: "name", Value: 1}},
		"longer":           {{Key: "name", Value: 1}, {Key: "_id", Value: 1}, {Key: "kind", Value: 1}},
		"descending":       {{Key: "name", Value: -1}, {Key: "_id", Value: -1}},
		"mixed directions": {{Key: "name", Value: 1}, {Key: "_id", Value: -1}},
		"another field":    {{Key: "Name", Value: 1}, {Key: "_id", Value: 1}},
	} {
		db := mongotest.Database(t)
		create(t, db, keys, options.Index().SetName("x"))
		require.Equal(t, []Standing{{byName, Missing, byName.Name()}}, plan(t, db, byName), name)
	}
}

func TestATakenNameIsNumbered(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	create(t, db, bson.D{{Key: "other", Value: 1}}, options.Index().SetName(byName.Name()))
	require.Equal(t, []Standing{{byName, Missing, byName.Name() + "_2"}}, plan(t, db, byName))

	create(t, db, bson.D{{Key: "third", Value: 1}}, options.Index().SetName(byName.Name()+"_2"))
	require.Equal(t, []Standing{{byName, Missing, byName.Name() + "_3"}}, plan(t, db, byName))

	require.NoError(t, Apply(t.Context(), db, []Index{byName}, func(Standing) {}))
	require.Equal(t, []Standing{{byName, Ready, byName.Name() + "_3"}}, plan(t, db, byName))
	state := NewState(db, []Index{byName}, clockAt(0))
	require.NoError(t, state.Refresh(t.Context()))
	require.Equal(t, byName.Name()+"_3", state.Hint(byName), "lists hint the name that is there")
}

func TestOtherOptionsAreAConflictForAPersonAndTheRestIsBuilt(t *testing.T) {
	t.Parallel()
	nameKeys, sourceKeys := byName.Keys, unique.Keys
	exists := bson.D{{Key: "name", Value: bson.D{{Key: "$exists", Value: true}}}}
	for name, c := range map[string]struct {
		declared Index
		keys     bson.D
		options  *options.IndexOptionsBuilder
	}{
		"unique":              {byName, nameKeys, options.Index().SetUnique(true)},
		"sparse":              {byName, nameKeys, options.Index().SetSparse(true)},
		"partial":             {byName, nameKeys, options.Index().SetPartialFilterExpression(exists)},
		"collation":           {byName, nameKeys, options.Index().SetCollation(&options.Collation{Locale: "uk"})},
		"not unique":          {unique, sourceKeys, options.Index().SetPartialFilterExpression(unique.Partial)},
		"not partial":         {unique, sourceKeys, options.Index().SetUnique(true)},
		"partial differently": {unique, sourceKeys, options.Index().SetUnique(true).SetPartialFilterExpression(exists)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "collation" {
				mongotest.Needs(t, mongotest.Collation)
			}
			db := mongotest.Database(t)
			create(t, db, c.keys, c.options.SetName("theirs"))
			require.Equal(t, []Standing{{c.declared, Conflict, "theirs"}}, plan(t, db, c.declared))

			var told reports
			err := Apply(t.Context(), db, []Index{c.declared, byScore}, told.add)

			require.ErrorContains(t, err, c.declared.String())
			require.ErrorContains(t, err, `"theirs"`)
			require.Equal(t, []Status{Conflict}, told.of(c.declared))
			require.Equal(t, []Status{Missing, Built}, told.of(byScore))
			require.ElementsMatch(t, []string{"theirs", byScore.Name()}, names(t, db), "nothing is dropped")
			state := NewState(db, []Index{c.declared}, clockAt(0))
			require.NoError(t, state.Look(t.Context()))
			require.Empty(t, state.Hint(c.declared))
			require.ErrorContains(t, state.Unready(), c.declared.String()+" is conflict")
		})
	}
}

func TestOptionsThatSayTheDefaultAreAbsent(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	spelled := options.Index().SetName("x").SetUnique(false).SetSparse(false).SetHidden(false).SetVersion(2)
	if mongotest.Has(t, mongotest.Collation) {
		spelled.SetCollation(&options.Collation{Locale: "simple"})
	}
	create(t, db, byName.Keys, spelled)
	require.Equal(t, []Standing{{byName, Ready, "x"}}, plan(t, db, byName))
}

func TestAHiddenIndexIsLeftToAPerson(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	require.NoError(t, Apply(t.Context(), db, []Index{byName}, func(Standing) {}))
	hide(t, db, byName.Name(), true)
	require.Equal(t, []Standing{{byName, Hidden, byName.Name()}}, plan(t, db, byName))

	err := Apply(t.Context(), db, []Index{byName, byScore}, func(Standing) {})

	require.ErrorContains(t, err, byName.String()+` is hidden as "name_1__id_1"`)
	require.Equal(t, Hidden, plan(t, db, byName)[0].Status, "it is not unhidden")
	require.Equal(t, Ready, plan(t, db, byScore)[0].Status, "the rest is built")

	hide(t, db, byName.Name(), false)
	require.NoError(t, Apply(t.Context(), db, []Index{byName, byScore}, func(Standing) {}))
}

func TestAUniqueIndexThatRowsBreakNamesBothAndTheOthersAreBuilt(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.DuplicatesNamed)
	db := mongotest.Database(t)
	source := bson.D{{Key: "system", Value: "shop"}, {Key: "id", Value: "0017"}}
	first, second := bson.NewObjectID(), bson.NewObjectID()
	_, err := db.Collection("rows").InsertMany(t.Context(), []any{
		bson.D{{Key: "_id", Value: bson.NewObjectID()}, {Key: "source", Value: bson.D{{Key: "system", Value: "shop"}, {Key: "id", Value: "0018"}}}},
		bson.D{{Key: "_id", Value: first}, {Key: "source", Value: source}},
		bson.D{{Key: "_id", Value: bson.NewObjectID()}},
		bson.D{{Key: "_id", Value: second}, {Key: "source", Value: source}},
	})
	require.NoError(t, err)

	var told reports
	err = Apply(t.Context(), db, []Index{byName, unique, byScore}, told.add)

	require.True(t, mongo.IsDuplicateKeyError(err), err)
	for _, part := range []string{unique.String(), first.Hex(), second.Hex(), "0017"} {
		require.ErrorContains(t, err, part)
	}
	require.NotContains(t, err.Error(), byName.String())
	require.Equal(t, []Status{Missing}, told.of(unique))
	require.Equal(t, []Status{Missing, Built}, told.of(byName))
	require.Equal(t, []Status{Missing, Built}, told.of(byScore))
	require.ElementsMatch(t, []string{byName.Name(), byScore.Name()}, names(t, db))
	require.Equal(t, Missing, plan(t, db, unique)[0].Status)

	_, err = db.Collection("rows").DeleteOne(t.Context(), bson.D{{Key: "_id", Value: second}})
	require.NoError(t, err)
	require.NoError(t, Apply(t.Context(), db, []Index{byName, unique, byScore}, told.add), "once the rows differ")
}

func TestObjectsWithoutASourceDoNotCollide(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	require.NoError(t, Apply(t.Context(), db, []Index{unique}, func(Standing) {}))
	rows := db.Collection("rows")
	for range 2 {
		_, err := rows.InsertOne(t.Context(), bson.D{{Key: "name", Value: "x"}})
		require.NoError(t, err)
	}
	row := bson.D{{Key: "source", Value: bson.D{{Key: "system", Value: "shop"}, {Key: "id", Value: "1"}}}}
	_, err := rows.InsertOne(t.Context(), row)
	require.NoError(t, err)
	_, err = rows.InsertOne(t.Context(), row)
	require.True(t, mongo.IsDuplicateKeyError(err), err)
}

func TestSeveralProcessesApplyAtOnce(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.BuildsAtOnce)
	db := mongotest.Database(t)
	for range 50 {
		_, err := db.Collection("rows").InsertOne(t.Context(), bson.D{{Key: "name", Value: "x"}})
		require.NoError(t, err)
	}
	var group sync.WaitGroup
	failures := make([]error, 4)
	for i := range failures {
		group.Go(func() {
			failures[i] = Apply(t.Context(), db, []Index{byName, byScore, unique}, func(Standing) {})
		})
	}
	group.Wait()
	for _, err := range failures {
		require.NoError(t, err)
	}
	require.ElementsMatch(t, []string{byName.Name(), byScore.Name(), unique.Name()}, names(t, db))
}

func TestApplyFailsBeforeItBuildsWhereItCannotLook(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var told reports
	err := Apply(ctx, db, []Index{byName}, told.add)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "list the indexes of rows")
	require.Empty(t, told)
}

func TestExplainShowsThePlanOfAFind(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.ExplainPlans)
	db := mongotest.Database(t)
	require.NoError(t, Apply(t.Context(), db, []Index{byName}, func(Standing) {}))
	_, err := db.Collection("rows").InsertOne(t.Context(), bson.D{{Key: "name", Value: "x"}})
	require.NoError(t, err)
	find := func(more ...bson.E) bson.D { return append(bson.D{{Key: "find", Value: "rows"}}, more...) }
	order := bson.E{Key: "sort", Value: bson.D{{Key: "name", Value: -1}, {Key: "_id", Value: -1}}}

	good, err := Explain(t.Context(), db, find(order, bson.E{Key: "hint", Value: byName.Name()}))
	require.NoError(t, err)
	require.Equal(t, []string{byName.Name()}, good.Indexes)
	require.Contains(t, good.Stages, "IXSCAN")
	require.False(t, good.Blocks(), good)

	whole, err := Explain(t.Context(), db, find(bson.E{Key: "hint", Value: bson.D{{Key: "$natural", Value: 1}}}))
	require.NoError(t, err)
	require.Contains(t, whole.Stages, "COLLSCAN")
	require.Empty(t, whole.Indexes)
	require.True(t, whole.Blocks(), whole)

	sorted, err := Explain(t.Context(), db, find(bson.E{Key: "sort", Value: bson.D{{Key: "kind", Value: 1}}}))
	require.NoError(t, err)
	require.Contains(t, sorted.Stages, "SORT")
	require.True(t, sorted.Blocks(), sorted)

	_, err = Explain(t.Context(), db, find(bson.E{Key: "hint", Value: "no such index"}))
	require.Error(t, err)
}
