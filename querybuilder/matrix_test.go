package querybuilder

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/instant"
	"catalogue/internal/mongotest"
)

// requireModel compares one rule's rows on the server with those of the model.
func requireModel(t testing.TB, coll *mongo.Collection, docs []bson.Raw, s spec, zone *time.Location) {
	t.Helper()
	var want, got []int32
	for _, doc := range docs {
		if evaluate(t, drawSchema(), s, doc, zone) {
			want = append(want, doc.Lookup("_id").Int32())
		}
	}
	document := mustJSON(t, s.whole(react))
	filter, err := drawSchema().Parse([]byte(document), zone)
	require.NoError(t, err, document)
	query := filter.Compile(now)
	requireOnlyOurs(t, drawSchema(), query)
	for _, doc := range mongotest.Everything(t, coll, query) {
		got = append(got, doc.Lookup("_id").Int32())
	}
	require.Equal(t, want, got, document)
}

// storedRows puts documents in and returns them as the server has them.
func storedRows(t testing.TB, docs []bson.D) (*mongo.Collection, []bson.Raw) {
	t.Helper()
	coll := insert(t, docs...)
	out := make([]bson.Raw, 0, len(docs))
	for _, doc := range docs {
		raw, err := bson.Marshal(doc)
		require.NoError(t, err)
		out = append(out, raw)
	}
	return coll, out
}

// valuesOf are the JSON values of a rule on a field of the kind.
func valuesOf(k Kind) []any {
	var out []any
	add := func(texts []string) {
		for _, s := range texts {
			out = append(out, s)
		}
	}
	switch k {
	case Number:
		add(numbers)
	case Date:
		add(dates)
	case Bool:
		out = []any{true, "false"}
	case ID:
		add(ids)
	default:
		add(texts)
	}
	return out
}

// Every operator of every kind, with every value, on a document for each value that is stored.
func TestEveryOperatorOnEveryStoredValue(t *testing.T) {
	t.Parallel()
	zone, err := instant.ParseZone("Europe/Kyiv")
	require.NoError(t, err)
	docs := []bson.D{{{Key: "_id", Value: -1}}}
	for i, v := range storedValues(t) {
		doc := bson.D{{Key: "_id", Value: i}}
		for _, name := range []string{"s", "e", "n", "d", "b", "o", "l"} {
			doc = append(doc, bson.E{Key: name, Value: v})
		}
		docs = append(docs, append(doc, bson.E{Key: "p", Value: bson.D{
			{Key: "s", Value: v}, {Key: "n", Value: v}, {Key: "d", Value: v},
		}}))
	}
	coll, rows := storedRows(t, docs)
	for _, f := range drawSchema().Fields {
		for _, op := range operatorsOf(f.Kind) {
			values := valuesOf(f.Kind)
			for i, v := range values {
				s := spec{field: f.Name, op: op, value: v}
				switch {
				case op >= LastDays && op <= NextDays:
					s.value = 1 + i
				case op >= Null && i > 0:
					continue
				case op == In || op == NotIn || op == Between || op == NotBetween:
					s.value = []any{v, values[(i*5+1)%len(values)]}
				}
				requireModel(t, coll, rows, s, zone)
			}
		}
	}
}

// Every operator between two fields, on a document for each two stored values.
func TestEveryOperatorBetweenFields(t *testing.T) {
	t.Parallel()
	pairs := [][]string{{"s", "p.s", "e"}, {"n", "p.n"}, {"d", "p.d"}, {"b"}, {"o"}}
	values := storedValues(t)
	for _, fields := range pairs {
		var docs []bson.D
		for i, v := range values {
			for j, w := range values {
				doc := bson.D{{Key: "_id", Value: len(docs)}}
				for _, name := range []string{"s", "n", "d", "b", "o"} {
					doc = append(doc, bson.E{Key: name, Value: v})
				}
				if (i+j)%7 > 0 || i == j {
					doc = append(doc, bson.E{Key: "e", Value: values[(i+3*j)%len(values)]},
						bson.E{Key: "p", Value: bson.D{{Key: "s", Value: w}, {Key: "n", Value: w}, {Key: "d", Value: w}}})
				}
				docs = append(docs, doc)
			}
		}
		coll, rows := storedRows(t, docs)
		for _, field := range fields {
			f, _ := drawSchema().Field(field)
			for _, op := range operatorsOf(f.Kind) {
				if op >= Null {
					continue
				}
				s := spec{field: field, op: op, value: fields[(slices.Index(fields, field)+1)%len(fields)], other: true}
				if op == In || op == NotIn || op == Between || op == NotBetween {
					s.value = []any{fields[len(fields)-1], fields[0]}
				}
				requireModel(t, coll, rows, s, time.UTC)
			}
		}
	}
}
