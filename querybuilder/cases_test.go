package querybuilder

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func heroes() Schema {
	return Schema{Fields: []Field{
		{Name: "first", Kind: String},
		{Name: "last", Kind: String},
		{Name: "madeUp", Kind: String},
		{Name: "nickname", Kind: String},
		{Name: "age", Kind: Number},
		{Name: "enhanced", Kind: Bool},
	}}
}

func hero(first, last, madeUp, nickname string, age any, enhanced bool) bson.D {
	return bson.D{
		{Key: "first", Value: first},
		{Key: "last", Value: last},
		{Key: "madeUp", Value: madeUp},
		{Key: "nickname", Value: nickname},
		{Key: "age", Value: age},
		{Key: "enhanced", Value: enhanced},
	}
}

func heroRows() []bson.D {
	return []bson.D{
		hero("Bruce", "Wayne", "Batman", "The Dark Knight", nil, false),
		hero("Steve", "Rogers", "Captain America", "Cap", 20, true),
		hero("Peter", "Parker", "Spider-Man", "Spidey", 15, true),
		hero("Clark", "Kent", "Superman", "Supes", 0, true),
	}
}

// sameRows is a rule in both formats; one that a format does not have is empty.
type sameRows struct {
	name   string
	react  string
	jquery string
	want   []string
}

