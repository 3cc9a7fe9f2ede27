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
	raw    []byte // as much of the record as the limit allows
	size   int64  // of the record so far; CRLF counts as LF does
	last   byte   // read
	field  int    // number of the current field, from 1
	opened opening
	first  *crossing // nil as long as no line has ended in quotes
}

// opening is where the last quote was opened.
type opening struct {
	line  int64
	field int
}

// crossing is the first opening of the record in whose quotes a line has ended, and where reading goes on if they turn
// out never to be closed.
type crossing struct {
	opening
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
		s.keep(b)
		if s.step(b) {
			return nil
		}
	}
}

// keep counts a byte of the record, and keeps it within the limit.
func (s *scan) keep(b byte) {
	if s.size <= int64(s.reader.limit) {
		s.raw = append(s.raw, b)
	}
	if b != '\n' || s.last != '\r' {
		s.size++
	}
	s.last = b
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
		return s.plain(b)
	case inQuotes:
		if b == '"' {
			s.state = afterQuote
		}
	case afterQuote:
		return s.behindQuote(b)
	case afterCR:
		return s.textBehindQuote()
	case skipping:
	}
	return false
}

// plain takes a byte outside quotes and reports whether the record ends with it.
func (s *scan) plain(b byte) bool {
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
		return s.wrong("a quote stands inside field %d, which does not begin with one (line %d)", s.field)
	}
	return false
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
		return s.textBehindQuote()
	}
	return false
}

func (s *scan) textBehindQuote() bool {
	return s.wrong("text follows the closing quote of field %d (line %d)", s.opened.field)
}

// wrong handles a quote that cannot stand where it is, and reports whether the record ends with it. Where quotes of the
// record span lines, the one that seems to close the first of them most likely opens a field of a later row: the first
// is taken as never closed, so that the later rows are not lost.
func (s *scan) wrong(format string, field int) bool {
	if s.first != nil {
		s.unclosed()
		return true
	}
	s.fail(format, field, s.reader.line)
	return false
}

// newline takes an LF and reports whether the record ends with it.
func (s *scan) newline() bool {
	s.reader.line++
	if s.state != inQuotes {
		return true
	}
	if s.first == nil {
		s.first = &crossing{
			opening: s.opened, resume: s.reader.src.offset(), nextLine: s.reader.line, kept: len(s.raw),
		}
	}
	return false
}

// unclosed rejects the record up to the end of the line with the quote that is never closed, and goes back to the next
// line. That quote is the last one that was opened where no line has ended in quotes.
func (s *scan) unclosed() {
	if s.first == nil {
		s.fail(unclosedFormat, s.opened.field, s.opened.line)
		return
	}
	s.fail(unclosedFormat, s.first.field, s.first.line)
	s.reader.src.seek(s.first.resume)
	s.reader.line = s.first.nextLine
	s.raw = s.raw[:s.first.kept]
}

const unclosedFormat = "the quote that opens field %d in line %d is never closed"

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
	size := s.size
	if s.last == '\n' || s.last == '\r' {
		size-- // the end of the last line, of one byte or two
	}
	if size > int64(s.reader.limit) {
		s.raw = s.raw[:min(len(s.raw), s.reader.limit, excerptSize)]
		if rec.Bad == "" {
			rec.Bad = fmt.Sprintf("the row is longer than %d bytes", s.reader.limit)
		}
	}
	rec.Raw = strings.TrimSuffix(strings.TrimSuffix(string(s.raw), "\n"), "\r")
	return rec
}
