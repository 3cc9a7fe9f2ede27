package querybuilder

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func indexedStatus(field string) bool { return field == "status" }

func screenSchema() Schema {
	return Schema{Fields: []Field{
		{Name: "status", Label: "Status", Kind: Enum, Values: []string{"b", "a"}},
		{Name: "n", Kind: Number, Integer: true, Operators: []Operator{Equal, LessOrEqual, Null}},
		{Name: "live", Kind: Bool},
	}}
}

func TestFieldsForReact(t *testing.T) {
	t.Parallel()
	require.JSONEq(t, `[
		{"name":"status","label":"Status","valueEditorType":"select","values":[{"name":"b","label":"b"},{"name":"a","label":"a"}],
		 "operators":[{"name":"=","label":"="},{"name":"!=","label":"!="},{"name":"in","label":"in"},{"name":"notIn","label":"not in"},
		 {"name":"null","label":"is absent","arity":"unary"},{"name":"notNull","label":"is present","arity":"unary"}],
		 "valueSources":["value","field"],"indexed":true},
		{"name":"n","label":"n","inputType":"number","valueEditorType":"text","operators":[{"name":"=","label":"="},{"name":"<=","label":"<="},
		 {"name":"null","label":"is absent","arity":"unary"}],"valueSources":["value","field"],"indexed":false},
		{"name":"live","label":"live","valueEditorType":"checkbox","operators":[{"name":"=","label":"="},{"name":"!=","label":"!="},
		 {"name":"null","label":"is absent","arity":"unary"},{"name":"notNull","label":"is present","arity":"unary"}],
		 "valueSources":["value","field"],"indexed":false}
	]`, mustJSON(t, screenSchema().ReactFields(indexedStatus)))
}

func TestFiltersForJQuery(t *testing.T) {
	t.Parallel()
	require.JSONEq(t, `[
		{"id":"status","field":"status","label":"Status","type":"string","input":"select","multiple":true,"values":[{"b":"b"},{"a":"a"}],
		 "operators":["equal","not_equal","in","not_in","is_null","is_not_null"],"indexed":true},
		{"id":"n","field":"n","label":"n","type":"integer","input":"number","value_separator":",",
		 "operators":["equal","less_or_equal","is_null"],"indexed":false},
		{"id":"live","field":"live","label":"live","type":"boolean","input":"radio","values":[{"true":"true"},{"false":"false"}],
		 "operators":["equal","not_equal","is_null","is_not_null"],"indexed":false}
	]`, mustJSON(t, screenSchema().JQueryFilters(indexedStatus)))
}

// What a screen offers is what the compiler takes: the one table serves both.
func TestEveryOfferedOperatorIsTaken(t *testing.T) {
	t.Parallel()
	for i, o := range operators {
		require.Equal(t, Operator(i+1), o.op, "the table is in the order of the constants")
	}
	values := map[string]any{
		"name": "a", "nick": "a", "status": "active", "metrics.spend": 1, "metrics.limit": 1,
		"created_at": "2026-01-01", "ended_at": "2026-01-01", "live": true, "ref": "000000000000000000000001", "tags": "x",
	}
	value := func(field, operator string) any {
		switch operator {
		case "in", "notIn", "not_in":
			return []any{values[field]}
		case "between", "notBetween", "not_between":
			return []any{values[field], values[field]}
		case "last_days_interval", "next_days_interval":
			return 1
		default:
			return values[field]
		}
	}
	coll := insert(t, heroRows()...)
	offered := 0
	try := func(document any) {
		offered++
		require.NotPanics(t, func() { matches(t, coll, everyKind(), "first", mustJSON(t, document)) })
	}
	for _, f := range everyKind().ReactFields(indexedStatus) {
		for _, o := range f.Operators {
			try(map[string]any{"field": f.Name, "operator": o.Name, "value": value(f.Name, o.Name)})
		}
	}
	for _, f := range everyKind().JQueryFilters(indexedStatus) {
		for _, o := range f.Operators {
			rule := map[string]any{"field": f.Field, "id": f.ID, "operator": o, "value": value(f.Field, o)}
			try(map[string]any{"condition": "AND", "rules": []any{rule}})
		}
	}
	require.Greater(t, offered, 200)
}
