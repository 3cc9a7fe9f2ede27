package follower_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	follower "catalogue/feed/sync"
)

// losses are ways in which a copy loses lines.
func losses() map[string]func(path string, content []byte) error {
	cut := func(path string, size int) error { return os.Truncate(path, int64(size)) }
	return map[string]func(string, []byte) error{
		"removed":               func(path string, _ []byte) error { return os.Remove(path) },
		"emptied":               func(path string, _ []byte) error { return cut(path, 0) },
		"cut at a line's end":   func(path string, content []byte) error { return cut(path, endOfLine(content, 4)) },
		"cut in a line":         func(path string, content []byte) error { return cut(path, endOfLine(content, 4)+9) },
		"cut in the first line": func(path string, _ []byte) error { return cut(path, 9) },
		"without its last byte": func(path string, content []byte) error { return cut(path, len(content)-1) },
	}
}

// endOfLine is the size of the first lines.
func endOfLine(content []byte, lines int) int {
	return len(bytes.Join(bytes.SplitAfter(content, []byte("\n"))[:lines], nil))
}

func TestALossIsNotTakenForAWholeCopy(t *testing.T) {
	t.Parallel()
	for name, lose := range losses() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newTestFeed(t, 23)
			dir := t.TempDir()
			o := options(f.url, dir)
			followOnce(t, t.Context(), o)
			f.remove("id00022")
			loseLines(t, dir, lose)
			before := readFolder(t, dir)

			_, err := follower.Open(o)
			require.ErrorIs(t, err, follower.ErrShort)
			require.ErrorContains(t, err, filepath.Join(dir, "copy.jsonl"))
			require.Equal(t, before, readFolder(t, dir), "the refusal changes nothing")

			o.Mend = true
			var notes []string
			o.Note = func(text string) { notes = append(notes, text) }
			report := verify(t, o)
			require.True(t, report.Equal())
			require.Positive(t, report.Added)
			require.Len(t, notes, 1)
			requireEqualCopy(t, f, dir)
			o.Mend = false
			require.NoError(t, open(t, o).Close(), "it is a copy like any other")

			loseLines(t, dir, lose)
			o.Restart = true
			followOnce(t, t.Context(), o)
			requireEqualCopy(t, f, dir)
		})
	}
}

// What is left must not pass for whole where the walk that mends it does not come to its end.
func TestALossIsNotForgottenWhereMendingIsCutShort(t *testing.T) {
	t.Parallel()
	for name, lose := range losses() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newTestFeed(t, 23)
			dir := t.TempDir()
			o := options(f.url, dir)
			followOnce(t, t.Context(), o)
			loseLines(t, dir, lose)

			ctx, stop := context.WithCancel(t.Context())
			f.onMeet(func(int, http.ResponseWriter, *http.Request) bool { stop(); return false })
			o.Mend = true
			copied := open(t, o)
			_, err := copied.Verify(ctx)
			require.ErrorIs(t, err, context.Canceled)
			require.NoError(t, copied.Close())

			f.onMeet(nil)
			o.Mend = false
			followOnce(t, t.Context(), o)
			requireEqualCopy(t, f, dir)
		})
	}
}

// TestACompactionIsToldFromALoss cuts a compaction short where the position tells of it and the copy has its old name
// still, and looks at every state of the folder that a kill, or somebody behind it, can leave.
func TestACompactionIsToldFromALoss(t *testing.T) {
	t.Parallel()
	f := newTestFeed(t, 23)
	dir := t.TempDir()
	o := options(f.url, dir)
	old, compacted, position := cutCompaction(t, f, o)
	require.Less(t, len(compacted), len(old))

	for name, content := range map[string][]byte{
		"before the rename":           old,
		"before it, with a torn line": append(slices.Clone(old), `{"id":"x`...),
		"behind the rename":           compacted,
	} {
		writeFolder(t, dir, content, position)
		require.NoError(t, open(t, o).Close(), name)
		requireEqualCopy(t, f, dir)
	}
	sameSize := bytes.Replace(compacted, []byte("id00003"), []byte("id00004"), 1)
	require.NotEqual(t, compacted, sameSize)
	for name, content := range map[string][]byte{
		"removed":               nil,
		"emptied":               {},
		"a line less":           old[:endOfLine(old, bytes.Count(old, []byte("\n"))-1)],
		"a line less behind it": compacted[:endOfLine(compacted, 22)],
		"cut to the same size":  old[:len(compacted)],
		"other lines":           sameSize,
	} {
		writeFolder(t, dir, content, position)
		_, err := follower.Open(o)
		require.ErrorIs(t, err, follower.ErrShort, name)
	}
}

// cutCompaction follows a feed until lines of the copy no longer count, and returns the copy, the one that is to take
// its place, and the position from in between. The copy's name cannot be taken meanwhile: a folder has it.
func cutCompaction(t *testing.T, f *testFeed, o follower.Options) (old, compacted, position []byte) {
	t.Helper()
	followOnce(t, t.Context(), o)
	for _, id := range []string{"id00001", "id00007", "id00022"} {
		f.save(id, "second")
	}
	o.Once = true
	copied := open(t, o)
	require.NoError(t, copied.Follow(t.Context()))
	path := filepath.Join(o.Dir, "copy.jsonl")
	old = readFolder(t, o.Dir)["copy.jsonl"]
	require.NoError(t, errors.Join(os.Remove(path), os.Mkdir(path, 0o700)))
	require.Error(t, copied.Close())
	require.NoError(t, os.Remove(path))
	left := readFolder(t, o.Dir)
	require.Contains(t, left, "copy.jsonl.tmp", "%v", slices.Collect(maps.Keys(left)))
	return old, left["copy.jsonl.tmp"], left["position.json"]
}

func loseLines(t *testing.T, dir string, lose func(path string, content []byte) error) {
	t.Helper()
	path := filepath.Join(dir, "copy.jsonl")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, lose(path, content))
}

// readFolder returns what is in the files of a folder, by their names.
func readFolder(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	out := map[string][]byte{}
	for _, name := range names {
		out[name.Name()], err = os.ReadFile(filepath.Join(dir, name.Name()))
		require.NoError(t, err)
	}
	return out
}

// writeFolder makes a folder what a kill has left. nil is no copy.
func writeFolder(t *testing.T, dir string, content, position []byte) {
	t.Helper()
	path := filepath.Join(dir, "copy.jsonl")
	require.NoError(t, os.RemoveAll(path))
	if content != nil {
		require.NoError(t, os.WriteFile(path, content, 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "position.json"), position, 0o600))
}
