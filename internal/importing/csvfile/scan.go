package csvfile

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// state is where in a record the last byte was.
type state int

const (
	atStart    state = iota // before the first byte of a field
	inField                 // in a field without quotes
	inQuotes                // in a field with quotes
	afterQuote              // behind a quote inside quotes: the end, or the first half of a pair
	afterCR                 // behind a CR that follows a closing quote: only LF may follow
	skipping                // the record is bad: on to the end of its line
)

// scan finds the end of one record, and what is wrong with its quotes.
type scan struct {
	reader *Reader
	state  state
	record Record
	raw    []byte // at most the limit
	size   int64
	field  int // number of the current field, from 1
	opened opening
}

// opening is where the last quote was opened, and where reading goes on if it turns out never to be closed.
type opening struct {
	line     int64
	field    int
	crossed  bool // a line has ended inside the quotes: the fields below are set
	resume   int64
	nextLine int64
	kept     int // length of raw at the end of the opening line
}

// run reads to the end of the record. It returns io.EOF where no record is left.
func (s *scan) run() error {
	s.field = 1
	for {
		b, err := s.reader.src.next()
		if errors.Is(err, io.EOF) {
			return s.end()
		}
		if err != nil {
			return err
		}
		s.size++
		if len(s.raw) < s.reader.limit {
			s.raw = append(s.raw, b)
		}
		if s.step(b) {
			return nil
		}
	}
}

// end is called behind the file's last byte.
func (s *scan) end() error {
	if s.size == 0 {
		return io.EOF
	}
	if s.state == inQuotes {
		s.unclosed()
	}
	return nil
}

// step takes one byte and reports whether the record ends with it.
func (s *scan) step(b byte) bool {
	if b == '\n' {
		return s.newline()
	}
	switch s.state {
	case atStart, inField:
		s.plain(b)
	case inQuotes:
		if b == '"' {
			s.state = afterQuote
		}
	case afterQuote:
		return s.behindQuote(b)
	case afterCR:
		return s.badClose()
	case skipping:
	}
	return false
}

// plain takes a byte outside quotes.
func (s *scan) plain(b byte) {
	switch {
	case b == s.reader.delimiter:
		s.state = atStart
		s.field++
	case b != '"':
		s.state = inField
	case s.state == atStart:
		s.state = inQuotes
		s.opened = opening{line: s.reader.line, field: s.field}
	default:
		s.fail("a quote stands inside field %d, which does not begin with one (line %d)", s.field, s.reader.line)
	}
}

// behindQuote takes the byte that follows a quote inside quotes.
func (s *scan) behindQuote(b byte) bool {
	switch b {
	case '"':
		s.state = inQuotes
	case s.reader.delimiter:
		s.state = atStart
		s.field++
	case '\r':
		s.state = afterCR
	default:
		return s.badClose()
	}
	return false
}

// badClose handles text behind a closing quote. Where the quotes span lines, the quote that seems to close them most
// likely opens a field of a later row: the opening one is taken as never closed, so that the later row is not lost.
func (s *scan) badClose() bool {
	if s.opened.crossed {
		s.unclosed()
		return true
	}
	s.fail("text follows the closing quote of field %d (line %d)", s.opened.field, s.reader.line)
	return false
}

// newline takes an LF and reports whether the record ends with it.
func (s *scan) newline() bool {
	s.reader.line++
	if s.state != inQuotes {
		return true
	}
	if !s.opened.crossed {
		s.opened.crossed = true
		s.opened.resume, s.opened.nextLine = s.reader.src.offset(), s.reader.line
		s.opened.kept = len(s.raw)
	}
	return false
}

// unclosed rejects the record up to the line in which its last quote opened, and goes back to the next line.
func (s *scan) unclosed() {
	s.fail("the quote that opens field %d in line %d is never closed", s.opened.field, s.opened.line)
	if s.opened.crossed {
		s.reader.src.seek(s.opened.resume)
		s.reader.line = s.opened.nextLine
		s.raw = s.raw[:s.opened.kept]
	}
}

// fail keeps the first reason and skips the rest of the line.
func (s *scan) fail(format string, args ...any) {
	s.state = skipping
	if s.record.Bad == "" {
		s.record.Bad = fmt.Sprintf(format, args...)
	}
}

// finish makes the record of what was read.
func (s *scan) finish() Record {
	rec := s.record
	if rec.Bad == "" && s.size > int64(s.reader.limit) {
		rec.Bad = fmt.Sprintf("the row is longer than %d bytes", s.reader.limit)
	}
	if s.size > int64(s.reader.limit) {
		s.raw = s.raw[:min(len(s.raw), excerptSize)]
	}
	rec.Raw = strings.TrimSuffix(strings.TrimSuffix(string(s.raw), "\n"), "\r")
	return rec
}
