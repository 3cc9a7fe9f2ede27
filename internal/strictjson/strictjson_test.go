package strictjson_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"catalogue/internal/problem"
	"catalogue/internal/strictjson"
)

// parse is for texts that are right.
func parse(t require.TestingT, body string) strictjson.Value {
	v, err := strictjson.Parse([]byte(body))
	require.NoError(t, err, body)
	return v
}

func TestParseRefusesWhatIsNoJSON(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"empty": "", "blank": " \n", "cut": `{"a": 1`, "trailing": `{} {}`, "trailing brace": `{}}`, "two values": "1 2",
		"not UTF-8": "{\"a\": \"\xff\"}", "a name not in UTF-8": "{\"\xc0\xaf\": 1}", "BOM": "\ufeff{}", "a raw NUL": "{\"a\": \"\x00\"}",
		"comment": `{} // x`, "bare word": `nul`, "NaN": `{"a": NaN}`, "hexadecimal": `0x1`, "leading zero": `01`, "plus": `+1`,
		"trailing comma": `[1,]`, "single quotes": `{'a': 1}`, "half an escape": `"\u12"`,
		"100,000 brackets":  strings.Repeat("[", 100_000),
		"10,001 full pairs": strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
	} {
		_, err := strictjson.Parse([]byte(body))
		p := problem.Of(err)
		require.Equal(t, problem.BodyMalformed, p.Code, name)
		require.Equal(t, http.StatusBadRequest, p.Status(), name)
		require.Empty(t, p.Errors, name)
	}
}

// What is nested too deep is a mistake of its place, so that it spoils nothing beside it.
func TestWhatIsNestedTooDeep(t *testing.T) {
	t.Parallel()
	parse(t, strings.Repeat("[", 64)+strings.Repeat("]", 64))
	for _, inner := range []string{"[]", `{"b": [1, {"c": "]}"}], "b": 2}`, strings.Repeat("[", 9000) + strings.Repeat("]", 9000)} {
		body := strings.Repeat("[", 64) + inner + strings.Repeat("]", 64)
		_, err := strictjson.Parse([]byte(`{"good": 1, "bad": ` + body[1:len(body)-1] + `}`))
		p := problem.Of(err)
		require.Equal(t, http.StatusUnprocessableEntity, p.Status())
		require.Len(t, p.Errors, 1)
		require.Equal(t, problem.FieldType, p.Errors[0].Code)
		require.Equal(t, "bad"+strings.Repeat("[0]", 63), p.Errors[0].Field)
		require.Contains(t, p.Errors[0].Message, "is nested more than 64 deep")

		v, err := strictjson.Read([]byte(body))
		require.NoError(t, err)
		require.Contains(t, string(v.Canonical()), inner, "it is told apart")
	}
}

func TestReadBoundsTheNumberOfValues(t *testing.T) {
	t.Parallel()
	most := "[" + strings.Repeat("0,", 499_998) + "0]" // the array itself is one
	parse(t, most)
	_, err := strictjson.Read([]byte(strings.Replace(most, "0", "0,0", 1)))
	require.Equal(t, problem.BodyTooLarge, problem.Of(err).Code)
}

func TestParseTellsOfAllNamesAndTextsThatAreWrong(t *testing.T) {
	t.Parallel()
	_, err := strictjson.Parse([]byte(`{
		"a": 1, "b": {"c": [0, {"d": 1, "\u0064": 2, "d": 3}]}, "a": 4, "e": ["x", "\ud800"], "f": "a\u0000b",
		"\udc00x": 1, "n\u0000": 2, "ok": "\ud83d\ude00 \ufffd \\u0000 \\ud800", "pair turned": "\ude00\ud83d"}`))
	p := problem.Of(err)
	require.Equal(t, http.StatusUnprocessableEntity, p.Status())
	require.Equal(t, []problem.FieldError{
		{Field: "a", Code: problem.FieldRepeated, Message: "a is there twice; give it once"},
		{Field: `\udc00x`, Code: problem.FieldText, Message: `\udc00x holds a lone surrogate in its name, which is no character`},
		{Field: `n\u0000`, Code: problem.FieldText, Message: `n\u0000 holds the character NUL in its name`},
		{Field: "b.c[1].d", Code: problem.FieldRepeated, Message: "b.c[1].d is there twice; give it once"},
		{Field: "b.c[1].d", Code: problem.FieldRepeated, Message: "b.c[1].d is there twice; give it once"},
		{Field: "e[1]", Code: problem.FieldText, Message: "e[1] holds a lone surrogate, which is no character"},
		{Field: "f", Code: problem.FieldText, Message: "f holds the character NUL"},
		{Field: "pair turned", Code: problem.FieldText, Message: "pair turned holds a lone surrogate, which is no character"},
	}, p.Errors)
}

