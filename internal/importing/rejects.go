package importing

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
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

// rejectsFile is made with its first reject, so that a clean run leaves none.
type rejectsFile struct {
	path string
	file *os.File
	out  *bufio.Writer
}

// newRejectsFile removes what a former run has left, so that it does not look like this run's. Only a file that this
// package has written is removed: a mistyped path costs nobody a file.
func newRejectsFile(path string, keep ...string) (*rejectsFile, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return &rejectsFile{path: path}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("rejects file: %w", err)
	}
	for _, other := range keep {
		if same, err := os.Stat(other); err == nil && os.SameFile(info, same) {
			return nil, fmt.Errorf("rejects file: %s is read by this import", path)
		}
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("rejects file: %s is no regular file", path)
	}
	if err := checkRejects(path); err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil {
		return nil, fmt.Errorf("rejects file: %w", err)
	}
	return &rejectsFile{path: path}, nil
}

// rejectsBegin is how the first record of a rejects file begins.
const rejectsBegin = `{"line":`

// checkRejects looks at the beginning of a file: an empty file, or one of rejects, may go. It may be cut anywhere: the
// run that wrote it may have been killed.
func checkRejects(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("rejects file: %w", err)
	}
	defer func() { _ = file.Close() }() // nothing was written to it
	head := make([]byte, len(rejectsBegin))
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("rejects file: %w", err)
	}
	if !strings.HasPrefix(rejectsBegin, string(head[:n])) {
		return fmt.Errorf("rejects file: %s is there and holds no rejects; it is left alone", path)
	}
	return nil
}

// add writes one reject.
func (f *rejectsFile) add(r reject) error {
	if f.file == nil {
		file, err := os.OpenFile(f.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("rejects file: %w", err)
		}
		f.file, f.out = file, bufio.NewWriter(file)
	}
	enc := json.NewEncoder(f.out) // it ends each record with a line feed and escapes those inside
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("rejects file: %w", err)
	}
	return nil
}

// flush makes what was added visible, at the end of each batch.
func (f *rejectsFile) flush() error {
	if f.file == nil {
		return nil
	}
	if err := f.out.Flush(); err != nil {
		return fmt.Errorf("rejects file: %w", err)
	}
	return nil
}

func (f *rejectsFile) close() error {
	if f.file == nil {
		return nil
	}
	return errors.Join(f.flush(), f.file.Close())
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
