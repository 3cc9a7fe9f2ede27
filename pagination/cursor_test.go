package pagination

import (
	"encoding/base64"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"
)

const (
	testKey  = "the first key of the tests, 32 characters or more"
	otherKey = "another key of the tests, 32 characters or more"
)

func testRing(t testing.TB, keys ...string) Keyring {
	t.Helper()
	if len(keys) == 0 {
		keys = []string{testKey}
	}
	ring, err := NewKeyring(keys...)
	require.NoError(t, err)
	return ring
}

func rawValue(t require.TestingT, v any) bson.RawValue {
	typ, data, err := bson.MarshalValue(v)
	require.NoError(t, err)
	return bson.RawValue{Type: typ, Value: data}
}

func mustDecimal(t require.TestingT, s string) bson.Decimal128 {
	d, err := bson.ParseDecimal128(s)
	require.NoError(t, err)
	return d
}

var testOrder = Desc(Sort{Field: "metrics.spend", Kind: Number})

func testCursor(t require.TestingT, value any) Cursor {
	return NewCursor(Scope{List: "creatives"}, testOrder, "", 0, RowPosition{
		Phase: Values, After: true, Value: rawValue(t, value), ID: bson.NewObjectID(), Tie: true, Passed: 3,
	})
}

func TestCursorKeepsEveryBitOfItsValue(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]any{
		"int64 above 2^53":            int64(9007199254740993),
		"int32":                       int32(5),
		"least int64":                 int64(math.MinInt64),
		"double":                      1.1,
		"negative zero":               math.Copysign(0, -1),
		"infinity":                    math.Inf(1),
		"least double":                math.SmallestNonzeroFloat64,
		"decimal with trailing zeros": mustDecimal(t, "1.100"),
		"date":                        bson.DateTime(1760598968123),
		"least date":                  bson.DateTime(math.MinInt64),
		"text like a date":            "2026-01-01T00:00:00Z",
		"text like an id":             "0123456789abcdef01234567",
		"empty text":                  "",
		"text of 10 kB":               strings.Repeat("é", 5000),
		"text that is no UTF-8":       "a\xffb",
		"text with NUL":               "a\x00b",
		"composed and decomposed":     "é e\u0301 — 🎨",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := testCursor(t, value)
			text, err := testRing(t).Encode(want)
			require.NoError(t, err)
			got, err := testRing(t).Decode(text)
			require.NoError(t, err)
			require.Equal(t, want.position.Value.Type, got.position.Value.Type)
			require.Equal(t, want.position.Value.Value, got.position.Value.Value)
			want.position.Value, got.position.Value = bson.RawValue{}, bson.RawValue{}
			require.Equal(t, want, got)
		})
	}
}

func TestEveryChangedByteAndEveryCutIsMalformed(t *testing.T) {
	t.Parallel()
	ring := testRing(t)
	text, err := ring.Encode(testCursor(t, 1.5))
	require.NoError(t, err)
	for i := range text {
		_, err := ring.Decode(text[:i])
		require.ErrorIs(t, err, ErrCursorMalformed, "cut to %d", i)
		for b := range 256 {
			if byte(b) == text[i] {
				continue
			}
			_, err := ring.Decode(text[:i] + string([]byte{byte(b)}) + text[i+1:])
			require.ErrorIs(t, err, ErrCursorMalformed, "byte %d to %q", i, b)
		}
	}
}

func TestCursorHasOneSpelling(t *testing.T) {
	t.Parallel()
	ring := testRing(t)
	text, err := ring.Encode(testCursor(t, 1.5))
	require.NoError(t, err)
	data, err := base64.RawURLEncoding.DecodeString(text)
	require.NoError(t, err)
	for name, spelling := range map[string]string{
		"empty":              "",
		"padding":            text + "=",
		"trailing character": text + "A",
		"doubled":            text + text,
		"line break":         text[:10] + "\n" + text[10:],
		"carriage return":    text + "\r",
		"space":              " " + text,
		"standard alphabet":  base64.StdEncoding.EncodeToString(append(data, 0xff, 0xff, 0xfb)),
		"too long":           strings.Repeat("A", MaxCursorLength+1),
		"a number":           "5",
		"JSON":               `{"v":1}`,
		"unsigned":           base64.RawURLEncoding.EncodeToString(data[:len(data)-32]),
		"tag alone":          base64.RawURLEncoding.EncodeToString(data[len(data)-32:]),
	} {
		_, err := ring.Decode(spelling)
		require.ErrorIs(t, err, ErrCursorMalformed, name)
	}
}