func TestSurrogates(t *testing.T) {
	t.Parallel()
	for literal, want := range map[string]string{
		`"\ud83d\ude00"`: "😀", `"\uD83D\uDE00"`: "😀", `"\ufffd"`: "\ufffd", `"` + "\ufffd" + `"`: "\ufffd", `"\\ud800"`: `\ud800`,
		`"\\\\u0000"`: `\\u0000`, `"\n\u000a"`: "\n\n", `"\u0001"`: "\x01",
	} {
		got, ok := parse(t, literal).Text()
		require.True(t, ok, literal)
		require.Equal(t, want, got, literal)
	}
	for _, literal := range []string{
		`"\ud800"`, `"\udc00"`, `"\ud800x"`, `"\ud800\n"`, `"\ud800\ud800"`, `"\ud83d\ude00\ude00"`, `"\ud800\u0041"`, `"\ud800\\udc00"`,
		`"\u0000"`, `"x\\\u0000"`,
	} {
		v, err := strictjson.Parse([]byte(literal))
		require.Equal(t, problem.FieldText, problem.Of(err).Code, literal)
		_, ok := v.Text()
		require.False(t, ok, literal)
	}
}

func TestAtMostAHundredErrors(t *testing.T) {
	t.Parallel()
	body := "[" + strings.TrimSuffix(strings.Repeat(`"\u0000",`, 1000), ",") + "]"
	_, err := strictjson.Parse([]byte(body))
	require.Len(t, problem.Of(err).Errors, 100)
}

func TestWhole(t *testing.T) {
	t.Parallel()
	for literal, want := range map[string]int64{
		"0": 0, "-0": 0, "-0.0e5": 0, "5": 5, "5.0": 5, "1e3": 1000, "1E+3": 1000, "12.5e1": 125, "100e-2": 1,
		"9223372036854775807": 1<<63 - 1, "-9223372036854775808": -1 << 63, "9007199254740993": 1<<53 + 1, "9007199254740993.0": 1<<53 + 1,
	} {
		got, ok := parse(t, literal).Whole()
		require.True(t, ok, literal)
		require.Equal(t, want, got, literal)
	}
	for _, literal := range []string{
		"1.5", `"5"`, "9223372036854775808", "-9223372036854775809", "1e400", "1e19", "1e-1", "true", "null", "[]", "{}",
		"1e99999999999999999999999", "9223372036854775807.5",
	} {
		_, ok := parse(t, literal).Whole()
		require.False(t, ok, literal)
	}
}

func TestAccessors(t *testing.T) {
	t.Parallel()
	v := parse(t, ` {"b": [1, null, "x"], "a": {"": true}} `)
	require.Equal(t, []string{"b", "a"}, v.Names())
	b, ok := v.Member("b")
	require.True(t, ok)
	items, ok := b.Items()
	require.True(t, ok)
	require.Len(t, items, 3)
	require.True(t, items[1].IsNull())
	require.False(t, items[1].IsZero())
	a, _ := v.Member("a")
	require.Equal(t, []string{""}, a.Names())

	none, ok := v.Member("B")
	require.False(t, ok)
	require.True(t, none.IsZero())
	require.False(t, none.IsNull())
	_, ok = b.Member("0")
	require.False(t, ok)
	_, ok = v.Items()
	require.False(t, ok)
	require.Nil(t, b.Names())
	_, ok = items[0].Text()
	require.False(t, ok)
}
