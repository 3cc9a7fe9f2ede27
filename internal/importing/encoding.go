package importing

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

const (
	// headSize is how much of a file is looked at before the first row is read.
	headSize = 64 << 10
	// minNULs and maxNULShare of the head tell UTF-16 and UTF-32, of which a quarter and more is NUL, from stray ones.
	minNULs     = 16
	maxNULShare = 0.1
	// minBadRows and minBadShare tell a file in another encoding from stray bytes in a file of UTF-8: the former has
	// rows with bad bytes all over. A short file has not so many rows: there it takes more than half of them.
	minBadRows       = 10
	minBadShare      = 0.1
	minBadRowsShort  = 2
	minBadShareShort = 0.5
)

// RefusedError says why a whole file is refused. Nothing has been written.
type RefusedError struct{ Reason string }

// Error is the reason.
func (e *RefusedError) Error() string { return "the file is refused: " + e.Reason }

func refuse(format string, args ...any) error {
	return &RefusedError{Reason: fmt.Sprintf(format, args...)}
}

// checkHead refuses what its first bytes show not to be UTF-8 text, and files with CR only. It returns the length of
// a byte order mark.
func checkHead(file io.ReaderAt) (bom int64, err error) {
	head := make([]byte, headSize)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	head = head[:n]
	nuls := bytes.Count(head, []byte{0})
	switch {
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE, 0, 0}), bytes.HasPrefix(head, []byte{0, 0, 0xFE, 0xFF}):
		return 0, refuse("it is in UTF-32; save it as UTF-8")
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}), bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		return 0, refuse("it is in UTF-16; save it as UTF-8")
	case nuls >= minNULs && float64(nuls) > maxNULShare*float64(n):
		return 0, refuse("it is full of NUL bytes, as text in UTF-16 or UTF-32 or no text at all; save it as UTF-8")
	}
	if bytes.HasPrefix(head, []byte("\xEF\xBB\xBF")) {
		bom = 3
	}
	return bom, checkLineEnds(file)
}

// checkLineEnds refuses a file whose lines end with CR only: it would be one line. It reads up to the first LF.
func checkLineEnds(file io.ReaderAt) error {
	buf := make([]byte, headSize)
	returns := false
	for offset := int64(0); ; offset += int64(len(buf)) {
		n, err := file.ReadAt(buf, offset)
		if bytes.IndexByte(buf[:n], '\n') >= 0 {
			return nil
		}
		returns = returns || bytes.IndexByte(buf[:n], '\r') >= 0
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	if returns {
		return refuse("its lines end with CR only; save it with LF or CRLF")
	}
	return nil
}

// encodingCount tells a file in another encoding than UTF-8 by the bytes of all its rows.
type encodingCount struct {
	rows    int64
	badRows int64
	bad     int64 // bytes that are not UTF-8
	good    int64 // characters of several bytes
}

func (c *encodingCount) add(row string) {
	c.rows++
	bad, good := countEncoding(row)
	if c.bad, c.good = c.bad+bad, c.good+good; bad > 0 {
		c.badRows++
	}
}

func countEncoding(row string) (bad, good int64) {
	for i := 0; i < len(row); {
		if row[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(row[i:])
		if r == utf8.RuneError && size == 1 {
			bad++
		} else {
			good++
		}
		i += size
	}
	return bad, good
}

func (c *encodingCount) check() error {
	share := float64(c.badRows) / float64(max(c.rows, 1))
	many := c.badRows >= minBadRows && share >= minBadShare
	most := c.badRows >= minBadRowsShort && share > minBadShareShort
	if c.bad > c.good && (many || most) {
		return refuse("it is not in UTF-8 (%d rows hold bytes that are none, as text in Latin-1 does); save it as UTF-8",
			c.badRows)
	}
	return nil
}

// badText says what is wrong with the bytes of a row, "" where nothing is.
func badText(s string) string {
	for i := 0; i < len(s); {
		if s[i] == 0 {
			return "the character NUL"
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			return fmt.Sprintf("a byte that is not UTF-8 (0x%02X)", s[i])
		}
		i += size
	}
	return ""
}
