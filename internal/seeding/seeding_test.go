package seeding_test

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"catalogue/internal/mongodb"
	"catalogue/internal/mongotest"
	"catalogue/internal/seeding"
)

func TestMain(m *testing.M) { os.Exit(mongotest.Main(m)) }

var collections = []string{"creatives", "tasks", "comments", "history"}

func seed(t *testing.T, db *mongo.Database, o seeding.Options) seeding.Summary {
	t.Helper()
	seeder, err := seeding.New(db, o, func(int) {})
	require.NoError(t, err)
	summary, err := seeder.Run(t.Context())
	require.NoError(t, err)
	return summary
}

func contents(t *testing.T, db *mongo.Database, collection string) []bson.Raw {
	t.Helper()
	cursor, err := db.Collection(collection).Find(t.Context(), bson.D{}, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}))
	require.NoError(t, err)
	var docs []bson.Raw
	require.NoError(t, cursor.All(t.Context(), &docs))
	return docs
}

// withoutStamps are the documents less what depends on when they were written.
func withoutStamps(t *testing.T, docs []bson.Raw) []bson.D {
	t.Helper()
	out := make([]bson.D, 0, len(docs))
	for _, raw := range docs {
		var doc bson.D
		require.NoError(t, bson.Unmarshal(raw, &doc))
		out = append(out, slices.DeleteFunc(doc, func(e bson.E) bool {
			return e.Key == "dateModified" || e.Key == "public_modified"
		}))
	}
	return out
}

func TestObjectsAreStampedAsTheirWriterWouldHaveStampedThem(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	before, err := mongodb.ServerTime(t.Context(), db)
	require.NoError(t, err)
	seed(t, db, seeding.Options{Creatives: 1200, Tasks: 150, Seed: 7})
	after, err := mongodb.ServerTime(t.Context(), db)
	require.NoError(t, err)
	modes := map[bson.ObjectID]string{}
	for _, task := range contents(t, db, "tasks") {
		modes[task.Lookup("_id").ObjectID()] = task.Lookup("mode").StringValue()
	}
	feeds := map[string]int{}
	for _, name := range []string{"creatives", "tasks", "comments"} {
		for _, doc := range contents(t, db, name) {
			require.Equal(t, int64(1), doc.Lookup("rev").Int64())
			at := doc.Lookup("dateModified").Time()
			require.False(t, at.Before(before) || at.After(after))
			require.InDelta(t, float64(at.UnixMilli())/1000, doc.Lookup("public_modified").Double(), 0)
			mode := doc.Lookup("mode").StringValue()
			if name == "comments" {
				require.Equal(t, modes[doc.Lookup("entity_id").ObjectID()], mode)
			}
			feed, shown := doc.Lookup("feed").StringValueOK()
			if status, _ := doc.Lookup("status").StringValueOK(); status == "draft" {
				require.False(t, shown)
				feed = "none"
			} else {
				require.Equal(t, mode, feed)
			}
			feeds[feed]++
		}
	}
	require.Len(t, feeds, 3, "live, test and none: %v", feeds)
}

func TestOneSeedGivesOneSetOfData(t *testing.T) {
	t.Parallel()
	a, b, c := mongotest.Database(t), mongotest.Database(t), mongotest.Database(t)
	o := seeding.Options{Creatives: 1200, Tasks: 150, Seed: 7}
	summary := seed(t, a, o)
	require.Equal(t, 1200, summary.Inserted["creatives"])
	require.Equal(t, 150, summary.Inserted["tasks"])
	require.Equal(t, summary.Total(), summary.Inserted["creatives"]+summary.Inserted["tasks"]+summary.Inserted["comments"]+summary.Inserted["history"])
	seed(t, b, o)
	seed(t, c, seeding.Options{Creatives: 1200, Tasks: 150, Seed: 8})
	for _, name := range collections {
		want := withoutStamps(t, contents(t, a, name))
		require.Equal(t, want, withoutStamps(t, contents(t, b, name)), name)
		require.NotEqual(t, want, withoutStamps(t, contents(t, c, name)), name)
	}
}

func TestASecondRunAddsNothingAndALargerOneAddsTheRest(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	first := seed(t, db, seeding.Options{Creatives: 100, Tasks: 20, Seed: 1})
	again := seed(t, db, seeding.Options{Creatives: 100, Tasks: 20, Seed: 1})
	require.Zero(t, again.Total())
	require.Equal(t, first.Total(), again.Present)
	more := seed(t, db, seeding.Options{Creatives: 130, Tasks: 20, Seed: 1})
	require.Equal(t, 30, more.Total())
}

func TestTheShapesThatHurtAreThere(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	seed(t, db, seeding.Options{Creatives: 2000, Tasks: 200, Seed: 1})
	for name, c := range map[string]struct {
		collection string
		filter     bson.D
	}{
		"null metrics":        {"creatives", bson.D{{Key: "metrics", Value: bson.D{{Key: "$type", Value: "null"}}}}},
		"empty metrics":       {"creatives", bson.D{{Key: "metrics", Value: bson.D{}}}},
		"null spend":          {"creatives", bson.D{{Key: "metrics.spend", Value: bson.D{{Key: "$type", Value: "null"}}}}},
		"no metrics":          {"creatives", bson.D{{Key: "metrics", Value: bson.D{{Key: "$exists", Value: false}}}}},
		"tied spend":          {"creatives", bson.D{{Key: "metrics.spend", Value: 100.0}}},
		"no name":             {"creatives", bson.D{{Key: "name", Value: nil}}},
		"decomposed accent":   {"creatives", bson.D{{Key: "name", Value: bson.Regex{Pattern: "E\u0301te\u0301"}}}},
		"emoji":               {"creatives", bson.D{{Key: "name", Value: bson.Regex{Pattern: "🎨"}}}},
		"task without a date": {"tasks", bson.D{{Key: "created_at", Value: nil}}},
		"no creative":         {"tasks", bson.D{{Key: "creative_id", Value: bson.D{{Key: "$exists", Value: false}}}}},
	} {
		n, err := db.Collection(c.collection).CountDocuments(t.Context(), c.filter)
		require.NoError(t, err)
		require.Positive(t, n, name)
	}
	var long struct{ N int64 }
	require.NoError(t, aggregateOne(t, db.Collection("comments"), &long))
	require.Greater(t, long.N, int64(50), "one thread is longer than a page")
}

func aggregateOne(t *testing.T, coll *mongo.Collection, into any) error {
	t.Helper()
	cursor, err := coll.Aggregate(t.Context(), bson.A{
		bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$entity_id"}, {Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}}}}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "n", Value: -1}}}},
		bson.D{{Key: "$limit", Value: 1}},
	})
	require.NoError(t, err)
	defer func() { _ = cursor.Close(context.Background()) }()
	require.True(t, cursor.Next(t.Context()))
	return cursor.Decode(into)
}

func TestEmptyLooksAtCreativesAndTasks(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	empty, err := seeding.Empty(t.Context(), db)
	require.NoError(t, err)
	require.True(t, empty)
	seed(t, db, seeding.Options{Tasks: 1, Seed: 1})
	empty, err = seeding.Empty(t.Context(), db)
	require.NoError(t, err)
	require.False(t, empty)
}

func TestSizesOutOfRangeAreRefused(t *testing.T) {
	t.Parallel()
	for _, o := range []seeding.Options{{Creatives: -1}, {Tasks: -1}, {Creatives: seeding.MaxDocuments + 1}} {
		_, err := seeding.New(nil, o, nil)
		require.Error(t, err)
	}
}
