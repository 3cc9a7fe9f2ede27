package importing_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"catalogue/internal/importing"
	"catalogue/internal/testenv"
)

// realFile is what an import of one of the real files gives.
type realFile struct {
	target, mapping, file string
	want                  importing.Summary
}

var realFiles = []realFile{
	{
		target: "creatives", mapping: "ads.yaml", file: "ads.csv",
		want: importing.Summary{Read: 3498, Inserted: 3498, Warnings: map[importing.Warning]int64{
			importing.WarnEndBeforeStart:        202,
			importing.WarnClicksOverImpressions: 1,
			importing.WarnNoCreationDate:        1,
		}},
	},
	{
		target: "creatives", mapping: "artworks.yaml", file: "artworks.jsonl",
		want: importing.Summary{Read: 5154, Inserted: 5154, Warnings: map[importing.Warning]int64{
			importing.WarnNoCreationDate: 2,
		}},
	},
	{
		target: "tasks", mapping: "tasks.yaml", file: "tasks.jsonl",
		want: importing.Summary{Read: 1902, Inserted: 1902, Warnings: map[importing.Warning]int64{
			importing.WarnClosedBeforeCreated: 27, // in whole milliseconds, as times are stored
		}},
	},
	{
		target: "history", mapping: "task-history.yaml", file: "task-history.jsonl",
		want: importing.Summary{Read: 3828, Inserted: 3827, Duplicates: 1},
	},
	{
		target: "comments", mapping: "task-comments.yaml", file: "task-comments.jsonl",
		want: importing.Summary{Read: 97, Inserted: 83, Duplicates: 14},
	},
}

// The figures of the five real files: how many rows go in, how many are duplicates, which are odd; none is rejected.
// A second run changes nothing.
func TestRealFiles(t *testing.T) {
	t.Parallel()
	folder := testenv.Samples(t)
	im := newImports(t)
	for _, f := range realFiles {
		mapping, path := shipped(t, f.mapping), filepath.Join(folder, f.file)
		first := im.run(f.target, mapping, path)
		t.Logf("%s: %.0f rows/s, warnings %v", f.file, first.Rate(), first.Warnings)
		first.Elapsed, first.WarningLines = 0, nil
		if len(first.Warnings) == 0 {
			first.Warnings = nil
		}
		require.Equal(t, f.want, first, f.file)

		second := im.run(f.target, mapping, path)
		require.False(t, second.Changed(), f.file)
		require.Equal(t, f.want.Inserted, second.Unchanged, f.file)
	}
}
