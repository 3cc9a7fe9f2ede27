// Package csvfile reads CSV (RFC 4180) strictly and survives bad rows: each is reported by itself, with the line
// where it starts, and reading goes on behind it. encoding/csv can do neither with quotes: it stops inside the bad
// row, and a quote that is never closed takes the rest of the file with it.
//
// A quote may only open at the first byte of a field and close before a delimiter or the end of a line. LF and CRLF
// are one, also inside quotes; empty lines are skipped.
//
// A record whose quotes span lines and turn out to be wrong is taken for one whose first quote over a line's end was
// never closed, and the lines behind that one are read again. Each byte is looked at about twice at most all the same:
// a record crosses the end of a line only from a line with an odd number of quotes, and ends in the next such line at
// the latest, so that what two of these records have read does not overlap.
package csvfile

import (
	"fmt"
	"io"
	"strings"
)

const (
	// bufferSize is what is read from the file at once.
	bufferSize = 64 << 10
	// maxFields bounds what one record of delimiters only can take in memory.
	maxFields = 10_000
	// excerptSize is what is kept of a record that is too long.
	excerptSize = 4 << 10
	// reuseSize is the largest buffer that is kept for the next record.
	reuseSize = 1 << 20
)

// Record is one record of a file, good or bad.
type Record struct {
	Line   int64    // where the record starts; the file's first line is 1
	Raw    string   // as it stands in the file without the end of its line; the beginning where it is too long
	Fields []string // nil where Bad is set
	Bad    string   // why this is no record; reading goes on behind it
}

// Reader reads the records of one file.
type Reader struct {
	src       *window
	delimiter byte
	limit     int
	line      int64  // the line of the next byte
	raw       []byte // reused from record to record
}

// NewReader reads src, whose fields are parted by delimiter. A record of more than limit bytes,
// the end of its last line not counted and CRLF counted as LF, is rejected.
func NewReader(src io.ReaderAt, delimiter byte, limit int) *Reader {
	return &Reader{src: newWindow(src, bufferSize), delimiter: delimiter, limit: limit, line: 1}
}

// Offset is how many bytes have been read.
func (r *Reader) Offset() int64 { return r.src.offset() }

// Read returns the next record that is not an empty line, or io.EOF behind the last one. Other errors are those of
// the file itself; a bad record is no error.
func (r *Reader) Read() (Record, error) {
	for {
		s := scan{reader: r, record: Record{Line: r.line}, raw: r.raw[:0]}
		if err := s.run(); err != nil {
			return Record{}, err
		}
		rec := s.finish()
		if r.raw = s.raw; cap(r.raw) > reuseSize {
			r.raw = nil
		}
		if rec.Raw == "" && rec.Bad == "" {
			continue
		}
		if rec.Bad != "" {
			return rec, nil
		}
		rec.Fields = split(rec.Raw, r.delimiter)
		if rec.Fields == nil {
			rec.Bad = fmt.Sprintf("the row has more than %d fields", maxFields)
		}
		return rec, nil
	}
}

// split cuts a record whose quotes are known to be right into its fields. It returns nil where they are too many.
func split(raw string, delimiter byte) []string {
	var fields []string
	for len(fields) < maxFields {
		field, rest, more := cut(raw, delimiter)
		fields = append(fields, field)
		if !more {
			return fields
		}
		raw = rest
	}
	return nil
}

// cut takes the first field off a record.
func cut(raw string, delimiter byte) (field, rest string, more bool) {
	if !strings.HasPrefix(raw, `"`) {
		i := strings.IndexByte(raw, delimiter)
		if i < 0 {
			return raw, "", false
		}
		return raw[:i], raw[i+1:], true
	}
	end := 1
	for {
		end += strings.IndexByte(raw[end:], '"')
		if end+1 == len(raw) || raw[end+1] != '"' {
			break
		}
		end += 2
	}
	field = raw[1:end]
	if strings.ContainsAny(field, "\"\r") {
		field = strings.ReplaceAll(strings.ReplaceAll(field, `""`, `"`), "\r\n", "\n")
	}
	if end+1 == len(raw) {
		return field, "", false
	}
	return field, raw[end+2:], true
}
