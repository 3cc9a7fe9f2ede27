package querybuilder

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"catalogue/internal/mongotest"
)

// The values that rules and documents are drawn from: few, so that they meet.
var (
	texts   = []string{"", "a", "A", "ab", "abc", "b", "a.b", "été", "e\u0301", "😀", "a\nb", "$a", "(", "10"}
	numbers = []string{"0", "-0", "1", "1.0", "1e0", "1.5", "2", "10", "-10", "9007199254740993", "9007199254740992", "9223372036854775807", "0.1"}
	dates   = []string{
		"2026-03-11", "2026-03-10", "2026-03-29", "2026-02-28", "2026-03-11T15:04:00Z", "2026-03-11T15:04:00.001+00:00",
		"2026-03-10T22:00:00Z", "2026-03-28T22:00:00Z", "2025-12-31T23:59:59.999Z",
	}
	ids = []string{"000000000000000000000001", "0000000000000000000000Ab", "0000000000000000000000aB"}
)

// storedValues are what documents hold, of every kind and beside it.
func storedValues(t testing.TB) []any {
	t.Helper()
	noDecimal, err := bson.ParseDecimal128("NaN")
	require.NoError(t, err)
	many := []any{
		math.NaN(), noDecimal, math.Inf(1), math.Inf(-1),
		nil, nil, true, false, int32(1), int64(1), 1.0, 1.5, int32(0), int32(10), int64(-10), int64(9007199254740993),
		int64(9007199254740992), 0.1,
		bson.A{},
		bson.A{"a", "b"},
		bson.A{"abc", nil},
		bson.A{int32(1), int32(10)},
		bson.D{},
		bson.ObjectID{11: 1},
		bson.ObjectID{11: 0xab},
		bson.DateTime(now.UnixMilli()), bson.DateTime(now.UnixMilli() + 1),
	}
	if mongotest.Has(t, mongotest.EqualDecimals) {
		decimal, err := bson.ParseDecimal128("1.5")
		require.NoError(t, err)
		many = append(many, decimal)
	}
	for _, s := range texts {
		many = append(many, s)
	}
	for _, s := range []string{
		"2026-03-10T21:59:59.999Z", "2026-03-10T22:00:00Z", "2026-03-11T21:59:59.999Z", "2026-03-11T22:00:00Z", "2026-03-01T00:00:00Z",
		"2026-02-28T21:59:59.999Z", "2026-02-28T22:00:00Z", "2026-03-28T22:00:00Z", "2026-03-29T20:59:59.999Z", "2026-03-29T21:00:00Z",
		"2026-03-08T21:59:59.999Z", "2026-03-08T22:00:00Z", "2026-03-09T22:00:00Z", "2026-03-01T22:00:00Z", "2026-03-15T22:00:00Z",
	} {
		many = append(many, date(s))
	}
	return many
}

var comparisons = []Operator{Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual, In, NotIn, Between, NotBetween}

var textOperators = []Operator{Contains, BeginsWith, EndsWith, NotContains, NotBeginsWith, NotEndsWith}

var presenceOperators = []Operator{Null, NotNull}

// operatorsOf is the test's own table of what a field of a kind has.
func operatorsOf(k Kind) []Operator {
	var out []Operator
	switch k {
	case String:
		out = slices.Concat(comparisons, textOperators)
	case StringList:
		out = slices.Concat([]Operator{Equal, NotEqual, In, NotIn}, textOperators)
	case Number:
		out = slices.Clone(comparisons)
	case Date:
		out = slices.Concat(comparisons, []Operator{LastDays, NextDays, Today, Yesterday, ThisWeek, LastWeek, ThisMonth, LastMonth})
	case Enum, ID:
		out = []Operator{Equal, NotEqual, In, NotIn}
	default:
		out = []Operator{Equal, NotEqual}
	}
	return append(out, presenceOperators...)
}

// drawSchema has two fields of each kind, one of them below a parent.
func drawSchema() Schema {
	return Schema{Fields: []Field{
		{Name: "s", Kind: String},
		{Name: "p.s", Kind: String, FoldCase: true},
		{Name: "e", Kind: Enum, Values: texts},
		{Name: "n", Kind: Number},
		{Name: "p.n", Kind: Number, NegationSkipsNull: true},
		{Name: "d", Kind: Date},
		{Name: "p.d", Kind: Date, NegationSkipsNull: true},
		{Name: "b", Kind: Bool},
		{Name: "o", Kind: ID},
		{Name: "l", Kind: StringList, NegationSkipsNull: true},
	}}
}

func drawSpec(t *rapid.T, schema Schema, depth int) spec {
	if depth > 0 && rapid.IntRange(0, 3).Draw(t, "group") > 0 {
		s := spec{group: true, or: rapid.Bool().Draw(t, "or"), not: rapid.IntRange(0, 3).Draw(t, "not") == 0}
		for range rapid.IntRange(0, 3).Draw(t, "kids") {
			s.kids = append(s.kids, drawSpec(t, schema, depth-1))
		}
		return s
	}
	f := rapid.SampledFrom(schema.Fields).Draw(t, "field")
	s := spec{field: f.Name, op: rapid.SampledFrom(operatorsOf(f.Kind)).Draw(t, "operator")}
	one := func() any { return drawValue(t, f.Kind) }
	others := schema.Fields[:0:0]
	for _, g := range schema.Fields {
		if f.Kind != StringList && (g.Kind == f.Kind || f.Kind|g.Kind == String|Enum) {
			others = append(others, g)
		}
	}
	if len(others) > 0 && s.op < Null && rapid.IntRange(0, 3).Draw(t, "field with field") == 0 {
		s.other = true
		one = func() any { return rapid.SampledFrom(others).Draw(t, "other").Name }
	}
	switch {
	case s.op == LastDays || s.op == NextDays:
		s.value = rapid.SampledFrom([]any{1, 2, 7, "30"}).Draw(t, "days")
	case s.op >= Null:
		s.value = rapid.SampledFrom([]any{nil, "", false}).Draw(t, "ignored")
	case s.op == In || s.op == NotIn:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			list = append(list, one())
		}
		s.value = list
	case s.op == Between || s.op == NotBetween:
		s.value = []any{one(), one()}
	default:
		s.value = one()
	}
	return s
}

func drawValue(t *rapid.T, k Kind) any {
	switch k {
	case Number:
		text := rapid.SampledFrom(numbers).Draw(t, "number")
		if rapid.Bool().Draw(t, "quoted") {
			return text
		}
		return literal(text)
	case Date:
		return rapid.SampledFrom(dates).Draw(t, "date")
	case Bool:
		return rapid.SampledFrom([]any{true, false, "true", "false"}).Draw(t, "bool")
	case ID:
		return rapid.SampledFrom(ids).Draw(t, "id")
	default:
		return rapid.SampledFrom(texts).Draw(t, "text")
	}
}

// literal is a number written as it is.
type literal string

func (l literal) MarshalJSON() ([]byte, error) { return []byte(l), nil }