func TestRulesMatchTheRowsOfTheReference(t *testing.T) {
	t.Parallel()
	bruce, steve, peter, clark := "Bruce", "Steve", "Peter", "Clark"
	coll := insert(t, heroRows()...)
	for _, c := range []sameRows{
		{
			"a group in a group",
			`{"combinator":"or","rules":[{"field":"first","operator":"beginsWith","value":"P"},{"combinator":"and","rules":[
				{"field":"madeUp","operator":"doesNotContain","value":"Bat"},{"field":"madeUp","operator":"endsWith","value":"man"}]}]}`,
			`{"condition":"OR","rules":[{"field":"first","operator":"begins_with","value":"P"},{"condition":"AND","rules":[
				{"field":"madeUp","operator":"not_contains","value":"Bat"},{"field":"madeUp","operator":"ends_with","value":"man"}]}]}`,
			[]string{peter, clark},
		},
		{
			"not equal",
			`{"combinator":"and","rules":[{"field":"first","operator":"!=","value":"Peter"},{"field":"last","operator":"!=","value":"Parker"}]}`,
			`{"condition":"AND","rules":[{"field":"first","operator":"not_equal","value":"Peter"},{"field":"last","operator":"not_equal","value":"Parker"}]}`,
			[]string{bruce, steve, clark},
		},
		{
			"not begins with",
			`{"field":"madeUp","operator":"doesNotBeginWith","value":"S"}`,
			`{"condition":"AND","rules":[{"field":"madeUp","operator":"not_begins_with","value":"S"}]}`,
			[]string{bruce, steve},
		},
		{
			"not contains",
			`{"field":"madeUp","operator":"doesNotContain","value":"r"}`,
			`{"condition":"AND","rules":[{"field":"madeUp","operator":"not_contains","value":"r"}]}`,
			[]string{bruce},
		},
		{
			"not ends with",
			`{"field":"madeUp","operator":"doesNotEndWith","value":"man"}`,
			`{"condition":"AND","rules":[{"field":"madeUp","operator":"not_ends_with","value":"man"}]}`,
			[]string{steve, peter},
		},
		{
			"a number and a text of one",
			`{"combinator":"and","rules":[{"field":"age","operator":">","value":15},{"field":"age","operator":">","value":"15"}]}`,
			`{"condition":"AND","rules":[{"field":"age","operator":"greater","value":15},{"field":"age","operator":"greater","value":"15"}]}`,
			[]string{steve},
		},
		{
			"between and not between",
			`{"combinator":"and","rules":[{"field":"age","operator":"between","value":[10,30]},{"field":"age","operator":"notBetween","value":"-10,10"}]}`,
			`{"condition":"AND","rules":[{"field":"age","operator":"between","value":[10,30]},{"field":"age","operator":"not_between","value":["-10","10"]}]}`,
			[]string{steve, peter},
		},
		{
			"reversed bounds",
			`{"field":"age","operator":"between","value":[100,0]}`,
			`{"condition":"AND","rules":[{"field":"age","operator":"between","value":[100,0]}]}`,
			[]string{steve, peter, clark},
		},
		{
			"in and not in",
			`{"combinator":"and","rules":[{"field":"last","operator":"in","value":"Rogers,Wayne"},{"field":"last","operator":"notIn","value":"Parker,Kent"}]}`,
			`{"condition":"AND","rules":[{"field":"last","operator":"in","value":["Rogers","Wayne"]},{"field":"last","operator":"not_in","value":["Parker","Kent"]}]}`,
			[]string{bruce, steve},
		},
		{
			"null and not null",
			`{"combinator":"and","rules":[{"field":"age","operator":"null"},{"field":"madeUp","operator":"notNull"}]}`,
			`{"condition":"AND","rules":[{"field":"age","operator":"is_null","value":null},{"field":"madeUp","operator":"is_not_null","value":null}]}`,
			[]string{bruce},
		},
		{
			"a field compared with a field",
			`{"field":"first","operator":"<","value":"last","valueSource":"field"}`,
			`{"condition":"AND","rules":[{"field":"first","operator":"less","value":"last","valueSource":"field"}]}`,
			[]string{bruce, clark},
		},
		{
			"not of not",
			`{"combinator":"and","not":true,"rules":[{"combinator":"or","not":true,"rules":[
				{"field":"first","operator":"=","value":"Bruce"},{"field":"last","operator":"=","value":"Kent"}]}]}`,
			`{"condition":"AND","not":true,"rules":[{"condition":"OR","not":true,"rules":[
				{"field":"first","value":"Bruce"},{"field":"last","operator":"equal","value":"Kent"}]}]}`,
			[]string{bruce, clark},
		},
		{
			"in a blank text", `{"field":"last","operator":"in","value":""}`, ``, nil,
		},
		{
			"in nothing",
			`{"field":"last","operator":"in","value":[]}`,
			`{"condition":"AND","rules":[{"field":"last","operator":"in","value":[]}]}`,
			nil,
		},
		{
			"not in nothing",
			`{"field":"last","operator":"notIn","value":[]}`,
			`{"condition":"AND","rules":[{"field":"last","operator":"not_in","value":[]}]}`,
			[]string{bruce, steve, peter, clark},
		},
		{
			"independent combinators: and binds tighter, here the first two",
			`{"rules":[{"field":"first","operator":"=","value":"Bruce"},"AND",{"field":"last","operator":"=","value":"Kent"},"or",
				{"field":"age","operator":"=","value":15}]}`,
			``,
			[]string{peter},
		},
		{
			"independent combinators: and binds tighter, here the last two",
			`{"rules":[{"field":"first","operator":"=","value":"Bruce"},"or",{"field":"last","operator":"=","value":"Kent"},"and",
				{"rules":[{"field":"age","operator":"=","value":15},"or",{"field":"age","operator":"=","value":0}]}]}`,
			``,
			[]string{bruce, clark},
		},
		{
			"a list of one is its item",
			`{"field":"first","operator":"=","value":["Bruce"]}`,
			`{"condition":"AND","rules":[{"field":"first","operator":"equal","value":["Bruce"]}]}`,
			[]string{bruce},
		},
		{
			"true",
			`{"field":"enhanced","operator":"=","value":true}`,
			`{"condition":"AND","rules":[{"field":"enhanced","value":true}]}`,
			[]string{steve, peter, clark},
		},
		{
			"a missing condition is AND",
			``,
			`{"rules":[{"condition":"OR","rules":[{"field":"first","value":"Bruce"},{"field":"first","value":"Clark"}]},
				{"rules":[{"field":"enhanced","value":true},{"field":"age","operator":"less","value":5}]}]}`,
			[]string{clark},
		},
		{
			"muted and unfinished rules are not there",
			`{"combinator":"and","rules":[{"field":"first","operator":"=","value":"Nobody","muted":true},{"field":"~","operator":"=","value":"x"},
				{"field":"first","operator":"~","value":"x"},{"combinator":"or","muted":true,"rules":[{"field":"nonsense"}]},
				{"field":"age","operator":">=","value":15}]}`,
			``,
			[]string{steve, peter},
		},
		{
			"a muted rule leaves the run of and-ed rules that it stands in",
			`{"rules":[{"muted":true,"field":"first","operator":"=","value":"Bruce"},"and",{"field":"first","operator":"~"},"or",
				{"field":"first","operator":"=","value":"Clark"}]}`,
			``,
			[]string{clark},
		},
		{
			"an empty group in an or matches everything",
			`{"combinator":"or","rules":[{"combinator":"and","rules":[{"field":"~","operator":"=","value":""}]},{"field":"first","operator":"=","value":"Clark"}]}`,
			`{"condition":"OR","rules":[{"condition":"AND","rules":[]},{"field":"first","value":"Clark"}]}`,
			[]string{bruce, steve, peter, clark},
		},
		{
			"a muted document matches everything",
			`{"combinator":"and","muted":true,"rules":[{"field":"first","operator":"=","value":"Nobody"}]}`,
			``,
			[]string{bruce, steve, peter, clark},
		},
		{
			"no empty group matches anything when negated",
			`{"combinator":"and","not":true,"rules":[]}`,
			`{"condition":"AND","not":true,"rules":[]}`,
			nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for format, document := range map[format]string{react: c.react, jquery: c.jquery} {
				if document != "" {
					require.Equal(t, c.want, matches(t, coll, heroes(), "first", document), format)
				}
			}
			if c.react != "" && c.jquery != "" {
				require.Equal(t, digest(t, heroes(), c.react), digest(t, heroes(), c.jquery))
			}
		})
	}
}

