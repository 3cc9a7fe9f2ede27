// Package jsonlfile reads JSON Lines strictly and survives bad rows: each is reported by itself, and reading goes on
// at the next line. A row is one object; duplicate names, bad UTF-8, NUL and lone surrogates reject it, where
// encoding/json alone would take the last value or put U+FFFD in their place.
package jsonlfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"catalogue/internal/importing/cell"
)

const (
	// bufferSize is what is read from the file at once.
	bufferSize = 64 << 10
	// excerptSize is what is kept of a line that is too long.
	excerptSize = 4 << 10
	// maxDepth bounds how deep objects and arrays may nest.
	maxDepth = 100
)

// Record is one line of a file, good or bad.
type Record struct {
	Line  int64                // the file's first line is 1
	Raw   string               // as it stands in the file without its end; the beginning where it is too long
	Cells map[string]cell.Cell // nil where Bad is set
	Bad   string               // why this is no row; reading goes on behind it
}

// Reader reads the records of one file.
type Reader struct {
	src    *bufio.Reader
	limit  int
	line   int64 // lines read so far
	offset int64
}

// NewReader reads src. A line of more than limit bytes, its end not counted, is rejected.
func NewReader(src io.Reader, limit int) *Reader {
	return &Reader{src: bufio.NewReaderSize(src, bufferSize), limit: limit}
}

// Offset is how many bytes have been read.
func (r *Reader) Offset() int64 { return r.offset }

// Read returns the next record that is not an empty line, or io.EOF behind the last one. Other errors are those of
// the file itself; a bad record is no error.
func (r *Reader) Read() (Record, error) {
	for {
		raw, tooLong, err := r.readLine()
		if err != nil {
			return Record{}, err
		}
		rec := Record{Line: r.line, Raw: raw}
		if tooLong {
			rec.Bad = fmt.Sprintf("the row is longer than %d bytes", r.limit)
			return rec, nil
		}
		if strings.Trim(rec.Raw, " \t\r") == "" {
			continue
		}
		cells, bad := parse(rec.Raw)
		if bad != nil {
			rec.Bad = bad.Error()
		}
		rec.Cells = cells
		return rec, nil
	}
}

// maxLineEnd is the length of CRLF, the longest end of a line.
const maxLineEnd = 2

// readLine returns the next line without its end, or its beginning where it is too long.
func (r *Reader) readLine() (raw string, tooLong bool, err error) {
	var line []byte
	size := 0
	for {
		part, err := r.src.ReadSlice('\n')
		size += len(part)
		line = append(line, part[:min(len(part), r.limit+maxLineEnd-len(line))]...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (!errors.Is(err, io.EOF) || size == 0) {
			return "", false, err
		}
		break
	}
	r.offset += int64(size)
	r.line++
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	if size > r.limit+maxLineEnd || len(line) > r.limit {
		return string(line[:min(len(line), r.limit, excerptSize)]), true, nil
	}
	return string(line), false, nil
}
