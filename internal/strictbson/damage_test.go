package strictbson

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"
)

func TestWhatWasReadBeforeTheDamageCounts(t *testing.T) {
	t.Parallel()
	doc := marshal(t, bson.D{{Key: "text", Value: "t"}, {Key: "integer", Value: int32(5)}, {Key: "last", Value: "l"}})

	got, misfits := New[row]().Decode(doc[:len(doc)-4])
	require.Equal(t, row{Text: new("t"), Integer: new(int64(5))}, got, "cut short")
	require.Equal(t, []string{""}, misfits)

	// The strange type of the second field hides its length: nothing behind it can be found.
	odd := bytes.Replace(doc, []byte("\x10integer"), []byte("\x77integer"), 1)
	got, misfits = New[row]().Decode(odd)
	require.Equal(t, row{Text: new("t")}, got, "unknown type")
	require.Equal(t, []string{""}, misfits)
}

func TestDamageInsideOfAFieldStaysThere(t *testing.T) {
	t.Parallel()
	doc := marshal(t, bson.D{
		{Key: "unknown", Value: bson.D{{Key: "x", Value: int32(1)}}},
		{Key: "inner", Value: bson.D{{Key: "url", Value: "u"}, {Key: "width", Value: int32(7)}}},
		{Key: "texts", Value: bson.A{"a", int32(8)}},
		{Key: "map", Value: bson.D{{Key: "k", Value: "v"}, {Key: "y", Value: int32(9)}}},
		{Key: "last", Value: "l"},
	})
	for _, name := range []string{"\x10x", "\x10width", "\x101", "\x10y"} {
		require.Equal(t, 1, bytes.Count(doc, []byte(name)))
		doc = bytes.Replace(doc, []byte(name), []byte("\x77"+name[1:]), 1)
	}
	got, misfits := New[row]().Decode(doc)
	require.Equal(t, row{
		Inner: &inner{URL: new("u")}, Texts: []string{"a"}, Map: map[string]string{"k": "v"}, Last: new("l"),
	}, got)
	require.Equal(t, []string{"inner", "texts", "map"}, misfits)
}

func TestLengthsThatLieDoNotPanic(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]any{
		"text": "abc", "document": bson.D{{Key: "a", Value: "b"}}, "array": bson.A{"a"}, "binary": bson.Binary{Data: []byte("abc")},
		"code": bson.JavaScript("a"), "symbol": bson.Symbol("a"), "scope": bson.CodeWithScope{Code: "a", Scope: bson.D{}},
		"pointer": bson.DBPointer{DB: "a", Pointer: id},
	} {
		for _, field := range []string{"text", "inner", "texts", "map", "unknown"} {
			doc := marshal(t, bson.D{{Key: field, Value: value}, {Key: "last", Value: "l"}})
			at := bytes.Index(doc, []byte(field)) + len(field) + 1
			for _, length := range []int64{math.MaxInt32, math.MaxInt32 - 3, math.MaxInt32 - 16, -1, math.MinInt32, 0, 1, 3, 4, 5, 1 << 20} {
				binary.LittleEndian.PutUint32(doc[at:], uint32(length))
				require.NotPanics(t, func() { New[row]().Decode(doc) }, "%s in %s: %d", name, field, length)
			}
		}
	}
	for _, doc := range []string{"\x00", "\x05\x00\x00\x00", "\x00\x00\x00\x00", "\xff\xff\xff\xff\x00", "\xff\xff\xff\x7f\x00", "\x04\x00\x00\x00\x00"} {
		_, misfits := New[row]().Decode(bson.Raw(doc))
		require.Equal(t, []string{""}, misfits, "%q", doc)
	}
	_, misfits := New[row]().Decode(nil)
	require.Empty(t, misfits)
}

func TestDocumentsAreReadAsDeepAsTheirTypeOnly(t *testing.T) {
	t.Parallel()
	doc := marshal(t, bson.D{})
	for range 2000 { // the bytes of a document in a document in a document
		doc = marshal(t, bson.D{{Key: "deep", Value: doc}})
	}
	doc = marshal(t, bson.D{{Key: "inner", Value: doc}, {Key: "map", Value: doc}, {Key: "unknown", Value: doc}, {Key: "last", Value: "l"}})
	got, misfits := New[row]().Decode(doc)
	require.Equal(t, row{Last: new("l")}, got)
	require.Equal(t, []string{"map.deep"}, misfits)
}

