package strictjson_test

import (
	"encoding/json"
	"math/big"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"catalogue/internal/strictjson"
)

func canonical(t require.TestingT, body string) string { return string(parse(t, body).Canonical()) }

func TestCanonicalIsOneForOneMeaning(t *testing.T) {
	t.Parallel()
	for want, bodies := range map[string][]string{
		`{"a":1,"b":{"c":2,"d":3}}`: {`{"b": {"d": 3, "c": 2}, "a": 1}`, `{"\u0061":1.0,"b":{"c":2e0,"d":30e-1}}`},
		`1`:                         {"1", "1.0", "1e0", "10e-1", "0.1e1", "1E+0", "1.000"},
		`0`:                         {"0", "-0", "0.0", "0e5", "-0e-99999999999999999999"},
		`15e-1`:                     {"1.5", "15e-1", "0.15e1"},
		`-1e3`:                      {"-1000", "-1e3", "-1000.0", "-1e0000000000000000000000000000003"},
		`9007199254740993`:          {"9007199254740993", "9007199254740993.0"},
		`"é\n<&\u2028\\"`:           {`"\u00e9\u000a\u003c&\u2028\u005c"`, "\"é\\n<&\u2028\\\\\""},
		`[1,null,true,"",{},[]]`:    {` [ 1, null ,true, "", { }, [ ] ] `},
		`1e99999999999999999999`:    {"1e99999999999999999999"},
	} {
		for _, body := range bodies {
			require.Equal(t, want, canonical(t, body), body)
		}
	}
}

func TestCanonicalDiffersWithTheMeaning(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, body := range []string{
		"1", "-1", "10", "0.1", `"1"`, "true", `"true"`, "null", `"null"`, `""`, "{}", "[]", "[[]]", `[""]`, `{"":""}`, "[1,2]", "[2,1]", "[12]",
		`{"a":1}`, `{"A":1}`, `{"a":null}`, `{"a":{"b":1}}`, `{"a":{},"b":1}`, `"a"`, `"a "`, `"é"`, `"e\u0301"`,
		"9007199254740993", "9007199254740992", "1e400", "1e401", "1e-400", "1e99999999999999999999", "1e99999999999999999998",
	} {
		c := canonical(t, body)
		require.Empty(t, seen[c], "%s and %s", body, seen[c])
		seen[c] = body
	}
}

// Of a request of many, each item is looked at for itself, after the bodies were compared.
func TestCanonicalTellsFlawsApart(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, body := range []string{
		`{"a":1}`, `{"a":1,"a":2}`, `{"a":1,"a":1}`, `{"a":1,"a":2,"a":3}`, `{"a":1,"\ud800":2}`, `{"a":1,"\udbff":2}`, `{"a":1,"\ufffd":2}`,
		`"\ud800"`, `"\udbff"`, `"\ufffd"`, `"\u0000"`, `""`, `"\\ud800"`,
	} {
		v, err := strictjson.Read([]byte(body))
		require.NoError(t, err)
		c := string(v.Canonical())
		require.Empty(t, seen[c], "%s and %s", body, seen[c])
		seen[c] = body
	}
}

func TestCanonicalNumberIsTheNumberProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		literal := strconv.FormatInt(rapid.Int64().Draw(t, "mantissa"), 10)
		if rapid.Bool().Draw(t, "fraction") {
			literal += "." + rapid.StringMatching(`[0-9]{1,5}`).Draw(t, "digits")
		}
		literal += "e" + strconv.Itoa(rapid.IntRange(-30, 30).Draw(t, "exponent"))
		want, ok := new(big.Rat).SetString(literal)
		require.True(t, ok)
		c := canonical(t, literal)
		got, ok := new(big.Rat).SetString(c)
		require.True(t, ok, c)
		require.Zero(t, want.Cmp(got), "%s became %s", literal, c)
		require.Equal(t, c, canonical(t, want.FloatString(40)), "the same number in another form")
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"name": "a", "tags": ["b"], "metrics": {"spend": 1.50, "clicks": 1e3}, "attributes": {"c": null}}`, `{"a":1,"a":2}`, `"\ud800"`,
		`"\u0000"`, `[-0, 1e400, 9223372036854775808, 1e-99999999999999999999]`, `{"\ud83d\ude00": "\\ud800"}`, `null`, ``, `{"Name": 1}`,
		`{"id": "00112233445566778899aabb", "at": "2026-01-31T12:00:00Z"}`, `"\`, "\xff", `[[[[`,
	} {
		f.Add([]byte(seed))
	}
	decoder := newDecoder()
	f.Fuzz(func(t *testing.T, body []byte) {
		v, err := strictjson.Read(body)
		_, parseErr := strictjson.Parse(body)
		if err != nil {
			require.Error(t, parseErr)
			return
		}
		var out row
		patch, wrong := decoder.Patch(v)
		require.LessOrEqual(t, len(wrong), 100)
		patch.Apply(&out)
		patch.Names("metrics.spend")

		c := v.Canonical()
		require.True(t, json.Valid(c), "%s", c)
		again, err := strictjson.Read(c)
		require.NoError(t, err, "%s", c)
		require.Equal(t, string(c), string(again.Canonical()))
		_, err = strictjson.Parse(c)
		require.Equal(t, parseErr == nil, err == nil, "%s", c)
	})
}
