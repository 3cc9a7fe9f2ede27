package querybuilder

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// requireOnlyOurs walks a compiled filter: the operators are on the list, the fields are the schema's, and the
// expressions hold no text from outside.
func requireOnlyOurs(t testing.TB, schema Schema, filter bson.D) {
	t.Helper()
	ours := append(schema.Names(), "_id")
	allowed := CompiledOperators()
	var walk func(v any, expression bool)
	walk = func(v any, expression bool) {
		switch x := v.(type) {
		case bson.D:
			for _, e := range x {
				if strings.HasPrefix(e.Key, "$") {
					require.Contains(t, allowed, e.Key)
				} else {
					require.Contains(t, ours, e.Key)
					require.False(t, expression, "an expression names fields in its arguments only")
				}
				walk(e.Value, expression || e.Key == "$expr")
			}
		case bson.A:
			for _, item := range x {
				walk(item, expression)
			}
		case string:
			if expression && !slices.Contains([]string{"string", "date", "bool", "objectId"}, x) {
				require.Contains(t, ours, strings.TrimPrefix(x, "$"))
			}
		case nil, bool, int32, int64, float64, bson.DateTime, bson.ObjectID:
		default:
			require.Fail(t, "a value of another type", "%T", v)
		}
	}
	walk(filter, false)
}

func bsonText(t require.TestingT, filter bson.D) string {
	out, err := bson.MarshalExtJSON(filter, true, false)
	require.NoError(t, err)
	return string(out)
}

func fuzzDocument(t *testing.T, schema Schema, document []byte) {
	t.Helper()
	kyiv, err := time.LoadLocation("Europe/Kyiv")
	require.NoError(t, err)
	filter, err := schema.Parse(document, kyiv)
	if err != nil {
		require.NotEmpty(t, faults(t, err))
		return
	}
	query := filter.Compile(now)
	requireOnlyOurs(t, schema, query)
	_, err = bson.Marshal(query)
	require.NoError(t, err)
	require.Equal(t, filter.Empty(), filter.Digest() == "")
	require.Equal(t, filter.Empty(), len(query) == 0)
}

func FuzzReactRules(f *testing.F) {
	for _, document := range []string{
		`{"combinator":"and","not":true,"rules":[{"field":"name","operator":"contains","value":"a.*"},{"combinator":"or","rules":[]}]}`,
		`{"rules":[{"field":"nick","operator":"in","value":"a\\,b, c"},"or",{"field":"metrics.spend","operator":"between","value":[1e3,"-0.5"]}]}`,
		`{"field":"name","operator":"endsWith","value":"nick","valueSource":"field"}`,
		`{"field":"created_at","operator":"<=","value":"2026-03-29"}`,
		`{"field":"created_at","operator":"this_week","muted":false}`,
		`{"field":"name","operator":"=","value":{"$ne":null}}`,
		`{"field":"$where","operator":"=","value":"\ud83d\ude00"}`,
		`{"field":"~","operator":"=","value":"","id":{"a":[{}]}}`,
	} {
		f.Add([]byte(document))
	}
	f.Fuzz(func(t *testing.T, document []byte) { fuzzDocument(t, everyKind(), document) })
}

func FuzzJQueryRules(f *testing.F) {
	for _, document := range []string{
		`{"condition":"AND","rules":[{"id":"name","field":"name","type":"string","input":"text","operator":"not_contains","value":"foo"}],"valid":true}`,
		`{"condition":"OR","not":true,"rules":[{"field":"nick","value":["a"]},{"rules":[{"field":"tags","operator":"in","value":["x","y"]}]}]}`,
		`{"condition":"AND","rules":[{"field":"nick","operator":"is_not_empty","value":null}]}`,
		`{"condition":"AND","rules":[{"field":"metrics.spend","operator":"not_between","value":[4,5]}]}`,
		`{"condition":"AND","rules":[{"id":null,"field":null}],"valid":false}`,
	} {
		f.Add([]byte(document))
	}
	f.Fuzz(func(t *testing.T, document []byte) { fuzzDocument(t, everyKind(), document) })
}

func FuzzShortForms(f *testing.F) {
	f.Add("q", "two words")
	f.Add("status", `active,pau\,sed`)
	f.Add("created_at.gte", "2026-01-01")
	f.Add("metrics.spend.lt", "1e3")
	f.Add("tag", "$x")
	f.Fuzz(func(t *testing.T, name, content string) {
		rule, err := everyKind().Short(name, content)
		if err == nil {
			var filter Filter
			if filter, err = everyKind().Check(rule, time.UTC); err == nil {
				requireOnlyOurs(t, everyKind(), filter.Compile(now))
				return
			}
		}
		for _, fault := range faults(t, err) {
			require.True(t, strings.HasPrefix(fault, name+" "))
		}
	})
}

// TestHostileDocumentsCostLittle bounds the memory that a document of the greatest length can take, whatever it is.
func TestHostileDocumentsCostLittle(t *testing.T) { //nolint:paralleltest // counts allocations of the process
	fill := func(start, part, end string) string {
		n := (MaxBytes - len(start) - len(end)) / len(part)
		return start + strings.TrimSuffix(strings.Repeat(part, n), ",") + end
	}
	const (
		most      = 4_000
		mostBytes = 1 << 20
	)
	schema := everyKind()
	rule := `{"field":"nick","operator":"in","value":`
	for name, document := range map[string]string{
		"brackets":          fill("", "[", ""),
		"objects":           fill("", `{"a":`, ""),
		"groups":            fill("", `{"rules":[`, ""),
		"empty groups":      fill(`{"combinator":"and","rules":[`, `{"combinator":"and","rules":[]},`, `]}`),
		"nameless groups":   fill(`{"combinator":"and","rules":[`, `{"rules":[]},`, `]}`),
		"empty rules":       fill(`{"combinator":"and","rules":[`, `{},`, `]}`),
		"combinators":       fill(`{"rules":[`, `"",`, `]}`),
		"numbers for rules": fill(`{"combinator":"or","rules":[`, `1,`, `]}`),
		"items":             fill(rule+`[`, `1,`, `]}`),
		"items in a text":   fill(rule+`"`, `a,`, `"}`),
		"commas in a text":  fill(rule+`"`, `,`, `"}`),
		"escaped commas":    fill(rule+`"`, `\\,`, `"}`),
		"escapes":           fill(rule+`"`, `\u0041`, `"}`),
		"names":             fill(`{`, `"aaaa":1,`, `}`),
		"digits":            fill(rule, `1`, `}`),
		"spaces":            fill(rule, ` `, `1}`),
		"wrong rules":       fill(`{"combinator":"or","rules":[`, `{"field":"nonesuch","operator":"x"},`, `]}`),
		"wrong fields":      fill(`{"combinator":"or","rules":[`, `{"field":"metrics.speend","operator":"=","value":"`+strings.Repeat("x", 100)+`"},`, `]}`),
	} {
		const runs = 10
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range runs {
			_, _ = schema.Parse([]byte(document), time.UTC)
		}
		runtime.ReadMemStats(&after)
		size, count := (after.TotalAlloc-before.TotalAlloc)/runs, (after.Mallocs-before.Mallocs)/runs
		t.Logf("%-18s %7d B %6d allocations", name, size, count)
		require.LessOrEqual(t, size, uint64(mostBytes), name)
		require.LessOrEqual(t, count, uint64(most), name)
	}
}
