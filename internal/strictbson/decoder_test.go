package strictbson

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/instant"
)

// row has a field of every type that entities have.
type row struct {
	ID      bson.ObjectID     `bson:"_id"               json:"id"`
	Ref     *bson.ObjectID    `bson:"ref,omitempty"     json:"ref,omitempty"`
	Text    *string           `bson:"text,omitempty"    json:"text,omitempty"`
	Plain   string            `bson:"plain"             json:"plain"`
	Integer *int64            `bson:"integer,omitempty" json:"integer,omitempty"`
	Float   *float64          `bson:"float,omitempty"   json:"float,omitempty"`
	Flag    *bool             `bson:"flag,omitempty"    json:"flag,omitempty"`
	At      *instant.Instant  `bson:"at,omitempty"      json:"at,omitempty"`
	Texts   []string          `bson:"texts,omitempty"   json:"texts,omitempty"`
	Map     map[string]string `bson:"map,omitempty"     json:"map,omitempty"`
	Inner   *inner            `bson:"inner,omitempty"   json:"inner,omitempty"`
	Flat    inner             `bson:"flat"              json:"flat,omitzero"`
	Last    *string           `bson:"last,omitempty"    json:"last,omitempty"`
}

type inner struct {
	Width *int64  `bson:"width,omitempty" json:"width,omitempty"`
	URL   *string `bson:"url,omitempty"   json:"url,omitempty"`
	Deep  *deep   `bson:"deep,omitempty"  json:"deep,omitempty"`
}

type deep struct {
	Score *float64 `bson:"score,omitempty" json:"score,omitempty"`
}

var fieldNames = []string{"_id", "ref", "text", "plain", "integer", "float", "flag", "at", "texts", "map", "inner", "flat"}

var id = bson.ObjectID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}

func marshal(t require.TestingT, doc bson.D) bson.Raw {
	data, err := bson.Marshal(doc)
	require.NoError(t, err)
	return data
}

func decode(t require.TestingT, doc bson.D) (row, []string) {
	return New[row]().Decode(marshal(t, doc))
}

// values are one or more of each BSON type; fits names the fields that take the value.
func values(t require.TestingT) map[string]struct {
	value any
	fits  []string
} {
	decimal, err := bson.ParseDecimal128("5")
	require.NoError(t, err)
	type c = struct {
		value any
		fits  []string
	}
	return map[string]c{
		"int32":                          {int32(5), []string{"integer", "float"}},
		"int64":                          {int64(5), []string{"integer", "float"}},
		"int64 of 2^53":                  {int64(1 << 53), []string{"integer", "float"}},
		"int64 above 2^53":               {int64(1<<53 + 1), []string{"integer"}},
		"int64 below -2^53":              {int64(-1<<53 - 1), []string{"integer"}},
		"greatest int64":                 {int64(math.MaxInt64), []string{"integer"}},
		"least int64":                    {int64(math.MinInt64), []string{"integer"}},
		"whole double":                   {5.0, []string{"integer", "float"}},
		"negative zero":                  {math.Copysign(0, -1), []string{"integer", "float"}},
		"broken double":                  {5.5, []string{"float"}},
		"double beyond whole numbers":    {1e300, []string{"float"}},
		"double of 2^53 + 2":             {float64(1<<53 + 2), []string{"float"}},
		"least double":                   {math.SmallestNonzeroFloat64, []string{"float"}},
		"NaN":                            {math.NaN(), nil},
		"infinity":                       {math.Inf(1), nil},
		"negative infinity":              {math.Inf(-1), nil},
		"decimal":                        {decimal, nil},
		"text":                           {"abc", []string{"text", "plain"}},
		"empty text":                     {"", []string{"text", "plain"}},
		"text of twelve letters":         {"abcdefghijkl", []string{"text", "plain"}},
		"text of 24 hex digits":          {id.Hex(), []string{"text", "plain"}},
		"text like a date":               {"2026-01-31T12:00:00Z", []string{"text", "plain"}},
		"text like a number":             {"5", []string{"text", "plain"}},
		"text with NUL":                  {"a\x00b", []string{"text", "plain"}},
		"text that is no UTF-8":          {"a\xffb", nil},
		"text cut inside of a character": {"\xe2\x82", nil},
		"text with a surrogate":          {"\xed\xa0\x80", nil},
		"true":                           {true, []string{"flag"}},
		"false":                          {false, []string{"flag"}},
		"date":                           {bson.DateTime(5), []string{"at"}},
		"date before 1970":               {bson.DateTime(-5), []string{"at"}},
		"first date":                     {bson.DateTime(-62135596800000), []string{"at"}},
		"date of the year 0":             {bson.DateTime(-62135596800001), nil},
		"last date":                      {bson.DateTime(253402300799999), []string{"at"}},
		"date of the year 10000":         {bson.DateTime(253402300800000), nil},
		"least date":                     {bson.DateTime(math.MinInt64), nil},
		"greatest date":                  {bson.DateTime(math.MaxInt64), nil},
		"timestamp":                      {bson.Timestamp{T: 5, I: 1}, nil},
		"ObjectID":                       {id, []string{"_id", "ref"}},
		"zero ObjectID":                  {bson.ObjectID{}, []string{"_id", "ref"}},
		"document":                       {bson.D{{Key: "a", Value: int32(1)}}, []string{"inner", "flat"}},
		"empty document":                 {bson.D{}, []string{"inner", "flat", "map"}},
		"document like extended JSON":    {bson.D{{Key: "$oid", Value: id.Hex()}}, []string{"inner", "flat", "map"}},
		"array of texts":                 {bson.A{"a"}, []string{"texts"}},
		"empty array":                    {bson.A{}, []string{"texts"}},
		"array of numbers":               {bson.A{int32(1)}, nil},
		"binary":                         {bson.Binary{Data: []byte("abcdefghijkl")}, nil},
		"UUID":                           {bson.Binary{Subtype: 4, Data: make([]byte, 16)}, nil},
		"old binary":                     {bson.Binary{Subtype: 2, Data: []byte("abc")}, nil},
		"regex":                          {bson.Regex{Pattern: "a", Options: "i"}, nil},
		"code":                           {bson.JavaScript("a"), nil},
		"code with scope":                {bson.CodeWithScope{Code: "a", Scope: bson.D{}}, nil},
		"symbol":                         {bson.Symbol("a"), nil},
		"DBPointer":                      {bson.DBPointer{DB: "a", Pointer: id}, nil},
		"undefined":                      {bson.Undefined{}, nil},
		"MinKey":                         {bson.MinKey{}, nil},
		"MaxKey":                         {bson.MaxKey{}, nil},
	}
}

