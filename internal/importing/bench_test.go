package importing_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"catalogue/creatives"
	"catalogue/indexes"
	"catalogue/internal/changes"
	"catalogue/internal/importing"
	"catalogue/internal/mongotest"
)

// nowhere is a store that writes nothing.
type nowhere struct{}

func (nowhere) Apply(_ context.Context, _ string, items []changes.Item) ([]changes.Outcome, error) {
	return make([]changes.Outcome, len(items)), nil
}

// BenchmarkRun is an import's own work, both passes, without the database.
func BenchmarkRun(b *testing.B) {
	const rows = 10_000
	path := write(b, "a.jsonl", artworks(rows, ""))
	plan, err := importing.ParseMapping([]byte(shipped(b, "artworks.yaml")), creatives.ImportTarget())
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		s, err := importing.Run(b.Context(), importing.Options{
			Path: path, Plan: plan, Rejects: path + ".rejects", Store: nowhere{},
			EnsureIndexes: func(context.Context) error { return nil },
			Progress:      func(importing.Progress) {},
			Now:           time.Now,
		})
		require.NoError(b, err)
		require.Equal(b, int64(rows), s.Read)
	}
	b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkRunIntoADatabase are imports of new rows, of the same ones again, and of other content for them.
func BenchmarkRunIntoADatabase(b *testing.B) {
	const rows = 5_000
	plan, err := importing.ParseMapping([]byte(shipped(b, "artworks.yaml")), creatives.ImportTarget())
	require.NoError(b, err)
	first, other := write(b, "a.jsonl", artworks(rows, "")), write(b, "b.jsonl", artworks(rows, " other"))
	elapsed := map[string]time.Duration{}
	for b.Loop() {
		db := mongotest.Database(b)
		for _, run := range []struct{ name, path string }{{"new", first}, {"same", first}, {"changed", other}} {
			s, err := importing.Run(b.Context(), importing.Options{
				Path: run.path, Plan: plan, Rejects: run.path + ".rejects", Store: importer(b, db),
				EnsureIndexes: func(ctx context.Context) error {
					return indexes.Apply(ctx, db, creatives.Indexes(), func(indexes.Standing) {})
				},
				Progress: func(importing.Progress) {},
				Now:      time.Now,
			})
			require.NoError(b, err)
			require.Zero(b, s.Rejected)
			elapsed[run.name] += s.Elapsed
		}
	}
	for name, took := range elapsed {
		b.ReportMetric(float64(rows*b.N)/took.Seconds(), name+"-rows/s")
	}
}

// artworks makes rows as examples/mappings/artworks.yaml reads them, with titles that end in suffix.
func artworks(rows int, suffix string) string {
	var text strings.Builder
	for i := range rows {
		fmt.Fprintf(&text, `{"acno":"A%05d","title":"A title of usual length, no. %d%s","classification":"on paper, unique",`+
			`"medium":"Graphite on paper","acquisitionYear":1922,"dateText":"date not known","width":"394","height":"419",`+
			`"depth":"","units":"mm","thumbnailUrl":"http://example.org/art/%d_8.jpg",`+
			`"url":"http://example.org/art/artworks/%d","yearFrom":1828}`+"\n", i, i, suffix, i, i)
	}
	return text.String()
}
