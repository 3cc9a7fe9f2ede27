package pagination

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"pgregory.net/rapid"

	"catalogue/internal/mongotest"
	"catalogue/internal/testenv"
)

// How many drawn collections are walked on the server; rapid runs 100 a call.
const (
	serverSets     = 300
	serverSetsSoak = 10_000
)

// ordinary are values of each kind with many ties; stray are values of every type that a server lets into an indexed
// field. Symbol, undefined and DBPointer are deprecated and not among them.
var (
	ordinary = map[Kind][]any{
		Number: {int32(1), int64(1), 1.0, 1.5, int32(2), -1.0, math.Copysign(0, -1), int32(0), math.Inf(1), math.Inf(-1)},
		String: {"", "a", "a", "b", "é", "e\u0301"},
		Date:   {bson.DateTime(0), bson.DateTime(1), bson.DateTime(1), bson.DateTime(math.MinInt64)},
	}
	stray = []any{
		"text", "", true, false, int32(7), 7.5, bson.DateTime(7),
		bson.Timestamp{T: 7},
		bson.ObjectID{7},
		bson.Binary{Data: []byte{7}},
		bson.Regex{Pattern: "7"},
		bson.JavaScript("7"),
		bson.D{{Key: "a", Value: 7}},
		bson.MinKey{},
		bson.MaxKey{},
		bson.CodeWithScope{Code: "7", Scope: bson.D{}},
	}
)

// shapes are what a server may not serve right.
type shapes struct {
	nulls bool // beside missing fields
	nan   bool
	empty bool // documents
}

func served(t *testing.T) shapes {
	t.Helper()
	return shapes{
		nulls: mongotest.Has(t, mongotest.NullsAsMissing),
		nan:   mongotest.Has(t, mongotest.NaN),
		empty: mongotest.Has(t, mongotest.EmptyDocuments),
	}
}

func (s shapes) strays() []any {
	out := slices.Clone(stray)
	if s.nan {
		out = append(out, math.NaN())
	}
	if s.empty {
		out = append(out, bson.D{})
	}
	return out
}

// drawDocument makes a document whose field at the path is a value, null, missing, under a null parent, or a stray.
func (s shapes) drawDocument(t *rapid.T, n int, sort Sort, parent string) bson.D {
	doc := bson.D{{Key: "_id", Value: oid(n)}}
	leaf := func(v any) bson.D {
		if parent == "" {
			return append(doc, bson.E{Key: sort.Field, Value: v})
		}
		return append(doc, bson.E{Key: parent, Value: bson.D{{Key: sort.Field[len(parent)+1:], Value: v}}})
	}
	switch k := rapid.IntRange(0, 10).Draw(t, "form"); {
	case k == 10 && s.nulls && parent != "":
		return append(doc, bson.E{Key: parent, Value: nil})
	case k >= 9 && s.nulls:
		return leaf(nil)
	case k >= 8:
		return doc
	case k == 7 && parent != "":
		return append(doc, bson.E{Key: parent, Value: rapid.SampledFrom([]any{bson.D{}, "no document"}).Draw(t, "parent")})
	case k >= 5:
		return leaf(rapid.SampledFrom(s.strays()).Draw(t, "stray"))
	default:
		return leaf(rapid.SampledFrom(ordinary[sort.Kind]).Draw(t, "value"))
	}
}

// fill puts up to 24 drawn documents into an emptied collection, their ids in a drawn order.
func (s shapes) fill(t *rapid.T, coll *mongo.Collection, sort Sort, parent string) int {
	_, err := coll.DeleteMany(t.Context(), bson.D{})
	require.NoError(t, err)
	numbers := rapid.SliceOfNDistinct(rapid.IntRange(0, 1000), 0, 24, rapid.ID[int]).Draw(t, "ids")
	docs := make([]bson.D, 0, len(numbers))
	for _, n := range numbers {
		docs = append(docs, s.drawDocument(t, n, sort, parent))
	}
	insert(t, coll, docs...)
	return len(docs)
}

func TestEveryWalkOnTheServerEqualsTheSortedListProperty(t *testing.T) {
	t.Parallel()
	draws := served(t)
	sets := testenv.Draws(t, serverSets, serverSetsSoak)
	for _, c := range []struct {
		sort   Sort
		parent string
	}{
		{score, ""}, {name, ""}, {at, ""}, {spend, "metrics"},
	} {
		t.Run(c.sort.Field, func(t *testing.T) {
			t.Parallel()
			coll := collection(t, c.sort)
			property := func(t *rapid.T) {
				n := draws.fill(t, coll, c.sort, c.parent)
				limits := rapid.SliceOfNDistinct(rapid.IntRange(1, n+2), 1, min(3, n+2), rapid.ID[int]).Draw(t, "limits")
				requireWalks(t, coll, c.sort, limits...)
			}
			for range max(1, sets/4/100) {
				rapid.Check(t, property)
			}
		})
	}
}