func TestEveryTypeIsReadByTheFieldsThatItFitsOnly(t *testing.T) {
	t.Parallel()
	for name, c := range values(t) {
		fits := map[string]bool{}
		for _, f := range c.fits {
			fits[f] = true
		}
		for _, field := range fieldNames {
			got, misfits := decode(t, bson.D{{Key: field, Value: c.value}, {Key: "last", Value: "here"}})
			require.NotNil(t, got.Last, "%s in %s: a field behind it is lost", name, field)
			require.Equal(t, "here", *got.Last)
			got.Last = nil
			if fits[field] {
				require.Empty(t, misfits, "%s in %s", name, field)
				continue
			}
			require.Equal(t, row{}, got, "%s in %s", name, field)
			require.Len(t, misfits, 1, "%s in %s", name, field)
			require.True(t, misfits[0] == field || strings.HasPrefix(misfits[0], field+"."), "%s in %s: %s", name, field, misfits[0])
		}
	}
}

func TestValuesThatFitAreKeptExactly(t *testing.T) {
	t.Parallel()
	at := instant.MustParse("1969-12-31T23:59:59.999Z")
	for name, c := range map[string]struct {
		doc  bson.D
		want row
	}{
		"ids":              {bson.D{{Key: "_id", Value: id}, {Key: "ref", Value: id}}, row{ID: id, Ref: &id}},
		"zero id":          {bson.D{{Key: "ref", Value: bson.ObjectID{}}}, row{Ref: &bson.ObjectID{}}},
		"texts":            {bson.D{{Key: "text", Value: "é e\u0301 — 🎨"}, {Key: "plain", Value: "p"}}, row{Text: new("é e\u0301 — 🎨"), Plain: "p"}},
		"empty text":       {bson.D{{Key: "text", Value: ""}}, row{Text: new("")}},
		"int32":            {bson.D{{Key: "integer", Value: int32(-5)}, {Key: "float", Value: int32(-5)}}, row{Integer: new(int64(-5)), Float: new(-5.0)}},
		"least int64":      {bson.D{{Key: "integer", Value: int64(math.MinInt64)}}, row{Integer: new(int64(math.MinInt64))}},
		"greatest int64":   {bson.D{{Key: "integer", Value: int64(math.MaxInt64)}}, row{Integer: new(int64(math.MaxInt64))}},
		"whole double":     {bson.D{{Key: "integer", Value: -9007199254740992.0}}, row{Integer: new(int64(-1 << 53))}},
		"zero":             {bson.D{{Key: "integer", Value: int32(0)}, {Key: "float", Value: 0.0}}, row{Integer: new(int64(0)), Float: new(0.0)}},
		"double":           {bson.D{{Key: "float", Value: 0.1}}, row{Float: new(0.1)}},
		"false":            {bson.D{{Key: "flag", Value: false}}, row{Flag: new(false)}},
		"true":             {bson.D{{Key: "flag", Value: true}}, row{Flag: new(true)}},
		"date before 1970": {bson.D{{Key: "at", Value: bson.DateTime(-1)}}, row{At: &at}},
		"date of 1970":     {bson.D{{Key: "at", Value: bson.DateTime(0)}}, row{At: &instant.Instant{}}},
		"array":            {bson.D{{Key: "texts", Value: bson.A{"b", "", "a", "a"}}}, row{Texts: []string{"b", "", "a", "a"}}},
		"map":              {bson.D{{Key: "map", Value: bson.D{{Key: "", Value: "x"}, {Key: "a.b", Value: ""}}}}, row{Map: map[string]string{"": "x", "a.b": ""}}},
		"nested": {
			bson.D{{Key: "inner", Value: bson.D{{Key: "deep", Value: bson.D{{Key: "score", Value: 1.5}}}, {Key: "url", Value: "u"}}}},
			row{Inner: &inner{URL: new("u"), Deep: &deep{Score: new(1.5)}}},
		},
		"nested zero": {bson.D{{Key: "inner", Value: bson.D{{Key: "width", Value: int32(0)}}}}, row{Inner: &inner{Width: new(int64(0))}}},
		"flat":        {bson.D{{Key: "flat", Value: bson.D{{Key: "width", Value: int32(7)}}}}, row{Flat: inner{Width: new(int64(7))}}},
	} {
		got, misfits := decode(t, c.doc)
		require.Empty(t, misfits, name)
		require.Equal(t, c.want, got, name)
	}
}

