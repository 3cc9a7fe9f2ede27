package querybuilder

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"catalogue/internal/instant"
)

func digest(t require.TestingT, schema Schema, document string) string {
	filter, err := schema.Parse([]byte(document), time.UTC)
	require.NoError(t, err, document)
	return filter.Digest()
}

func TestOneMeaningHasOneCanonicalForm(t *testing.T) {
	t.Parallel()
	for name, same := range map[string][]string{
		"numbers": {
			`{"field":"metrics.spend","operator":"=","value":10}`,
			`{"value":"10","operator":"=","field":"metrics.spend"}`,
			`{"field":"metrics.spend","operator":"=","value":1e1}`,
			`{"field":"metrics.spend","operator":"=","value":10.00}`,
			`{"field":"metrics.spend","operator":"in","value":["10",10.0]}`,
			`{"combinator":"or","rules":[{"field":"metrics.spend","operator":"=","value":[10]}]}`,
			`{"condition":"OR","rules":[{"id":"x","field":"metrics.spend","type":"double","input":"number","value":10}]}`,
		},
		"dates": {
			`{"field":"created_at","operator":">=","value":"2026-03-11T12:00:00Z"}`,
			`{"field":"created_at","operator":">=","value":"2026-03-11T14:00:00.000+02:00"}`,
			`{"field":"created_at","operator":">=","value":"2026-03-11T12:00:00.0009Z"}`,
		},
		"a day and its start": {
			`{"field":"created_at","operator":">=","value":"2026-03-11"}`,
			`{"field":"created_at","operator":">=","value":"2026-03-11T00:00:00Z"}`,
		},
		"ids": {
			`{"field":"ref","operator":"=","value":"0000000000000000000000ab"}`,
			`{"field":"ref","operator":"=","value":"0000000000000000000000AB"}`,
		},
		"texts": {
			`{"field":"nick","operator":"=","value":"é\/"}`,
			`{"field":"nick","operator":"=","value":"\u00e9/"}`,
		},
		"order and letter case": {
			`{"combinator":"and","rules":[{"field":"live","operator":"=","value":true},{"field":"nick","operator":"in","value":"a,b"}]}`,
			`{"rules":[{"field":"nick","operator":"in","value":["b","a","b"]},"AND",{"field":"live","operator":"=","value":"true"}]}`,
			`{"combinator":"AND","rules":[{"combinator":"and","rules":[{"field":"nick","operator":"in","value":" b ,a,,"}]},
				{"field":"live","operator":"=","value":true},{"field":"live","operator":"=","value":true},{"combinator":"and","rules":[]}]}`,
		},
		"bounds": {
			`{"field":"metrics.spend","operator":"between","value":"1,2"}`,
			`{"field":"metrics.spend","operator":"between","value":[2.0,1]}`,
		},
		"fields": {
			`{"field":"metrics.spend","operator":"<","value":"metrics.limit","valueSource":"field"}`,
			`{"field":"metrics.limit","operator":">","value":"metrics.spend","valueSource":"field"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := digest(t, everyKind(), same[0])
			require.NotEmpty(t, want)
			for _, document := range same {
				require.Equal(t, want, digest(t, everyKind(), document), document)
			}
		})
	}
}

func TestOtherMeaningsHaveOtherCanonicalForms(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, document := range []string{
		`{"rules":[]}`,
		`{"combinator":"and","not":true,"rules":[]}`,
		`{"field":"nick","operator":"=","value":"1"}`,
		`{"field":"name","operator":"=","value":"1"}`,
		`{"field":"nick","operator":"!=","value":"1"}`,
		`{"field":"nick","operator":"contains","value":"1"}`,
		`{"field":"nick","operator":"doesNotContain","value":"1"}`,
		`{"field":"name","operator":"contains","value":"1"}`,
		`{"field":"nick","operator":"beginsWith","value":"1"}`,
		`{"field":"nick","operator":"=","value":"1\",\"2"}`,
		`{"field":"nick","operator":"in","value":["1","2"]}`,
		`{"field":"nick","operator":"in","value":["1,2"]}`,
		`{"field":"nick","operator":"notIn","value":["1","2"]}`,
		`{"field":"nick","operator":"between","value":["1","2"]}`,
		`{"field":"nick","operator":"null"}`,
		`{"field":"nick","operator":"notNull"}`,
		`{"field":"nick","operator":"=","value":""}`,
		`{"condition":"AND","rules":[{"field":"nick","operator":"is_not_empty"}]}`,
		`{"field":"nick","operator":"=","value":"name","valueSource":"field"}`,
		`{"field":"nick","operator":"=","value":"name"}`,
		`{"field":"nick","operator":"contains","value":"name","valueSource":"field"}`,
		`{"field":"name","operator":"contains","value":"nick","valueSource":"field"}`,
		`{"field":"metrics.spend","operator":"=","value":9007199254740992}`,
		`{"field":"metrics.spend","operator":"=","value":9007199254740993}`,
		`{"field":"created_at","operator":"=","value":"2026-03-11"}`,
		`{"field":"created_at","operator":"=","value":"2026-03-11T00:00:00Z"}`,
		`{"field":"created_at","operator":"between","value":"2026-03-11T00:00:00Z,2026-03-12T00:00:00Z"}`,
		`{"field":"created_at","operator":"!=","value":"2026-03-11"}`,
		`{"field":"created_at","operator":"<=","value":"2026-03-11"}`,
		`{"field":"created_at","operator":"<","value":"2026-03-11"}`,
		`{"field":"created_at","operator":"last_days_interval","value":1}`,
		`{"field":"created_at","operator":"last_days_interval","value":2}`,
		`{"field":"created_at","operator":"next_days_interval","value":1}`,
		`{"field":"created_at","operator":"today"}`,
		`{"field":"live","operator":"=","value":true}`,
		`{"combinator":"and","rules":[{"field":"nick","operator":"=","value":"1"},{"field":"nick","operator":"=","value":"2"}]}`,
		`{"combinator":"and","not":true,"rules":[{"field":"nick","operator":"=","value":"1"},{"field":"nick","operator":"=","value":"2"}]}`,
	} {
		d := digest(t, everyKind(), document)
		require.NotContains(t, seen, d, "%s and %s", document, seen[d])
		seen[d] = document
	}
	for document, same := range map[string]bool{
		`{"field":"nick","operator":"=","value":"1"}`:                                         true,
		`{"field":"created_at","operator":">","value":"2026-03-11T00:00:00Z"}`:                true,
		`{"field":"created_at","operator":"last_days_interval","value":1}`:                    true,
		`{"field":"created_at","operator":"=","value":"2026-03-11"}`:                          false,
		`{"field":"created_at","operator":"this_week"}`:                                       false,
		`{"combinator":"and","not":true,"rules":[{"field":"created_at","operator":"today"}]}`: false,
	} {
		kyiv, err := instant.ParseZone("Europe/Kyiv")
		require.NoError(t, err)
		elsewhere, err := everyKind().Parse([]byte(document), kyiv)
		require.NoError(t, err)
		require.Equal(t, same, digest(t, everyKind(), document) == elsewhere.Digest(), "the zone in %s", document)
	}
}

func TestTheEmptyFilter(t *testing.T) {
	t.Parallel()
	filter, err := everyKind().Parse([]byte(`{"combinator":"or","rules":[]}`), time.UTC)
	require.NoError(t, err)
	for _, f := range []Filter{filter, {}, And(), And(filter, Filter{})} {
		require.True(t, f.Empty())
		require.Empty(t, f.Canonical())
		require.Empty(t, f.Digest())
		conditions, all := f.Conditions()
		require.Empty(t, conditions)
		require.True(t, all)
		require.False(t, f.Relative())
		require.NotNil(t, f.Compile(now))
		require.Empty(t, f.Compile(now))
	}
	zero, err := everyKind().Check(Rule{}, time.UTC)
	require.NoError(t, err)
	require.True(t, zero.Empty())
}

func TestConditions(t *testing.T) {
	t.Parallel()
	for document, want := range map[string][]Condition{
		`{"field":"status","operator":"=","value":"active"}`:               {{"status", true}},
		`{"field":"status","operator":"in","value":"active"}`:              {{"status", true}}, // it means the same
		`{"field":"status","operator":"in","value":"active,paused"}`:       {{"status", false}},
		`{"field":"status","operator":"notIn","value":"active,paused"}`:    {{"status", false}},
		`{"field":"status","operator":"!=","value":"active"}`:              {{"status", false}},
		`{"field":"created_at","operator":"=","value":"2026-03-11"}`:       {{"created_at", false}},
		`{"field":"created_at","operator":"last_days_interval","value":1}`: {{"created_at", false}},
		`{"field":"metrics.spend","operator":"between","value":[1,2]}`:     {{"metrics.spend", false}},
		`{"field":"nick","operator":"null"}`:                               {{"nick", false}},
		`{"field":"nick","operator":"notNull"}`:                            {{"nick", false}},
		`{"field":"nick","operator":"contains","value":"a"}`:               {{"nick", false}},
		`{"field":"nick","operator":"doesNotBeginWith","value":"a"}`:       {{"nick", false}},
		`{"combinator":"and","rules":[{"field":"metrics.spend","operator":">","value":1},{"field":"live","operator":"=","value":true},
			{"field":"metrics.spend","operator":"=","value":3},{"field":"nick","operator":"endsWith","value":"a"}]}`: {
			{"live", true}, {"metrics.spend", true}, {"nick", false},
		},
	} {
		filter, err := everyKind().Parse([]byte(document), time.UTC)
		require.NoError(t, err)
		conditions, all := filter.Conditions()
		require.Equal(t, want, conditions, document)
		require.True(t, all, document)
	}
}

func TestAlternativesAreMoreThanConditions(t *testing.T) {
	t.Parallel()
	either := `{"combinator":"or","rules":[{"field":"nick","operator":"=","value":"a"},{"field":"name","operator":"=","value":"b"}]}`
	for _, document := range []string{
		either, `{"not":true,"combinator":"or","rules":[{"field":"nick","operator":"=","value":"a"},{"field":"metrics.spend","operator":">","value":1}]}`,
		`{"combinator":"and","rules":[{"field":"live","operator":"=","value":true},` + either + `]}`,
		`{"field":"metrics.spend","operator":"notBetween","value":[1,2]}`, // two ranges
		`{"field":"status","operator":"in","value":[]}`,                   // nothing matches: there is no index to choose
		`{"field":"nick","operator":"=","valueSource":"field","value":"name"}`,
	} {
		filter, err := everyKind().Parse([]byte(document), time.UTC)
		require.NoError(t, err)
		conditions, all := filter.Conditions()
		require.Empty(t, conditions, document)
		require.False(t, all, document)
	}
}

// respelled writes the same rule in other words.
func respelled(schema Schema, s spec, random *rand.Rand) spec {
	if s.group {
		kids := make([]spec, 0, len(s.kids))
		for _, kid := range s.kids {
			kids = append(kids, respelled(schema, kid, random))
		}
		random.Shuffle(len(kids), func(i, j int) { kids[i], kids[j] = kids[j], kids[i] })
		s.kids = kids
		if random.IntN(4) == 0 { // a group of one says nothing more
			s = spec{group: true, or: random.IntN(2) == 0, kids: []spec{s}}
		}
		return s
	}
	f, _ := schema.Field(s.field)
	if s.other || s.op >= Null {
		return s
	}
	if list, ok := s.value.([]any); ok {
		out := make([]any, 0, len(list))
		for _, item := range list {
			out = append(out, otherSpelling(f.Kind, item, random))
		}
		random.Shuffle(len(out), func(i, j int) {
			// The bounds of dates are no set: from noon on to the end of that day is not the other way round.
			if f.Kind != Date || s.op == In || s.op == NotIn {
				out[i], out[j] = out[j], out[i]
			}
		})
		s.value = out
		return s
	}
	s.value = otherSpelling(f.Kind, s.value, random)
	return s
}

func otherSpelling(k Kind, v any, random *rand.Rand) any {
	pick := func(values ...any) any { return values[random.IntN(len(values))] }
	text, ok := v.(string)
	if l, isLiteral := v.(literal); isLiteral {
		text, ok = string(l), true
	}
	switch {
	case k == Bool:
		yes := v == true || v == "true"
		return pick(yes, map[bool]string{true: "true", false: "false"}[yes])
	case !ok:
		return v
	case k == Number:
		more := text + ".0"
		if strings.ContainsAny(text, ".e") {
			more = text
		}
		tens := more + "e0"
		if strings.Contains(text, "e") {
			tens = text
		}
		return pick(text, literal(text), more, literal(more), tens, literal(tens))
	case k == ID:
		return pick(strings.ToLower(text), strings.ToUpper(text))
	case k == Date:
		moment, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return v
		}
		return pick(text, moment.In(time.FixedZone("", 3*3600)).Format(time.RFC3339Nano), moment.UTC().Format("2006-01-02T15:04:05.000000Z"))
	default:
		return v
	}
}

func TestRespelledRulesHaveOneDigestProperty(t *testing.T) {
	t.Parallel()
	zone, err := instant.ParseZone("Europe/Kyiv")
	require.NoError(t, err)
	schema := drawSchema()
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpec(t, schema, 3)
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		parse := func(document string) Filter {
			filter, err := schema.Parse([]byte(document), zone)
			require.NoError(t, err, document)
			return filter
		}
		first := mustJSON(t, s.whole(react))
		second := mustJSON(t, respelled(schema, s, random).whole(jquery))
		a, b := parse(first), parse(second)
		require.Equal(t, string(a.Canonical()), string(b.Canonical()), "%s\n%s", first, second)
		require.Equal(t, a.Compile(now), b.Compile(now))
	})
}

// Filters with one digest are one query, so rules with other answers never share a count or a cursor.
func TestOneDigestIsOneQueryProperty(t *testing.T) {
	t.Parallel()
	schema := drawSchema()
	seen := map[string]string{}
	for range 20 {
		rapid.Check(t, func(t *rapid.T) {
			document := mustJSON(t, drawSpec(t, schema, 1).whole(react))
			filter, err := schema.Parse([]byte(document), time.UTC)
			require.NoError(t, err)
			query := mustJSON(t, bsonText(t, filter.Compile(now)))
			if before, ok := seen[filter.Digest()]; ok {
				require.Equal(t, before, query, document)
			}
			seen[filter.Digest()] = query
		})
	}
	queries := make([]string, 0, len(seen))
	for _, q := range seen {
		queries = append(queries, q)
	}
	slices.Sort(queries)
	// Two digests for one query only cost a second count; relative operators and date-only values can meet.
	require.Greater(t, len(slices.Compact(queries)), len(seen)*9/10)
}
