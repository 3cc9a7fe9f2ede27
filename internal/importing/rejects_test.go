package importing

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"catalogue/internal/importing/csvfile"
)

// A file that cannot be written to, as on a full disk, is said once.
func TestErrorOfTheRejectsFileIsSaidOnce(t *testing.T) {
	t.Parallel()
	f, err := newRejectsFile(filepath.Join(t.TempDir(), "rejects.jsonl"))
	require.NoError(t, err)
	require.NoError(t, f.file.Close())
	require.NoError(t, f.add(reject{Line: 2}))
	require.ErrorIs(t, f.flush(), os.ErrClosed)
	require.NoError(t, f.close())
}

func TestFileThatTakesThePlaceOfTheRejectsMeanwhileIsLeftAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "rejects.jsonl")
	f, err := newRejectsFile(path)
	require.NoError(t, err)
	require.NoError(t, f.add(reject{Line: 2, Reason: "x"}))
	require.NoError(t, os.WriteFile(path, []byte("mine"), 0o600))
	err = f.close()
	require.ErrorContains(t, err, "holds no rejects; it is left alone; the rejected rows are in "+f.file.Name())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "mine", string(text))
	require.FileExists(t, f.file.Name())
}

// A file is named in .gitignore while it is written, too.
func TestRejectsHaveTheirEndingFromTheBeginning(t *testing.T) {
	t.Parallel()
	f, err := newRejectsFile(filepath.Join(t.TempDir(), "a"))
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(f.file.Name(), ".rejects.jsonl"), f.file.Name())
	require.NoError(t, f.close())
	require.NoFileExists(t, f.file.Name())
}

// blank is a file of blank lines without an end, in which Ctrl-C comes.
type blank struct {
	interrupt func()
	reads     *int
}

func (b blank) ReadAt(p []byte, _ int64) (int, error) {
	*b.reads++
	if *b.reads == 3 {
		b.interrupt()
	}
	return copy(p, strings.Repeat("\n", len(p))), nil
}

func TestInterruptionIsHeardWithinALongStretchWithoutRecords(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func(interruptible) error{
		"between records": func(f interruptible) error {
			_, err := csvfile.NewReader(f, ',', 100).Read()
			return err
		},
		"at the head": func(f interruptible) error {
			_, err := checkHead(withoutLF{f})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			reads := 0
			err := read(interruptible{file: blank{interrupt: interrupt, reads: &reads}, interrupted: ctx.Err})
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, 3, reads)
		})
	}
}

// withoutLF turns line feeds into spaces.
type withoutLF struct{ interruptible }

func (w withoutLF) ReadAt(p []byte, offset int64) (int, error) {
	n, err := w.interruptible.ReadAt(p, offset)
	return copy(p, strings.Repeat(" ", n)), err
}