func TestNullMissingAndOtherTypes(t *testing.T) {
	t.Parallel()
	schema := Schema{Fields: []Field{{Name: "f", Kind: String}, {Name: "g", Kind: String, NegationSkipsNull: true}}}
	rows := []bson.D{{{Key: "name", Value: "missing"}}}
	for _, c := range []struct {
		name  string
		value any
	}{
		{"null", nil},
		{"blank", ""},
		{"foo", "foo"},
		{"5", 5},
		{"foo and x", bson.A{"foo", "x"}},
		{"no items", bson.A{}},
	} {
		rows = append(rows, bson.D{{Key: "name", Value: c.name}, {Key: "f", Value: c.value}, {Key: "g", Value: c.value}})
	}
	coll := insert(t, rows...)
	for _, c := range []struct {
		react, jquery string
		value         any
		want, skipped []string // skipped is of the field whose negated operators leave out null and missing
	}{
		{"null", "is_null", nil, []string{"missing", "null"}, []string{"missing", "null"}},
		{
			"notNull", "is_not_null", nil,
			[]string{"blank", "foo", "5", "foo and x", "no items"},
			[]string{"blank", "foo", "5", "foo and x", "no items"},
		},
		{"!=", "not_equal", "foo", []string{"missing", "null", "blank", "5", "no items"}, []string{"blank", "5", "no items"}},
		{
			"notIn", "not_in",
			[]string{},
			[]string{"missing", "null", "blank", "foo", "5", "foo and x", "no items"},
			[]string{"missing", "null", "blank", "foo", "5", "foo and x", "no items"},
		},
		{
			"notIn", "not_in",
			[]string{"foo", "bar"},
			[]string{"missing", "null", "blank", "5", "no items"},
			[]string{"blank", "5", "no items"},
		},
		{
			"doesNotContain", "not_contains", "foo",
			[]string{"missing", "null", "blank", "5", "no items"},
			[]string{"blank", "5", "no items"},
		},
		{"contains", "contains", "fo", []string{"foo", "foo and x"}, []string{"foo", "foo and x"}},
		{"notBetween", "not_between", []string{"a", "b"}, []string{"blank", "foo", "foo and x"}, []string{"blank", "foo", "foo and x"}},
		{"", "is_empty", nil, []string{"blank"}, []string{"blank"}},
		{"", "is_not_empty", nil, []string{"foo", "5", "foo and x", "no items"}, []string{"foo", "5", "foo and x", "no items"}},
	} {
		t.Run(c.jquery, func(t *testing.T) {
			t.Parallel()
			for field, want := range map[string][]string{"f": c.want, "g": c.skipped} {
				rule := map[string]any{"field": field, "operator": c.react, "value": c.value}
				if c.react != "" {
					require.Equal(t, want, matches(t, coll, schema, "name", mustJSON(t, rule)), "react %s", field)
				}
				rule["operator"] = c.jquery
				document := mustJSON(t, map[string]any{"condition": "AND", "rules": []any{rule}})
				require.Equal(t, want, matches(t, coll, schema, "name", document), "jquery %s", field)
			}
		})
	}
}