func TestNullIsAbsentAndNoMisfit(t *testing.T) {
	t.Parallel()
	for _, field := range fieldNames {
		got, misfits := decode(t, bson.D{{Key: field, Value: nil}})
		require.Equal(t, row{}, got, field)
		require.Empty(t, misfits, field)
	}
	got, misfits := decode(t, bson.D{
		{Key: "texts", Value: bson.A{nil, "a", nil}},
		{Key: "map", Value: bson.D{{Key: "a", Value: nil}, {Key: "b", Value: "b"}}},
		{Key: "inner", Value: bson.D{{Key: "width", Value: nil}, {Key: "url", Value: "u"}}},
	})
	require.Equal(t, row{Texts: []string{"a"}, Map: map[string]string{"b": "b"}, Inner: &inner{URL: new("u")}}, got)
	require.Empty(t, misfits)
}

func TestAParentWithNothingInItIsAbsent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		doc     bson.D
		misfits []string
	}{
		"null":                    {bson.D{{Key: "inner", Value: nil}}, nil},
		"empty":                   {bson.D{{Key: "inner", Value: bson.D{}}}, nil},
		"null inside":             {bson.D{{Key: "inner", Value: bson.D{{Key: "width", Value: nil}}}}, nil},
		"unknown inside":          {bson.D{{Key: "inner", Value: bson.D{{Key: "depth", Value: 5}}}}, nil},
		"empty parent inside":     {bson.D{{Key: "inner", Value: bson.D{{Key: "deep", Value: bson.D{{Key: "score", Value: nil}}}}}}, nil},
		"misfit inside":           {bson.D{{Key: "inner", Value: bson.D{{Key: "width", Value: "5"}}}}, []string{"inner.width"}},
		"misfit deeper":           {bson.D{{Key: "inner", Value: bson.D{{Key: "deep", Value: bson.D{{Key: "score", Value: math.NaN()}}}}}}, []string{"inner.deep.score"}},
		"array in a parent's way": {bson.D{{Key: "inner", Value: bson.A{bson.D{{Key: "width", Value: 5}}}}}, []string{"inner"}},
		"empty array":             {bson.D{{Key: "texts", Value: bson.A{}}}, nil},
		"array of nulls":          {bson.D{{Key: "texts", Value: bson.A{nil}}}, nil},
		"array of misfits":        {bson.D{{Key: "texts", Value: bson.A{5, bson.A{}}}}, []string{"texts.0", "texts.1"}},
		"empty map":               {bson.D{{Key: "map", Value: bson.D{}}}, nil},
		"map of misfits":          {bson.D{{Key: "map", Value: bson.D{{Key: "a", Value: 5}}}}, []string{"map.a"}},
	} {
		got, misfits := decode(t, c.doc)
		require.Equal(t, row{}, got, name)
		require.Equal(t, c.misfits, misfits, name)
		text, err := json.Marshal(got)
		require.NoError(t, err)
		require.JSONEq(t, `{"id":"000000000000000000000000","plain":""}`, string(text), name)
	}
}

