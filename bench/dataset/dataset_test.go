package dataset_test

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/bench/dataset"
	"catalogue/creatives"
	"catalogue/indexes"
	"catalogue/internal/mongotest"
)

func TestMain(m *testing.M) { os.Exit(mongotest.Main(m)) }

func prepare(t *testing.T, db *mongo.Database, rows int) (d *dataset.Dataset, steps []int) {
	t.Helper()
	d, err := dataset.PrepareIn(t.Context(), db, rows, func(done int) { steps = append(steps, done) })
	require.NoError(t, err)
	require.Equal(t, rows, d.Rows)
	n, err := d.Creatives().CountDocuments(t.Context(), bson.D{})
	require.NoError(t, err)
	require.Equal(t, int64(rows), n)
	return d, steps
}

// scratch leaves a trace in the data, which is gone when it was made anew.
func scratch(t *testing.T, d *dataset.Dataset) (kept func() bool) {
	t.Helper()
	_, err := d.Database.Collection("scratch").InsertOne(t.Context(), bson.D{})
	require.NoError(t, err)
	return func() bool {
		n, err := d.Database.Collection("scratch").CountDocuments(t.Context(), bson.D{})
		require.NoError(t, err)
		return n == 1
	}
}

func TestADatasetIsWholeAndUsedAgain(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	d, first := prepare(t, db, 300)
	require.Equal(t, 300, first[len(first)-1])
	require.Greater(t, len(first), 10, "a step for each index")
	require.True(t, slices.IsSorted(first), "%v", first)
	standings, err := indexes.Plan(t.Context(), db, creatives.Indexes())
	require.NoError(t, err)
	for _, s := range standings {
		require.Equal(t, indexes.Ready, s.Status, s.Index)
		require.Equal(t, s.Index.Name(), s.Name)
	}
	kept := scratch(t, d)
	_, again := prepare(t, db, 300)
	require.True(t, kept())
	require.Equal(t, []int{300}, again)
}

func TestADatasetIsMadeAnewWhereItIsNotWhole(t *testing.T) {
	t.Parallel()
	markers := func(d *dataset.Dataset) *mongo.Collection { return d.Database.Collection("bench_datasets") }
	for name, spoil := range map[string]func(t *testing.T, d *dataset.Dataset){
		"half made": func(t *testing.T, d *dataset.Dataset) {
			t.Helper()
			_, err := markers(d).DeleteOne(t.Context(), bson.D{})
			require.NoError(t, err)
			_, err = d.Creatives().DeleteMany(t.Context(), bson.D{{Key: "status", Value: "active"}})
			require.NoError(t, err)
		},
		"made for other indexes": func(t *testing.T, d *dataset.Dataset) {
			t.Helper()
			_, err := markers(d).UpdateOne(t.Context(), bson.D{}, bson.D{{Key: "$set", Value: bson.D{{Key: "indexes", Value: "others"}}}})
			require.NoError(t, err)
		},
		"made by an older version": func(t *testing.T, d *dataset.Dataset) {
			t.Helper()
			_, err := markers(d).UpdateOne(t.Context(), bson.D{}, bson.D{{Key: "$inc", Value: bson.D{{Key: "version", Value: -1}}}})
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := mongotest.Database(t)
			d, _ := prepare(t, db, 200)
			kept := scratch(t, d)
			spoil(t, d)
			prepare(t, db, 200)
			require.False(t, kept())
		})
	}
	t.Run("of another size", func(t *testing.T) {
		t.Parallel()
		db := mongotest.Database(t)
		prepare(t, db, 200)
		prepare(t, db, 150)
	})
}

// More rows than one part, by several loaders: none is lost or made twice.
func TestPartsMakeOneSet(t *testing.T) {
	t.Parallel()
	d, _ := prepare(t, mongotest.Database(t), 5_100)
	last, err := d.Creatives().CountDocuments(t.Context(), bson.D{{Key: "name", Value: bson.D{{Key: "$regex", Value: "#50[0-9][0-9]$"}}}})
	require.NoError(t, err)
	require.Positive(t, last, "rows of the second part")
}

func TestAbsentValuesAreLeftOut(t *testing.T) {
	t.Parallel()
	d, _ := prepare(t, mongotest.Database(t), 300)
	for _, field := range []string{"name", "created_at", "launched_at", "media", "metrics", "metrics.spend", "media.thumbnail_url"} {
		absent := bson.D{{Key: field, Value: bson.D{{Key: "$exists", Value: false}}}}
		missing, err := d.Creatives().CountDocuments(t.Context(), absent)
		require.NoError(t, err)
		require.Positive(t, missing, field)
		nulls, err := d.Creatives().CountDocuments(t.Context(), bson.D{{Key: field, Value: bson.D{{Key: "$type", Value: "null"}}}})
		require.NoError(t, err)
		require.Zero(t, nulls, field)
	}
}

func TestPrepareNamesTheDatabaseByItsSize(t *testing.T) {
	t.Parallel()
	client := mongotest.Database(t).Client()
	const rows = 77 // no size that anybody measures
	d, err := dataset.Prepare(t.Context(), client, rows, func(int) {})
	require.NoError(t, err)
	require.Equal(t, "bench_77", d.Database.Name())
	require.NoError(t, d.Database.Drop(t.Context()))
}