func TestNumbersOutsideARange(t *testing.T) {
	t.Parallel()
	schema := Schema{Fields: []Field{{Name: "price", Kind: Number}}}
	var rows []bson.D
	for name, price := range map[string]any{"3": 3, "4": 4, "4.5": 4.5, "5": 5, "6": 6, "null": nil, "text": "7"} {
		rows = append(rows, bson.D{{Key: "name", Value: name}, {Key: "price", Value: price}})
	}
	coll := insert(t, append(rows, bson.D{{Key: "name", Value: "missing"}})...)
	for _, document := range []string{
		`{"field":"price","operator":"notBetween","value":[4,5]}`,
		`{"field":"price","operator":"notBetween","value":"5,4.0"}`,
		`{"condition":"AND","rules":[{"field":"price","operator":"not_between","value":[4,5]}]}`,
	} {
		require.ElementsMatch(t, []string{"3", "6"}, matches(t, coll, schema, "name", document), document)
	}
}

func TestTextIsLiteral(t *testing.T) {
	t.Parallel()
	schema := Schema{Fields: []Field{{Name: "name", Kind: String}, {Name: "title", Kind: String, FoldCase: true}}}
	texts := []string{
		"bar\nfoo", "foo on bar\nfoo", "xa.b(c)+y", "xaxb(c)+y", "+LR", "[", "]", `Te"st`, "a\nb", `back\slash`, "^a", "a$", "$where",
		"ÉTÉ", "été", "end", "end\n", "a|b", "#x y", "{1,2}", "%41", "(?i)x", `\Qa\E`, "😀 smile",
	}
	rows := make([]bson.D, 0, len(texts))
	for _, s := range texts {
		rows = append(rows, bson.D{{Key: "name", Value: s}, {Key: "title", Value: s}})
	}
	coll := insert(t, rows...)
	for _, c := range []struct {
		field, operator, value string
		want                   []string
	}{
		{"name", "contains", "a.b(c)+", []string{"xa.b(c)+y"}},
		{"name", "contains", "+LR", []string{"+LR"}},
		{"name", "contains", "[", []string{"["}},
		{"name", "contains", "+lr", nil},
		{"title", "contains", "+lr", []string{"+LR"}},
		{"title", "=", "+lr", nil},
		{"name", "=", `Te"st`, []string{`Te"st`}},
		{"name", "=", "a\nb", []string{"a\nb"}},
		{"name", "contains", "a\nb", []string{"a\nb"}},
		{"name", "contains", `\s`, []string{`back\slash`}},
		{"name", "beginsWith", "^", []string{"^a"}},
		{"name", "endsWith", "$", []string{"a$"}},
		{"name", "=", "$where", []string{"$where"}},
		{"name", "beginsWith", "foo", []string{"foo on bar\nfoo"}},
		{"name", "endsWith", "end", []string{"end"}},
		{"name", "endsWith", "end\n", []string{"end\n"}},
		{"name", "contains", "été", []string{"été"}},
		{"title", "contains", "éTÉ", []string{"ÉTÉ", "été"}},
		{"name", "contains", "|", []string{"a|b"}},
		{"name", "contains", "#x y", []string{"#x y"}},
		{"name", "contains", "{1,2}", []string{"{1,2}"}},
		{"name", "contains", "(?i)X", nil},
		{"name", "contains", `\Qa`, []string{`\Qa\E`}},
		{"name", "beginsWith", "😀", []string{"😀 smile"}},
		{"name", "in", `a\nb, a\,b ,[`, []string{"["}},
	} {
		t.Run(c.operator+" "+c.value, func(t *testing.T) {
			t.Parallel()
			document := mustJSON(t, map[string]any{"field": c.field, "operator": c.operator, "value": c.value})
			require.Equal(t, c.want, matches(t, coll, schema, "name", document))
		})
	}
	t.Run("negated over lines", func(t *testing.T) {
		t.Parallel()
		document := `{"condition":"AND","rules":[{"id":"x","field":"name","operator":"not_contains","value":"foo"}]}`
		got := matches(t, coll, schema, "name", document)
		require.Len(t, got, len(texts)-2)
		require.NotContains(t, got, "bar\nfoo")
	})
}

func TestTheFieldIsQueriedNotTheID(t *testing.T) {
	t.Parallel()
	schema := Schema{Fields: []Field{{Name: "username", Kind: String}, {Name: "name", Kind: String}}}
	coll := insert(t,
		bson.D{{Key: "username", Value: "a"}, {Key: "name", Value: "b"}},
		bson.D{{Key: "username", Value: "b"}, {Key: "name", Value: "a"}})
	document := `{"condition":"AND","rules":[{"id":"name","field":"username","type":"string","input":"text","operator":"equal","value":"a"}],"valid":true}`
	require.Equal(t, []string{"a"}, matches(t, coll, schema, "username", document))
}
