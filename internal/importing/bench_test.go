package importing_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"catalogue/creatives"
	"catalogue/internal/changes"
	"catalogue/internal/importing"
)

// nowhere is a store that writes nothing.
type nowhere struct{}

func (nowhere) Apply(_ context.Context, _ string, items []changes.Item) ([]changes.Outcome, error) {
	return make([]changes.Outcome, len(items)), nil
}

// BenchmarkRun is an import's own work, both passes, without the database.
func BenchmarkRun(b *testing.B) {
	const rows = 10_000
	var text strings.Builder
	for i := range rows {
		fmt.Fprintf(&text, `{"acno":"A%05d","title":"A title of usual length, no. %d","classification":"on paper, unique",`+
			`"medium":"Graphite on paper","acquisitionYear":1922,"dateText":"date not known","width":"394","height":"419",`+
			`"depth":"","units":"mm","thumbnailUrl":"http://example.org/art/%d_8.jpg",`+
			`"url":"http://example.org/art/artworks/%d","yearFrom":1828}`+"\n", i, i, i, i)
	}
	path := write(b, "a.jsonl", text.String())
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
