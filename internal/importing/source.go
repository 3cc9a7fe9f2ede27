package importing

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"catalogue/internal/importing/cell"
	"catalogue/internal/importing/csvfile"
	"catalogue/internal/importing/jsonlfile"
)

// maxRecordSize bounds one record of a file, in bytes.
const maxRecordSize = 16 << 20

// record is one record of a file, good or bad.
type record struct {
	line  int64
	raw   string
	cells []cell.Cell // in the order of Plan.columns
	bad   string      // why it is no row
	at    int         // index of the column that bad is about, or wholeRow
}

// wholeRow stands for the column of a reject that is about none.
const wholeRow = -1

// source reads the records of a file.
type source interface {
	// next returns io.EOF behind the last record.
	next() (record, error)
	// offset is how many bytes have been read.
	offset() int64
	// neverPresent lists mapped columns that no row had.
	neverPresent() []string
}

// open starts a reading of the file, behind its byte order mark.
func (p *Plan) open(text *io.SectionReader) (source, error) {
	if p.format == FormatJSONL {
		return &jsonlSource{
			reader:  jsonlfile.NewReader(io.NewSectionReader(text, 0, text.Size()), maxRecordSize),
			columns: p.columns, seen: make([]bool, len(p.columns)),
		}, nil
	}
	s := &csvSource{reader: csvfile.NewReader(text, p.delimiter, maxRecordSize)}
	if err := s.readHeader(p); err != nil {
		return nil, err
	}
	return s, nil
}

type csvSource struct {
	reader *csvfile.Reader
	header []string
	fields []int // of each of Plan.columns: the index of its field
}

// readHeader finds the mapped columns. What the mapping does not name may be there, and twice, too.
func (s *csvSource) readHeader(p *Plan) error {
	rec, err := s.reader.Read()
	if errors.Is(err, io.EOF) {
		return refuse("it has no header: it is empty")
	}
	if err != nil {
		return err
	}
	if rec.Bad != "" {
		return refuse("its header (line %d) cannot be read: %v", rec.Line, rec.Bad)
	}
	s.header = rec.Fields
	var missing, doubled []string
	for _, name := range p.columns {
		i := slices.Index(s.header, name)
		s.fields = append(s.fields, i)
		switch {
		case i < 0:
			missing = append(missing, name)
		case slices.Contains(s.header[i+1:], name):
			doubled = append(doubled, name)
		}
	}
	if missing != nil {
		return refuse("its header has no column %s; parted by %q it has %s",
			quoteAll(missing), string(rune(p.delimiter)), quoteAll(s.header))
	}
	if doubled != nil {
		return refuse("its header has twice the column %s", quoteAll(doubled))
	}
	return nil
}

func (s *csvSource) next() (record, error) {
	rec, err := s.reader.Read()
	if err != nil {
		return record{}, err
	}
	out := record{line: rec.Line, raw: rec.Raw, bad: rec.Bad, at: wholeRow}
	if out.bad != "" {
		return out, nil
	}
	if len(rec.Fields) != len(s.header) {
		out.bad = fmt.Sprintf("the row has %d fields, the header %d", len(rec.Fields), len(s.header))
		return out, nil
	}
	if bad := badText(rec.Raw); bad != "" {
		out.bad, out.at = "the row holds "+bad, s.badColumn(rec.Fields)
		return out, nil
	}
	out.cells = make([]cell.Cell, len(s.fields))
	for i, field := range s.fields {
		out.cells[i] = cell.FromText(rec.Fields[field])
	}
	return out, nil
}

// badColumn finds the mapped column whose text is bad.
func (s *csvSource) badColumn(fields []string) int {
	return slices.IndexFunc(s.fields, func(field int) bool { return badText(fields[field]) != "" })
}

func (s *csvSource) offset() int64 { return s.reader.Offset() }

func (s *csvSource) neverPresent() []string { return nil }

type jsonlSource struct {
	reader  *jsonlfile.Reader
	columns []string
	seen    []bool
}

func (s *jsonlSource) next() (record, error) {
	rec, err := s.reader.Read()
	if err != nil {
		return record{}, err
	}
	out := record{line: rec.Line, raw: rec.Raw, bad: rec.Bad, at: wholeRow}
	if out.bad != "" {
		return out, nil
	}
	out.cells = make([]cell.Cell, len(s.columns))
	for i, name := range s.columns {
		c, there := rec.Cells[name]
		out.cells[i] = c
		s.seen[i] = s.seen[i] || there
	}
	return out, nil
}

func (s *jsonlSource) offset() int64 { return s.reader.Offset() }

// neverPresent finds what is a typing mistake in the mapping more often than not. It is no ground for a refusal: a
// name that is absent in all of a few rows is nothing odd in JSON.
func (s *jsonlSource) neverPresent() []string {
	var out []string
	for i, name := range s.columns {
		if !s.seen[i] {
			out = append(out, name)
		}
	}
	return out
}

// maxColumnsShown bounds how many columns a message lists.
const maxColumnsShown = 50

func quoteAll(names []string) string {
	shown := make([]string, 0, min(len(names), maxColumnsShown))
	for _, name := range names[:min(len(names), maxColumnsShown)] {
		shown = append(shown, cell.Quote(name))
	}
	if more := len(names) - len(shown); more > 0 {
		shown = append(shown, "and "+strconv.Itoa(more)+" more")
	}
	return strings.Join(shown, ", ")
}
