package strictbson

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"
)

// bare has a field of each kind without omitempty, so that absence has to be written.
type bare struct {
	ID     bson.ObjectID     `bson:"_id"    json:"id"`
	Text   string            `bson:"text"   json:"te<xt"`
	Number *int64            `bson:"number" json:"number"`
	Texts  []string          `bson:"texts"  json:"texts"`
	Map    map[string]string `bson:"map"    json:"map"`
	Inner  *half             `bson:"inner"  json:"inner"`
	Flat   inner             `bson:"flat"   json:"flat"`
	Hidden string            `bson:"hidden" json:"-"`
}

// half is shown in part. Where it has nothing but what is hidden, it is there all the same.
type half struct {
	URL    string  `bson:"url"             json:"url"`
	Hidden *string `bson:"score,omitempty" json:"-"`
	Digest string  `bson:"width,omitempty" json:"-"`
}

// asEncodingJSON is what JSON promises to be equal to.
func asEncodingJSON(t require.TestingT, item any) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(item))
	return string(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
}

func requireTheSame[T any](t require.TestingT, d *Decoder[T], doc bson.Raw) {
	item, misfits := d.Decode(doc)
	text, named := d.JSON(doc)
	require.Equal(t, asEncodingJSON(t, item), string(text))
	if len(misfits) < maxMisfits { // of too many, each names others
		slices.Sort(misfits)
		slices.Sort(named)
		require.Equal(t, strings.Join(misfits, " "), strings.Join(named, " "))
	}
}

func TestJSONIsThatOfTheItemForEveryTypeInEveryField(t *testing.T) {
	t.Parallel()
	rows, bares := New[row](), New[bare]()
	for _, c := range values(t) {
		for _, field := range append([]string{"number", "hidden", "last"}, fieldNames...) {
			for _, doc := range []bson.D{
				{{Key: field, Value: c.value}},
				{{Key: field, Value: c.value}, {Key: field, Value: "again"}},
				{{Key: "inner", Value: bson.D{{Key: "url", Value: c.value}, {Key: "deep", Value: bson.D{{Key: "score", Value: c.value}}}}}},
				{{Key: "texts", Value: bson.A{c.value, "a", c.value}}},
				{{Key: "map", Value: bson.D{{Key: "b", Value: c.value}, {Key: "a", Value: "<&>"}, {Key: "b", Value: "x"}}}},
			} {
				raw := marshal(t, doc)
				requireTheSame(t, rows, raw)
				requireTheSame(t, bares, raw)
			}
		}
	}
}

func TestJSONWritesTextsAndNumbersAsEncodingJSONDoes(t *testing.T) {
	t.Parallel()
	d := New[row]()
	for _, text := range []string{
		"", "a", `"`, `\`, "\b\f\n\r\t", "\x00\x1f\x7f", "<script>&", "é e\u0301 — 🎨", "\u2028", "x\u2029", "\u2027\u202a", "\uFFFD", "\U0010FFFF", "\xe2\x80", "\xed\xa0\x80",
	} {
		requireTheSame(t, d, marshal(t, bson.D{{Key: "text", Value: text}, {Key: "map", Value: bson.D{{Key: "k" + strings.ReplaceAll(text, "\x00", ""), Value: text}}}}))
	}
	for _, f := range []float64{
		0, math.Copysign(0, -1), 1, -1.5, 1e-6, 9.99e-7, 1e20, 1e21, 1.7976931348623157e308, 5e-324, 0.1, 1 << 53, -1e-9, 123456789.125,
	} {
		requireTheSame(t, d, marshal(t, bson.D{{Key: "float", Value: f}, {Key: "integer", Value: f}}))
	}
}

func TestJSONOfTheZeroDocument(t *testing.T) {
	t.Parallel()
	requireTheSame(t, New[row](), nil)
	requireTheSame(t, New[bare](), nil)
	hidden, _ := New[bare]().JSON(marshal(t, bson.D{{Key: "inner", Value: bson.D{{Key: "width", Value: "x"}}}}))
	require.Contains(t, string(hidden), `"inner":{"url":""}`)
	text, misfits := New[bare]().JSON(marshal(t, bson.D{{Key: "inner", Value: bson.D{}}}))
	require.Empty(t, misfits)
	require.JSONEq(t, `{"id":"000000000000000000000000","te<xt":"","number":null,"texts":null,"map":null,"inner":null,"flat":{}}`, string(text))
}

func TestJSONIsThatOfTheItemWhateverIsStoredProperty(t *testing.T) {
	t.Parallel()
	rows, bares := New[row](), New[bare]()
	names := rapid.SampledFrom([]string{
		"_id", "ref", "text", "plain", "integer", "float", "flag", "at", "texts", "map", "inner", "flat", "number", "url", "width", "deep", "score", "last", "x",
	})
	var stored *rapid.Generator[any]
	document := rapid.Custom(func(t *rapid.T) bson.D {
		doc := bson.D{}
		for range rapid.IntRange(0, 8).Draw(t, "fields") {
			doc = append(doc, bson.E{Key: names.Draw(t, "name"), Value: stored.Draw(t, "value")})
		}
		return doc
	})
	stored = rapid.OneOf(
		rapid.String().AsAny(), rapid.Int64().AsAny(), rapid.Int32().AsAny(), rapid.Float64().AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil),
		rapid.Just[any](id), rapid.Map(rapid.Int64(), func(ms int64) any { return bson.DateTime(ms) }),
		rapid.Map(rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[any] { return stored }), 0, 3), func(a []any) any { return bson.A(a) }),
		rapid.Map(rapid.Deferred(func() *rapid.Generator[bson.D] { return document }), func(d bson.D) any { return d }),
	)
	rapid.Check(t, func(t *rapid.T) {
		doc := marshal(t, document.Draw(t, "document"))
		for range rapid.IntRange(0, 2).Draw(t, "damaged bytes") {
			doc[rapid.IntRange(0, len(doc)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		requireTheSame(t, rows, doc)
		requireTheSame(t, bares, doc)
	})
}

func FuzzJSON(f *testing.F) {
	rows, bares := New[row](), New[bare]()
	for _, c := range values(f) {
		for _, field := range fieldNames {
			f.Add([]byte(marshal(f, bson.D{{Key: field, Value: c.value}})))
		}
	}
	f.Add(binary.LittleEndian.AppendUint32(nil, 5))
	f.Fuzz(func(t *testing.T, doc []byte) {
		requireTheSame(t, rows, doc)
		requireTheSame(t, bares, doc)
	})
}
