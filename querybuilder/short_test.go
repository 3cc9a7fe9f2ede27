package querybuilder

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func shortFilter(t *testing.T, name, content string) Filter {
	t.Helper()
	rule, err := everyKind().Short(name, content)
	require.NoError(t, err)
	filter, err := everyKind().Check(rule, time.UTC)
	require.NoError(t, err, "%s=%s", name, content)
	return filter
}

func TestShortFormsAreTheRuleWrittenOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, content, document string }{
		{"status", "active,paused", `{"field":"status","operator":"in","value":["active","paused"]}`},
		{"status", "active", `{"field":"status","operator":"=","value":"active"}`},
		{"status.ne", "active", `{"field":"status","operator":"!=","value":"active"}`},
		{"nick", `a\,b, c`, `{"field":"nick","operator":"in","value":["a,b","c"]}`},
		{"nick.eq", "a,b", `{"field":"nick","operator":"=","value":"a,b"}`},
		{"tag", "x", `{"field":"tags","operator":"=","value":"x"}`},
		{"tag", "x,y", `{"field":"tags","operator":"in","value":"x,y"}`},
		{"created_at.gte", "2026-01-01", `{"field":"created_at","operator":">=","value":"2026-01-01"}`},
		{"created_at.lte", "2026-01-01", `{"field":"created_at","operator":"<=","value":"2026-01-01"}`},
		{"created_at", "2026-01-01", `{"field":"created_at","operator":"=","value":"2026-01-01"}`},
		{"created_at", "2026-01-01,2026-01-03", `{"combinator":"or","rules":[{"field":"created_at","operator":"=","value":"2026-01-01"},
			{"field":"created_at","operator":"=","value":"2026-01-03"}]}`},
		{"metrics.spend.lt", "100", `{"field":"metrics.spend","operator":"<","value":100}`},
		{"metrics.spend.gt", "1e2", `{"field":"metrics.spend","operator":">","value":100}`},
		{"live", "true", `{"field":"live","operator":"=","value":true}`},
		{"ref", "0000000000000000000000AB", `{"field":"ref","operator":"=","value":"0000000000000000000000ab"}`},
		{"q", "  Two   w.rds ", `{"combinator":"and","rules":[{"field":"name","operator":"contains","value":"Two"},
			{"field":"name","operator":"contains","value":"w.rds"}]}`},
	} {
		t.Run(c.name+"="+c.content, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, digest(t, everyKind(), c.document), shortFilter(t, c.name, c.content).Digest())
		})
	}
}

func TestShortFormsCombineWithADocument(t *testing.T) {
	t.Parallel()
	document, err := everyKind().Parse([]byte(`{"combinator":"and","rules":[{"field":"nick","operator":"=","value":"a"}]}`), time.UTC)
	require.NoError(t, err)
	whole := digest(t, everyKind(), `{"condition":"AND","rules":[{"field":"status","operator":"in","value":["paused","active"]},
		{"field":"nick","operator":"equal","value":"a"},{"field":"metrics.spend","operator":"less","value":1}]}`)
	require.Equal(t, whole,
		And(document, shortFilter(t, "status", "active,paused"), shortFilter(t, "metrics.spend.lt", "1")).Digest())

	decoded, err := Decode([]byte(`{"field":"nick","operator":"=","value":"a"}`))
	require.NoError(t, err)
	status, err := everyKind().Short("status", "active,paused")
	require.NoError(t, err)
	spend, err := everyKind().Short("metrics.spend.lt", "1")
	require.NoError(t, err)
	joined, err := everyKind().Check(Join(decoded, Rule{}, status, spend), time.UTC)
	require.NoError(t, err)
	require.Equal(t, whole, joined.Digest())
}

func TestWrongShortForms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, content, code string }{
		{"statsu", "active", "rule_field_unknown"},
		{"status.gt", "active", "rule_field_unknown"},
		{"tags", "x", "rule_field_unknown"},
		{"$where", "1", "rule_field_unknown"},
		{"status", "active,nope", "rule_value_invalid"},
		{"metrics.spend.lt", "", "rule_value_invalid"},
		{"metrics.spend.lt", "ten", "rule_value_invalid"},
		{"created_at.gte", "2026-1-", "rule_value_invalid"},
		{"q", "   ", "rule_value_invalid"},
		{"q", strings.Repeat("x", MaxText+1), "rule_limit"},
		{"nick", strings.Repeat("x", MaxText+1), "rule_limit"},
		{"nick", strings.Repeat("x,", MaxListItems+1), "rule_limit"},
		{"nick.eq", "a\x00", "rule_value_invalid"},
		{"nick.eq", "\xff", "rule_value_invalid"},
	} {
		t.Run(c.name+"="+c.content, func(t *testing.T) {
			t.Parallel()
			rule, err := everyKind().Short(c.name, c.content)
			if err == nil {
				_, err = everyKind().Check(rule, time.UTC)
			}
			require.Equal(t, []string{c.name + " " + c.code}, faults(t, err))
		})
	}
	_, err := everyKind().Short("statsu", "x")
	require.ErrorContains(t, err, "did you mean status?")
	_, err = everyKind().Short("spend.lt", "x")
	require.ErrorContains(t, err, "metrics.spend.lt")
	require.Contains(t, everyKind().ShortNames(), "metrics.spend.lt")
	require.Contains(t, everyKind().ShortNames(), "tag.ne")
	require.NotContains(t, everyKind().ShortNames(), "tag.lt")
}

func TestEachWordOfASearchIsFound(t *testing.T) {
	t.Parallel()
	schema := Schema{Search: []string{"name", "title"}, Fields: []Field{
		{Name: "name", Kind: String, FoldCase: true}, {Name: "title", Kind: String, FoldCase: true},
	}}
	coll := insert(t,
		bson.D{{Key: "name", Value: "Summer Sale"}, {Key: "title", Value: "banner"}},
		bson.D{{Key: "name", Value: "summer"}, {Key: "title", Value: "the SALE (50%)"}},
		bson.D{{Key: "name", Value: "winter sale"}})
	for content, want := range map[string][]string{
		"sale summer": {"Summer Sale", "summer"},
		"(50%)":       {"summer"},
		"s.le":        nil,
		"winter":      {"winter sale"},
	} {
		rule, err := schema.Short("q", content)
		require.NoError(t, err)
		filter, err := schema.Check(rule, time.UTC)
		require.NoError(t, err)
		require.Equal(t, want, found(t, coll, "name", filter.Compile(now)), content)
	}
}