func TestTypesThatCannotBeDecodedAreFoundAtTheStart(t *testing.T) {
	t.Parallel()
	require.Panics(t, func() { New[struct{ Name string }]() }, "no name")
	require.Panics(t, func() {
		New[struct {
			N uint8 `bson:"n"`
		}]()
	}, "no setter")
	require.Panics(t, func() {
		New[struct {
			A string `bson:"a"`
			B string `bson:"a,omitempty"`
		}]()
	}, "one name twice")
	require.Panics(t, func() {
		New[struct {
			name string `bson:"name"`
		}]()
	}, "a field that cannot be set")
}

func TestADecoderServesManyAtOnce(t *testing.T) {
	t.Parallel()
	d := New[row]()
	doc := marshal(t, bson.D{{Key: "text", Value: "t"}, {Key: "inner", Value: bson.D{{Key: "width", Value: "no"}}}})
	done := make(chan []string)
	for range 8 {
		go func() {
			_, misfits := d.Decode(doc)
			done <- misfits
		}()
	}
	for range 8 {
		require.Equal(t, []string{"inner.width"}, <-done)
	}
}

// What is stored by the product is read back whole.
func TestDecodeReadsBackWhatIsStoredProperty(t *testing.T) {
	t.Parallel()
	texts := rapid.String().Filter(utf8.ValidString)
	optional := func(g *rapid.Generator[string]) *rapid.Generator[*string] { return rapid.Ptr(g, true) }
	rapid.Check(t, func(t *rapid.T) {
		want := row{
			ID: id, Text: optional(texts).Draw(t, "text"), Plain: texts.Draw(t, "plain"),
			Integer: rapid.Ptr(rapid.Int64(), true).Draw(t, "integer"),
			Float:   rapid.Ptr(rapid.Float64(), true).Draw(t, "float"),
			Flag:    rapid.Ptr(rapid.Bool(), true).Draw(t, "flag"),
			Last:    optional(texts).Draw(t, "last"),
		}
		if list := rapid.SliceOf(texts).Draw(t, "texts"); len(list) > 0 {
			want.Texts = list
		}
		if rapid.Bool().Draw(t, "parent") {
			want.Inner = &inner{Width: new(rapid.Int64().Draw(t, "width")), URL: optional(texts).Draw(t, "url")}
		}
		data, err := bson.Marshal(want)
		require.NoError(t, err)
		got, misfits := New[row]().Decode(data)
		require.Empty(t, misfits)
		require.Equal(t, want, got)
	})
}

func FuzzDecode(f *testing.F) {
	d := New[row]()
	for _, c := range values(f) {
		for _, field := range fieldNames {
			f.Add([]byte(marshal(f, bson.D{{Key: field, Value: c.value}})))
		}
	}
	f.Add([]byte("\x0b\x00\x00\x00\x02text\x00\xff\xff\xff\x7f\x00"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		got, misfits := d.Decode(doc)
		for _, path := range misfits {
			require.True(t, utf8.ValidString(path))
		}
		text, err := json.Marshal(got) // whatever is stored, the answer can be written
		require.NoError(t, err)
		require.True(t, utf8.Valid(text))
		// The driver overlooks elements that reach beyond the length of their document.
		if bson.Raw(doc).Validate() == nil && int(binary.LittleEndian.Uint32(doc)) == len(doc) {
			require.NotContains(t, misfits, "", "a document without damage")
		}
	})
}

func TestWhatIsSaidOfMisfitsIsBounded(t *testing.T) {
	t.Parallel()
	wrong := make(bson.A, 100_000)
	for i := range wrong {
		wrong[i] = i
	}
	_, misfits := decode(t, bson.D{{Key: "texts", Value: wrong}, {Key: "map", Value: bson.D{{Key: strings.Repeat("é", 1<<20), Value: 5}}}})
	require.Len(t, misfits, 20)
	require.Equal(t, "…", misfits[19], "there are more")

	_, misfits = decode(t, bson.D{{Key: "map", Value: bson.D{{Key: strings.Repeat("é", 1<<20), Value: 5}}}})
	require.Len(t, misfits, 1)
	require.Less(t, len(misfits[0]), 300)
}