func TestAFailingFieldLosesNoOther(t *testing.T) {
	t.Parallel()
	got, misfits := decode(t, bson.D{
		{Key: "_id", Value: "abcdefghijkl"},
		{Key: "at", Value: "2026-01-31T12:00:00Z"},
		{Key: "text", Value: "t"},
		{Key: "inner", Value: bson.D{{Key: "width", Value: true}, {Key: "deep", Value: 5}, {Key: "url", Value: "u"}}},
		{Key: "integer", Value: true},
		{Key: "texts", Value: bson.A{"a", 5, "b"}},
		{Key: "map", Value: bson.D{{Key: "a", Value: 5}, {Key: "b", Value: "b"}, {Key: "x\xff", Value: "x"}}},
		{Key: "float", Value: math.NaN()},
		{Key: "last", Value: "l"},
	})
	require.Equal(t, row{
		Text: new("t"), Inner: &inner{URL: new("u")}, Texts: []string{"a", "b"}, Map: map[string]string{"b": "b"}, Last: new("l"),
	}, got)
	require.Equal(t, []string{
		"_id", "at", "inner.width", "inner.deep", "integer", "texts.1", "map.a", "map.x\uFFFD", "float",
	}, misfits)
}

func TestNamesAreExact(t *testing.T) {
	t.Parallel()
	got, misfits := decode(t, bson.D{
		{Key: "Text", Value: "a"},
		{Key: "TEXT", Value: "b"},
		{Key: "te\u017ft", Value: "c"},
		{Key: "text ", Value: "d"},
		{Key: "", Value: "e"},
		{Key: "ID", Value: id},
		{Key: "id", Value: id},
		{Key: "inner.width", Value: int32(1)},
		{Key: "inner", Value: bson.D{{Key: "Width", Value: int32(1)}}},
		{Key: "Integer", Value: "no misfit either"},
	})
	require.Equal(t, row{}, got)
	require.Empty(t, misfits)
}

func TestOfARepeatedNameTheFirstCounts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		doc     bson.D
		want    row
		misfits []string
	}{
		"two values":        {bson.D{{Key: "text", Value: "a"}, {Key: "text", Value: "b"}}, row{Text: new("a")}, nil},
		"null first":        {bson.D{{Key: "text", Value: nil}, {Key: "text", Value: "b"}}, row{}, nil},
		"misfit first":      {bson.D{{Key: "text", Value: 5}, {Key: "text", Value: "b"}}, row{}, []string{"text"}},
		"misfit second":     {bson.D{{Key: "text", Value: "a"}, {Key: "text", Value: 5}}, row{Text: new("a")}, nil},
		"in a map":          {bson.D{{Key: "map", Value: bson.D{{Key: "a", Value: "1"}, {Key: "a", Value: "2"}}}}, row{Map: map[string]string{"a": "1"}}, nil},
		"null first in map": {bson.D{{Key: "map", Value: bson.D{{Key: "a", Value: nil}, {Key: "a", Value: "2"}}}}, row{}, nil},
		"two parents":       {bson.D{{Key: "inner", Value: bson.D{{Key: "url", Value: "u"}}}, {Key: "inner", Value: bson.D{{Key: "width", Value: int32(1)}}}}, row{Inner: &inner{URL: new("u")}}, nil},
	} {
		got, misfits := decode(t, c.doc)
		require.Equal(t, c.want, got, name)
		require.Equal(t, c.misfits, misfits, name)
	}
}