func TestKeysRotate(t *testing.T) {
	t.Parallel()
	old, err := testRing(t, otherKey).Encode(testCursor(t, 1.5))
	require.NoError(t, err)

	_, err = testRing(t).Decode(old)
	require.ErrorIs(t, err, ErrCursorMalformed, "an unknown key")
	both := testRing(t, testKey, otherKey)
	_, err = both.Decode(old)
	require.NoError(t, err)
	fresh, err := both.Encode(testCursor(t, 1.5))
	require.NoError(t, err)
	_, err = testRing(t).Decode(fresh)
	require.NoError(t, err, "the first key signs")

	_, err = NewKeyring()
	require.Error(t, err)
	_, err = NewKeyring("too short")
	require.Error(t, err)
}

func TestSignedPayloadsWithMissingOrWrongPartsAreMalformed(t *testing.T) {
	t.Parallel()
	ring := testRing(t)
	oid := bson.NewObjectID()
	passed := func(n any, more ...bson.E) bson.D {
		position := bson.D{{Key: "p", Value: 1}, {Key: "i", Value: oid}, {Key: "x", Value: 5}, {Key: "s", Value: n}}
		return bson.D{{Key: "v", Value: 1}, {Key: "l", Value: "creatives"}, {Key: "o", Value: "name"}, {Key: "p", Value: append(position, more...)}}
	}
	tie := bson.E{Key: "t", Value: true}
	for name, doc := range map[string]bson.D{
		"passed without a tie":      passed(1),
		"passed a negative number":  passed(-1, tie),
		"passed more than a page":   passed(MaxLimit+1, tie),
		"passed more than an int32": passed(int64(1)<<40, tie),
		"passed a text":             passed("1", tie),
		"passed before a cut value": passed(1, tie, bson.E{Key: "c", Value: []byte("x")}),
		"no version":                {{Key: "l", Value: "creatives"}, {Key: "o", Value: "name"}, {Key: "p", Value: bson.D{{Key: "p", Value: 1}}}},
		"later version":             {{Key: "v", Value: 2}, {Key: "l", Value: "creatives"}, {Key: "o", Value: "name"}, {Key: "p", Value: bson.D{{Key: "p", Value: 1}}}},
		"no position":               {{Key: "v", Value: 1}, {Key: "l", Value: "creatives"}, {Key: "o", Value: "name"}},
		"no list":                   {{Key: "v", Value: 1}, {Key: "o", Value: "name"}, {Key: "p", Value: bson.D{{Key: "p", Value: 1}}}},
		"phase 4":                   {{Key: "v", Value: 1}, {Key: "l", Value: "creatives"}, {Key: "o", Value: "name"}, {Key: "p", Value: bson.D{{Key: "p", Value: 4}}}},
		"value without id":          {{Key: "v", Value: 1}, {Key: "l", Value: "creatives"}, {Key: "o", Value: "name"}, {Key: "p", Value: bson.D{{Key: "p", Value: 1}, {Key: "x", Value: 5}}}},
		"id without value":          {{Key: "v", Value: 1}, {Key: "l", Value: "creatives"}, {Key: "o", Value: "name"}, {Key: "p", Value: bson.D{{Key: "p", Value: 1}, {Key: "i", Value: oid}}}},
		"value in nulls":            {{Key: "v", Value: 1}, {Key: "l", Value: "creatives"}, {Key: "o", Value: "name"}, {Key: "p", Value: bson.D{{Key: "p", Value: 2}, {Key: "i", Value: oid}, {Key: "x", Value: 5}}}},
		"id of text":                {{Key: "v", Value: 1}, {Key: "l", Value: "creatives"}, {Key: "o", Value: "name"}, {Key: "p", Value: bson.D{{Key: "p", Value: 2}, {Key: "i", Value: "x"}}}},
	} {
		data, err := bson.Marshal(doc)
		require.NoError(t, err)
		text := strictBase64.EncodeToString(append(data, sign([]byte(testKey), data)...))
		_, err = ring.Decode(text)
		require.ErrorIs(t, err, ErrCursorMalformed, name)
	}
}

