package querybuilder

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"pgregory.net/rapid"

	"catalogue/internal/instant"
	"catalogue/internal/mongotest"
	"catalogue/internal/testenv"
)

// How many drawn trees are run on the server; rapid draws 100 collections a call, each for several trees.
const (
	trees        = 2_500
	treesSoak    = 50_000
	treesPerSet  = 25
	setsPerCheck = 100
)

// drawDocument makes a document in which each field is of its kind, of another, null, missing, or below a parent that
// is no document.
func drawDocument(t *rapid.T, n int, values []any) bson.D {
	doc := bson.D{{Key: "_id", Value: n}}
	fill := func(into bson.D, names ...string) bson.D {
		for _, name := range names {
			if rapid.IntRange(0, 7).Draw(t, "missing") > 0 {
				into = append(into, bson.E{Key: name, Value: rapid.SampledFrom(values).Draw(t, name)})
			}
		}
		return into
	}
	doc = fill(doc, "s", "e", "n", "d", "b", "o", "l")
	switch rapid.IntRange(0, 9).Draw(t, "parent") {
	case 0:
		return doc
	case 1:
		return append(doc, bson.E{Key: "p", Value: rapid.SampledFrom([]any{nil, bson.D{}, "text"}).Draw(t, "p")})
	default:
		return append(doc, bson.E{Key: "p", Value: fill(bson.D{}, "s", "n", "d")})
	}
}

func TestTheServerAnswersAsTheModelProperty(t *testing.T) {
	t.Parallel()
	zone, err := instant.ParseZone("Europe/Kyiv")
	require.NoError(t, err)
	schema := drawSchema()
	values := storedValues(t)
	coll := mongotest.Database(t).Collection("rows")
	property := func(t *rapid.T) {
		docs := replaceAll(t, coll, values)
		for range treesPerSet {
			s := drawSpec(t, schema, 3)
			var want []int32
			for _, doc := range docs {
				if evaluate(t, schema, s, doc, zone) {
					want = append(want, doc.Lookup("_id").Int32())
				}
			}
			f := rapid.SampledFrom([]format{react, jquery}).Draw(t, "format")
			document := mustJSON(t, s.whole(f))
			filter, err := schema.Parse([]byte(document), zone)
			require.NoError(t, err, document)
			var got []int32
			for _, doc := range mongotest.Everything(t, coll, filter.Compile(now)) {
				got = append(got, doc.Lookup("_id").Int32())
			}
			require.Equal(t, want, got, "%s\n%s\n%v", document, filter.Canonical(), docs)
		}
	}
	for range max(1, testenv.Draws(t, trees, treesSoak)/treesPerSet/setsPerCheck) {
		rapid.Check(t, property)
	}
}

func replaceAll(t *rapid.T, coll *mongo.Collection, values []any) []bson.Raw {
	_, err := coll.DeleteMany(context.Background(), bson.D{})
	require.NoError(t, err)
	n := rapid.IntRange(1, 12).Draw(t, "documents")
	docs := make([]bson.Raw, 0, n)
	for i := range n {
		doc, err := bson.Marshal(drawDocument(t, i, values))
		require.NoError(t, err)
		docs = append(docs, doc)
	}
	_, err = coll.InsertMany(context.Background(), docs)
	require.NoError(t, err)
	return docs
}
