package creatives

import (
	"testing"

	"github.com/stretchr/testify/require"

	"catalogue/internal/importing"
	"catalogue/internal/instant"
	"catalogue/internal/origin"
)

func TestImportedCreativeWithoutANameTakesItsSourceID(t *testing.T) {
	t.Parallel()
	c := Creative{Metrics: &Metrics{Clicks: new(int64(1)), Impressions: new(int64(8))}, Media: &Media{}}
	finishImport(&c, origin.Source{System: "s", ID: "a-1"})
	require.Equal(t, Creative{
		Name:    new("a-1"),
		Metrics: &Metrics{Clicks: new(int64(1)), Impressions: new(int64(8)), CTR: new(0.125)},
		Source:  &origin.Source{System: "s", ID: "a-1"},
	}, c)

	named := Creative{Name: new("mine")}
	finishImport(&named, origin.Source{System: "s", ID: "a-2"})
	require.Equal(t, new("mine"), named.Name)
}

func TestImportWarnings(t *testing.T) {
	t.Parallel()
	first, second := new(instant.MustParse("2026-01-01T00:00:00Z")), new(instant.MustParse("2026-01-02T00:00:00Z"))
	for name, c := range map[string]struct {
		creative Creative
		want     []importing.Warning
	}{
		"nothing odd":             {Creative{CreatedAt: first, EndedAt: second}, nil},
		"an end at the start":     {Creative{CreatedAt: first, EndedAt: first}, nil},
		"no creation date":        {Creative{EndedAt: first}, []importing.Warning{importing.WarnNoCreationDate}},
		"ended before created":    {Creative{CreatedAt: second, EndedAt: first}, []importing.Warning{importing.WarnEndBeforeStart}},
		"ended before launched":   {Creative{CreatedAt: first, LaunchedAt: second, EndedAt: first}, []importing.Warning{importing.WarnEndBeforeStart}},
		"launched before created": {Creative{CreatedAt: second, LaunchedAt: first, EndedAt: first}, nil},
		"clicks without views": {
			Creative{CreatedAt: first, Metrics: &Metrics{Clicks: new(int64(1)), Impressions: new(int64(0))}},
			[]importing.Warning{importing.WarnClicksOverImpressions},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, importWarnings(&c.creative))
		})
	}
}