func TestMismatchNamesWhatDiffers(t *testing.T) {
	t.Parallel()
	spend, name := Sort{Field: "metrics.spend", Kind: Number}, Sort{Field: "name", Kind: String}
	c := NewCursor(Scope{List: "tasks/comments", Entity: "a"}, Desc(spend), "f", 0, Start[bson.RawValue]())
	require.Empty(t, c.Mismatches(Scope{List: "tasks/comments", Entity: "a"}, Desc(spend), "f"))
	require.Equal(t, []string{"entity"}, c.Mismatches(Scope{List: "tasks/comments", Entity: "b"}, Desc(spend), "f"))
	require.Equal(t, []string{"list"}, c.Mismatches(Scope{List: "tasks"}, Desc(spend), "f"))
	require.Equal(t, []string{"direction"}, c.Mismatches(Scope{List: "tasks/comments", Entity: "a"}, Asc(spend), "f"))
	require.Equal(t, []string{"sort", "filter"}, c.Mismatches(Scope{List: "tasks/comments", Entity: "a"}, Desc(name), ""))
}

func TestRelativeFilterKeepsItsMoment(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 13, 0, 0, 0, time.UTC).UnixMilli()
	text, err := testRing(t).Encode(NewCursor(Scope{List: "tasks"}, testOrder, "digest", now, Start[bson.RawValue]()))
	require.NoError(t, err)
	got, err := testRing(t).Decode(text)
	require.NoError(t, err)
	require.Equal(t, now, got.Now())
}

func TestLongestValueFitsTheLongestCursor(t *testing.T) {
	t.Parallel()
	for _, length := range []int{maxCursorValue - cutAllowance, maxCursorValue, 10 * maxCursorValue} {
		c := testCursor(t, strings.Repeat("é", length/2))
		c.position = shorten(c.position)
		require.Equal(t, length > maxCursorValue-cutAllowance, c.position.Cut != "", length)
		text, err := testRing(t).Encode(c)
		require.NoError(t, err)
		got, err := testRing(t).Decode(text)
		require.NoError(t, err)
		require.Equal(t, c.position.Cut, got.position.Cut)
	}
}

func TestMayTieErrsOnTheSideOfAnotherRead(t *testing.T) {
	t.Parallel()
	nearOne := math.Nextafter(1, 2)
	for name, c := range map[string]struct {
		a, b any
		want bool
	}{
		"equal int and double":       {int32(5), 5.0, true},
		"zeros of both signs":        {0.0, math.Copysign(0, -1), true},
		"neighbours above 2^53":      {int64(9007199254740993), int64(9007199254740992), false},
		"int64 that a double rounds": {int64(9007199254740993), 9007199254740992.0, true},
		"decimal and double":         {mustDecimal(t, "1.1"), 1.1, true},
		"decimals":                   {mustDecimal(t, "1.10"), mustDecimal(t, "1.1"), true},
		"different doubles":          {1.0, nearOne, false},
		"different ints":             {int32(1), int64(2), false},
		"texts":                      {"a", "b", false},
		"equal texts":                {"a", "a", true},
		"text and symbol":            {"a", bson.Symbol("a"), true},
		"dates":                      {bson.DateTime(1), bson.DateTime(2), false},
	} {
		require.Equal(t, c.want, mayTie(rawValue(t, c.a), rawValue(t, c.b)), name)
		require.Equal(t, c.want, mayTie(rawValue(t, c.b), rawValue(t, c.a)), name+", turned round")
	}
}

func TestCursorRoundTripProperty(t *testing.T) {
	t.Parallel()
	ring := testRing(t)
	rapid.Check(t, func(t *rapid.T) {
		var value any
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			value = rapid.Float64().Draw(t, "double")
		case 1:
			value = rapid.Int64().Draw(t, "int64")
		case 2:
			value = rapid.String().Draw(t, "text")
		case 3:
			value = bson.DateTime(rapid.Int64().Draw(t, "date"))
		}
		want := testCursor(t, value)
		text, err := ring.Encode(want)
		require.NoError(t, err)
		got, err := ring.Decode(text)
		require.NoError(t, err)
		require.True(t, want.position.Value.Equal(got.position.Value))
	})
}

func FuzzDecodeCursor(f *testing.F) {
	ring := testRing(f)
	text, err := ring.Encode(testCursor(f, "a"))
	require.NoError(f, err)
	for _, seed := range []string{"", text, text[:len(text)-1], text + "A", "AAAA", "null", "\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		c, err := ring.Decode(in)
		if err != nil {
			require.ErrorIs(t, err, ErrCursorMalformed)
			return
		}
		again, err := ring.Encode(c)
		require.NoError(t, err)
		require.Equal(t, in, again, "one cursor has one spelling")
	})
}
