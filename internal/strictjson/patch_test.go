package strictjson_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"catalogue/internal/strictjson"
)

// merge is the algorithm of RFC 7396, section 2, on untyped values.
func merge(target, patch any) any {
	members, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	old, _ := target.(map[string]any)
	out := map[string]any{}
	maps.Copy(out, old)
	for name, value := range members {
		if value == nil {
			delete(out, name)
		} else {
			out[name] = merge(out[name], value)
		}
	}
	return out
}

func untyped(t require.TestingT, body string) any {
	var out any
	require.NoError(t, json.Unmarshal([]byte(body), &out), body)
	return out
}

// appendix is that of RFC 7396: the original, the patch and the result.
var appendix = [...][3]string{
	{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
	{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
	{`{"a":"b"}`, `{"a":null}`, `{}`},
	{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
	{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
	{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
	{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
	{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
	{`["a","b"]`, `["c","d"]`, `["c","d"]`},
	{`{"a":"b"}`, `["c"]`, `["c"]`},
	{`{"a":"foo"}`, `null`, `null`},
	{`{"a":"foo"}`, `"bar"`, `"bar"`},
	{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
	{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
	{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
}

// The model that the property below compares with is right itself.
func TestAppendixOfTheModel(t *testing.T) {
	t.Parallel()
	for _, c := range appendix {
		require.Equal(t, untyped(t, c[2]), merge(untyped(t, c[0]), untyped(t, c[1])), "%s with %s", c[0], c[1])
	}
}

// apply patches original, a JSON text of T, and writes the result as JSON. It reports false where the patch does not
// fit T.
func apply[T any](t require.TestingT, original, body string) (string, bool) {
	decoder := strictjson.New[T]()
	target, wrong := decoder.Create(parse(t, original))
	require.Empty(t, wrong, original)
	patch, wrong := decoder.Patch(parse(t, body))
	if len(wrong) > 0 {
		return "", false
	}
	patch.Apply(&target)
	out, err := json.Marshal(target)
	require.NoError(t, err)
	return string(out), true
}

func TestAppendixWithTypes(t *testing.T) {
	t.Parallel()
	type texts struct {
		A *string `json:"a,omitempty"`
		B *string `json:"b,omitempty"`
	}
	type parent struct {
		A *texts `json:"a,omitempty"`
	}
	type list struct {
		A []string `json:"a,omitempty"`
	}
	type whole struct {
		A *int64  `json:"a,omitempty"`
		E *string `json:"e,omitempty"`
	}
	type grandchild struct {
		CCC *string `json:"ccc,omitempty"`
	}
	type child struct {
		BB *grandchild `json:"bb,omitempty"`
	}
	type grandparent struct {
		A *child `json:"a,omitempty"`
	}
	got := func(out string, fits bool) string {
		require.True(t, fits)
		return out
	}
	for _, c := range appendix[:4] {
		require.JSONEq(t, c[2], got(apply[texts](t, c[0], c[1])))
	}
	// The type of a field does not change: what replaces a list by a text does not fit.
	_, fits := apply[list](t, appendix[4][0], appendix[4][1])
	require.False(t, fits)
	require.JSONEq(t, appendix[5][2], got(apply[list](t, `{"a":["c"]}`, appendix[5][1])))
	require.JSONEq(t, `{"a":{"a":"d"}}`, got(apply[parent](t, `{"a":{"a":"c"}}`, `{"a":{"a":"d","b":null}}`))) // case 7
	_, fits = apply[list](t, `{"a":["b"]}`, appendix[7][1])
	require.False(t, fits)
	for _, c := range appendix[8:12] { // an object stays one
		_, fits = apply[texts](t, `{"a":"b"}`, c[1])
		require.False(t, fits, c[1])
	}
	require.JSONEq(t, `{"a":1}`, got(apply[whole](t, appendix[12][0], appendix[12][1])), "null is never stored")
	require.JSONEq(t, `{"a":"b"}`, got(apply[texts](t, `{}`, `{"a":"b","b":null}`))) // case 14, on an object
	require.JSONEq(t, `{}`, got(apply[grandparent](t, appendix[14][0], appendix[14][1])), "empty parents are never stored")
}

func TestAppendixOnMaps(t *testing.T) {
	t.Parallel()
	type holder struct {
		M map[string]string `json:"m,omitempty"`
	}
	in := func(body string) string { return `{"m":` + body + `}` }
	for _, c := range append(slices.Clone(appendix[:4]), [3]string{`{"b":"c"}`, `{"b":"d","c":null}`, `{"b":"d"}`}) {
		out, fits := apply[holder](t, in(c[0]), in(c[1]))
		require.True(t, fits)
		require.JSONEq(t, strings.ReplaceAll(in(c[2]), `{"m":{}}`, `{}`), out)
	}
	out, fits := apply[holder](t, in(`{"a":"foo"}`), in("null"))
	require.True(t, fits)
	require.JSONEq(t, "{}", out)
	for _, c := range [...]int{5, 7, 8, 9, 11, 12, 14} { // members that are no texts, and what is no map
		_, fits := apply[holder](t, `{}`, in(appendix[c][1]))
		require.False(t, fits, appendix[c][1])
	}
}

// prune leaves out empty objects and lists, which are never stored.
func prune(v any) {
	members, _ := v.(map[string]any)
	for name, value := range members {
		prune(value)
		object, isObject := value.(map[string]any)
		list, isList := value.([]any)
		if isObject && len(object) == 0 || isList && len(list) == 0 {
			delete(members, name)
		}
	}
}

func drawBody(t *rapid.T, label string, nulls bool) string {
	some := func(values ...any) any {
		if nulls {
			values = append(values, nil)
		}
		return rapid.SampledFrom(values).Draw(t, label)
	}
	body := map[string]any{}
	maybe := func(in map[string]any, name string, value any) {
		if rapid.Bool().Draw(t, name) {
			in[name] = value
		}
	}
	maybe(body, "name", some("a", "b", ""))
	maybe(body, "count", some(1, 2))
	maybe(body, "at", some("2026-01-31T12:00:00.000Z"))
	maybe(body, "tags", some([]any{}, []any{"a"}, []any{"b", "a"}))
	attributes := map[string]any{}
	maybe(attributes, "k", some("v", "w"))
	maybe(attributes, "l", some("v"))
	maybe(body, "attributes", some(attributes))
	deep := map[string]any{}
	maybe(deep, "system", some("s", "r"))
	inner := map[string]any{}
	maybe(inner, "spend", some(1.5, 2))
	maybe(inner, "deep", some(deep))
	maybe(body, "metrics", some(inner))
	out, err := json.Marshal(body)
	require.NoError(t, err)
	return string(out)
}

func TestPatchIsTheMergeOfRFC7396Property(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		original, body := drawBody(t, "original", false), drawBody(t, "patch", true)
		target, wrong := newDecoder().Create(parse(t, original))
		require.Empty(t, wrong)
		before, err := json.Marshal(target)
		require.NoError(t, err)
		patch, wrong := newDecoder().Patch(parse(t, body))
		require.Empty(t, wrong)

		first, second := target, target
		patch.Apply(&first)
		patch.Apply(&second)
		require.Equal(t, first, second, "a patch can be applied again and again")
		got, err := json.Marshal(first)
		require.NoError(t, err)
		want := merge(untyped(t, original), untyped(t, body))
		want = merge(want, map[string]any{"id": strings.Repeat("0", 24)})
		prune(want)
		require.Equal(t, want, untyped(t, string(got)))

		after, err := json.Marshal(target)
		require.NoError(t, err)
		require.Equal(t, string(before), string(after), "a copy of the target is left alone")
	})
}

func TestAppliedValuesShareNoMemory(t *testing.T) {
	t.Parallel()
	patch, wrong := newDecoder().Patch(parse(t, `{"name": "a", "tags": ["a"], "attributes": {"a": "b"}, "metrics": {"spend": 1}}`))
	require.Empty(t, wrong)
	var first, second row
	patch.Apply(&first)
	patch.Apply(&second)
	*first.Name, first.Tags[0], first.Attributes["a"], *first.Metrics.Spend = "x", "x", "x", 5
	require.Equal(t, row{
		Name: new("a"), Tags: []string{"a"}, Attributes: map[string]string{"a": "b"}, Metrics: &metrics{Spend: new(1.0)},
	}, second)
}

func TestNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 400)
	patch, wrong := newDecoder().Patch(parse(t, `{"name": null, "tags": ["a"], "attributes": {"a.b": "c", "d]": null, "`+long+`": ""}, "metrics": {"deep": null}}`))
	require.Empty(t, wrong)
	for _, path := range []string{
		"", "name", "tags", "tags[0]", "tags[99]", "attributes", "attributes[a.b]", "attributes[d]]", "metrics", "metrics.deep", "metrics.deep.system",
		"attributes[" + long[:289] + "…",
	} {
		require.True(t, patch.Names(path), path)
	}
	for _, path := range []string{
		"count", "Name", "metrics.spend", "attributes[a]", "attributes[y…", "attributes[]", "metrics.deepest", "rev",
	} {
		require.False(t, patch.Names(path), path)
	}
	all, wrong := newDecoder().Patch(parse(t, `{"metrics": null}`))
	require.Empty(t, wrong)
	require.True(t, all.Names("metrics.spend"))
	require.False(t, strictjson.Patch[row]{}.Names("name"))
	require.False(t, strictjson.Patch[row]{}.Names(""))

	var nothing row
	strictjson.Patch[row]{}.Apply(&nothing)
	require.Equal(t, row{}, nothing)
}

func TestRemoves(t *testing.T) {
	t.Parallel()
	for body, want := range map[string][][]string{
		`{}`:                             nil,
		`{"name": "a", "tags": ["b"]}`:   nil,
		`{"name": null}`:                 {{"name"}},
		`{"tags": []}`:                   {{"tags"}},
		`{"attributes": {}}`:             nil,
		`{"metrics": null, "at": null}`:  {{"metrics"}, {"at"}},
		`{"metrics": {"spend": null}}`:   {{"metrics", "spend"}},
		`{"attributes": {"a.b": null}}`:  {{"attributes", "a.b"}},
		`{"metrics": {"deep": {}}}`:      nil,
		`{"attributes": {"": null}}`:     {{"attributes", ""}},
		`{"tags": null, "name": "null"}`: {{"tags"}},
	} {
		patch, wrong := newDecoder().Patch(parse(t, body))
		require.Empty(t, wrong, body)
		require.Equal(t, want, patch.Removes(), body)
	}
	require.Empty(t, strictjson.Patch[row]{}.Removes())
}
