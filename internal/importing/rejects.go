package importing

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// maxRejectRow bounds what a reject shows of its row, in bytes.
const maxRejectRow = 64 << 10

// reject is one row that did not go in, as the rejects file has it.
type reject struct {
	Line   int64   `json:"line"`   // where the record starts; a CSV's header is line 1
	Column *string `json:"column"` // the source's; null where the whole row is bad
	Reason string  `json:"reason"`
	Row    string  `json:"row"` // as it stands in the file; see showRow
}

// temporaryName is the pattern of the file that rejects are written to while a run goes on. A run that is killed leaves
// it behind.
const temporaryName = ".import-*.rejects.jsonl"

// rejectsFile is written beside its path and takes its place when the run ends: a path that cannot be written shows
// before the first row does, and of two runs with one path each leaves a whole file, the last one for good.
type rejectsFile struct {
	path   string
	keep   []string // files that the run reads
	file   *os.File
	out    *bufio.Writer
	any    bool // something was added
	failed bool // to write: said once is enough
}

// newRejectsFile makes sure that path is free, or holds what a former run has left.
func newRejectsFile(path string, keep ...string) (*rejectsFile, error) {
	f := &rejectsFile{path: path, keep: keep}
	if _, err := f.former(); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(filepath.Dir(path), temporaryName)
	if err != nil {
		return nil, fmt.Errorf("rejects file: %w", err)
	}
	f.file, f.out = file, bufio.NewWriter(file)
	return f, nil
}

// former reports whether the rejects of a former run are there. Anything else in their place is an error: a mistyped
// path costs nobody a file. A link is not followed, wherever it leads: what is replaced would be the link.
func (f *rejectsFile) former() (bool, error) {
	info, err := os.Lstat(f.path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("rejects file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return false, fmt.Errorf("rejects file: %s is no regular file, but %s; it is left alone", f.path, kindOf(info.Mode()))
	}
	for _, other := range f.keep {
		if same, err := os.Stat(other); err == nil && os.SameFile(info, same) {
			return false, fmt.Errorf("rejects file: %s is read by this import", f.path)
		}
	}
	return true, checkRejects(f.path)
}

func kindOf(mode os.FileMode) string {
	switch {
	case mode&os.ModeSymlink != 0:
		return "a symbolic link"
	case mode.IsDir():
		return "a folder"
	default:
		return "a device, pipe or socket"
	}
}

// maxFirstReject bounds what is read of a file to see whether it holds rejects, in bytes. A row in it takes six times
// its own length at most, as each of its bytes may be escaped.
const maxFirstReject = 1 << 20

// checkRejects looks at the beginning of a file: an empty one may go, and one whose first record is a reject.
func checkRejects(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("rejects file: %w", err)
	}
	defer func() { _ = file.Close() }() // nothing was written to it
	var first map[string]json.RawMessage
	err = json.NewDecoder(io.LimitReader(file, maxFirstReject)).Decode(&first)
	if errors.Is(err, io.EOF) {
		if info, err := file.Stat(); err == nil && info.Size() == 0 {
			return nil
		}
	}
	for _, name := range []string{"line", "column", "reason"} {
		if _, there := first[name]; err != nil || !there {
			return fmt.Errorf("rejects file: %s is there and holds no rejects; it is left alone", path)
		}
	}
	return nil
}

// add writes one reject.
func (f *rejectsFile) add(r reject) error {
	enc := json.NewEncoder(f.out) // it ends each record with a line feed and escapes those inside
	enc.SetEscapeHTML(false)
	f.any = true
	return f.written(enc.Encode(r))
}

// flush makes what was added visible, at the end of each batch.
func (f *rejectsFile) flush() error { return f.written(f.out.Flush()) }

func (f *rejectsFile) written(err error) error {
	if err == nil {
		return nil
	}
	f.failed = true
	return fmt.Errorf("rejects file: %w", err)
}

// close puts the rejects in their place. Where there are none, what a former run has left goes, so that it does not
// look like this run's.
func (f *rejectsFile) close() error {
	var err error
	if !f.failed {
		err = f.flush()
	}
	if bad := f.file.Close(); err == nil && !f.failed {
		err = f.written(bad)
	}
	if !f.any {
		return errors.Join(err, f.written(os.Remove(f.file.Name())), f.removeFormer())
	}
	if _, bad := f.former(); bad != nil { // it has come while the run went on
		return errors.Join(err, fmt.Errorf("%w; the rejected rows are in %s", bad, f.file.Name()))
	}
	return errors.Join(err, f.written(os.Rename(f.file.Name(), f.path)))
}

func (f *rejectsFile) removeFormer() error {
	there, err := f.former()
	if err != nil || !there {
		return err
	}
	if err := os.Remove(f.path); !errors.Is(err, os.ErrNotExist) { // another run may have been faster
		return f.written(err)
	}
	return nil
}

// showRow is the row as it stands in the file, without the end of its line. JSON cannot hold bytes that are not
// UTF-8: each is shown as \xNN, and the line number leads to the original. A long row is cut, and says so.
func showRow(raw string) string {
	rest := 0
	if size := maxRejectRow; len(raw) > size {
		for size > maxRejectRow-utf8.UTFMax && !utf8.RuneStart(raw[size]) {
			size-- // not inside a character
		}
		raw, rest = raw[:size], len(raw)-size
	}
	var b strings.Builder
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRuneInString(raw[i:])
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, `\x%02X`, raw[i])
		} else {
			b.WriteString(raw[i : i+size])
		}
		i += size
	}
	if rest > 0 {
		fmt.Fprintf(&b, "… (%d bytes more)", rest)
	}
	return b.String()
}
