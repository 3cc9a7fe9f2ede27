package csvfile_test

import (
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"catalogue/internal/importing/csvfile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// got is a record.
type got struct {
	line   int64
	raw    string
	fields []string
	reason string
}

func readAll(t testing.TB, text string, limit int) []got {
	t.Helper()
	r := csvfile.NewReader(strings.NewReader(text), ',', limit)
	var out []got
	for {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			require.Equal(t, int64(len(text)), r.Offset())
			return out
		}
		require.NoError(t, err)
		out = append(out, got{line: rec.Line, raw: rec.Raw, fields: rec.Fields, reason: rec.Bad})
	}
}

func good(line int64, raw string, fields ...string) got {
	return got{line: line, raw: raw, fields: fields}
}

func bad(line int64, raw, reason string) got { return got{line: line, raw: raw, reason: reason} }

func TestRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []got
	}{
		"nothing":                         {"", nil},
		"LF":                              {"a,b\nc,d\n", []got{good(1, "a,b", "a", "b"), good(2, "c,d", "c", "d")}},
		"CRLF":                            {"a,b\r\nc,d\r\n", []got{good(1, "a,b", "a", "b"), good(2, "c,d", "c", "d")}},
		"no end of the last":              {"a,b\nc,d", []got{good(1, "a,b", "a", "b"), good(2, "c,d", "c", "d")}},
		"CR at the end":                   {"a,b\r", []got{good(1, "a,b", "a", "b")}},
		"empty fields":                    {",\n\"\",\n", []got{good(1, ",", "", ""), good(2, `"",`, "", "")}},
		"blank lines":                     {"\n\r\na\n\n\nb\n\n", []got{good(3, "a", "a"), good(6, "b", "b")}},
		"spaces are text":                 {" a , \"b\n", []got{bad(1, ` a , "b`, "a quote stands inside field 2, which does not begin with one (line 1)")}},
		"a lone CR is text":               {"a\rb\n", []got{good(1, "a\rb", "a\rb")}},
		"quotes":                          {"\"a\",\"b,\"\"c\"\"\"\n", []got{good(1, `"a","b,""c"""`, "a", `b,"c"`)}},
		"a line end in quotes":            {"\"a\nb\",c\nd\n", []got{good(1, "\"a\nb\",c", "a\nb", "c"), good(3, "d", "d")}},
		"CRLF in quotes":                  {"\"a\r\nb\"\r\nd\r\n", []got{good(1, "\"a\r\nb\"", "a\nb"), good(3, "d", "d")}},
		"a lone CR in quotes":             {"\"a\rb\"\n", []got{good(1, "\"a\rb\"", "a\rb")}},
		"a quote inside":                  {"a\"b,c\nd\n", []got{bad(1, `a"b,c`, "a quote stands inside field 1, which does not begin with one (line 1)"), good(2, "d", "d")}},
		"text behind a quote":             {"x,\"b\"c,\"\nd\n", []got{bad(1, `x,"b"c,"`, "text follows the closing quote of field 2 (line 1)"), good(2, "d", "d")}},
		"CR behind a quote":               {"\"b\"\rc\nd\n", []got{bad(1, "\"b\"\rc", "text follows the closing quote of field 1 (line 1)"), good(2, "d", "d")}},
		"never closed":                    {"a\nx,\"b\nc\nd\n", []got{good(1, "a", "a"), bad(2, `x,"b`, "the quote that opens field 2 in line 2 is never closed"), good(3, "c", "c"), good(4, "d", "d")}},
		"never closed, no LF":             {"x,\"b", []got{bad(1, `x,"b`, "the quote that opens field 2 in line 1 is never closed")}},
		"never closed, at last":           {"a\n\"", []got{good(1, "a", "a"), bad(2, `"`, "the quote that opens field 1 in line 2 is never closed")}},
		"closed by a later row":           {"1,\"x\n2,\"y\",z\n3\n", []got{bad(1, `1,"x`, "the quote that opens field 2 in line 1 is never closed"), good(2, `2,"y",z`, "2", "y", "z"), good(3, "3", "3")}},
		"opened in line 2":                {"1,\"a\nb\",\"c\nd\n", []got{bad(1, `1,"a`, "the quote that opens field 2 in line 1 is never closed"), bad(2, `b","c`, "a quote stands inside field 1, which does not begin with one (line 2)"), good(3, "d", "d")}},
		"closed by a later row, rightly":  {"1,\"abc\n2,\", and\"\n3,ok\n", []got{bad(1, `1,"abc`, "the quote that opens field 2 in line 1 is never closed"), good(2, `2,", and"`, "2", ", and"), good(3, "3,ok", "3", "ok")}},
		"closed over lines, then a quote": {"1,\"a\n2,\",b\"\n3\n", []got{bad(1, `1,"a`, "the quote that opens field 2 in line 1 is never closed"), good(2, `2,",b"`, "2", ",b"), good(3, "3", "3")}},
		"closed over lines, then open at the end": {"1,\"a\n2,\",\"b", []got{bad(1, `1,"a`, "the quote that opens field 2 in line 1 is never closed"), bad(2, `2,","b`, "text follows the closing quote of field 2 (line 2)")}},
		"two never closed":                        {"\"a\n\"b\nc\n", []got{bad(1, `"a`, "the quote that opens field 1 in line 1 is never closed"), bad(2, `"b`, "the quote that opens field 1 in line 2 is never closed"), good(3, "c", "c")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, readAll(t, c.text, 1<<20))
		})
	}
}

func TestRecordAboveTheLimitIsRejectedAlone(t *testing.T) {
	t.Parallel()
	const limit = 100
	long := strings.Repeat("x", limit)
	for name, c := range map[string]struct {
		record string
		raw    string
	}{
		"one line": {"a," + long, ("a," + long)[:limit]},
		"in quotes, over lines, with rows inside": {
			"a,\"" + strings.Repeat("b,c\n", limit) + "\"", ("a,\"" + strings.Repeat("b,c\n", limit))[:limit],
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := int64(strings.Count(c.record, "\n"))
			require.Equal(t, []got{
				good(1, "1", "1"),
				bad(2, c.raw, "the row is longer than 100 bytes"),
				good(3+lines, "3", "3"),
			}, readAll(t, "1\n"+c.record+"\n3\n", limit))
		})
	}
}

// The bound does not depend on how lines end, at the end of a record or inside its quotes.
func TestLimitCountsCRLFAsLF(t *testing.T) {
	t.Parallel()
	const limit = 20
	fits, inner := strings.Repeat("x", limit), "\""+strings.Repeat("x", 8)+"\n\n"+strings.Repeat("y", 8)+"\""
	require.Len(t, inner, limit)
	for _, record := range []string{fits, inner} {
		for _, end := range []string{"", "\n"} {
			for _, text := range []string{record + end, strings.ReplaceAll(record+end, "\n", "\r\n")} {
				got := readAll(t, text, limit)
				require.Len(t, got, 1)
				require.Empty(t, got[0].reason, "%q", text)
				longer := text[:1] + "x" + text[1:]
				require.Equal(t, "the row is longer than 20 bytes", readAll(t, longer, limit)[0].reason, "%q", longer)
			}
		}
	}
}

// counting counts what is read of a file.
type counting struct {
	io.ReaderAt
	bytes *int
}

func (c counting) ReadAt(p []byte, offset int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, offset)
	*c.bytes += n
	return n, err
}

// However the quotes lie, going back does not make reading quadratic.
func TestReadingAgainIsBounded(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	for name, pattern := range map[string][]string{
		"an opening in each line":             {"1,\"x\n"},
		"an opening, then pairs":              {"1,\"x\n", "a\",\"b\n"},
		"fields that close and open":          {"\"\n", "\",x,\"\n"},
		"pairs over lines, then a stray one":  {"1,\"a\n", strings.Repeat("\"\",\"\"\n", 1000), "x\"y\n"},
		"openings over many lines, no end":    {"\",\"\n"},
		"openings and stray ones":             {",\"\n", "\",a\"\n"},
		"an opening, many pairs, then others": {"\"a\n", strings.Repeat("\",\"\n", 5000), "\"b\n", "\"c\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			once := strings.Join(pattern, "")
			text := strings.Repeat(once, size/len(once))
			bytes := 0
			r := csvfile.NewReader(counting{strings.NewReader(text), &bytes}, ',', 1<<20)
			var err error
			for err == nil {
				_, err = r.Read()
			}
			require.ErrorIs(t, err, io.EOF)
			require.LessOrEqual(t, bytes, 40*len(text)) // a step back may fill the buffer again
		})
	}
}

// A quote that is never closed in a file far larger than the limit and the buffer is one reject all the same.
func TestQuoteNeverClosedInALargeFile(t *testing.T) {
	t.Parallel()
	const rows = 50_000
	got := readAll(t, "1,\"x\n"+strings.Repeat("row,row\n", rows), 1000)
	require.Len(t, got, 1+rows)
	require.Equal(t, bad(1, `1,"x`, "the quote that opens field 2 in line 1 is never closed"), got[0])
	require.Equal(t, good(1+rows, "row,row", "row", "row"), got[rows])
}

func TestMoreFieldsThanMemoryIsFor(t *testing.T) {
	t.Parallel()
	got := readAll(t, strings.Repeat(",", 20_000)+"\na\n", 1<<20)
	require.Len(t, got, 2)
	require.Equal(t, "the row has more than 10000 fields", got[0].reason)
	require.Equal(t, good(2, "a", "a"), got[1])
}

// brokenFile cannot be read.
type brokenFile struct{}

func (brokenFile) ReadAt([]byte, int64) (int, error) { return 0, io.ErrClosedPipe }

func TestErrorOfTheFile(t *testing.T) {
	t.Parallel()
	_, err := csvfile.NewReader(brokenFile{}, ',', 100).Read()
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

// What encoding/csv takes is read the same. Whatever comes, lines grow, every byte is read, and reading ends.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"a,b\nc,d\n", "a\r\n\"b\r\nc\",\"\"\"\"\r\n", "\"a\nb", "a\"b\n\"c\"d\ne", "\"\"\n\n\r\n,,\n\r", "\"a\"\r",
		"1,\"x\n2,\"y\",z\n3\n", "\xEF\xBB\xBFa,\x00\n", "\r\r\n", "\"\r\r\n\"",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		records := readAll(t, text, 1<<20)
		last := int64(0)
		for _, rec := range records {
			require.Greater(t, rec.line, last)
			last = rec.line
		}
		reference := csv.NewReader(strings.NewReader(text))
		reference.FieldsPerRecord = -1
		want, err := reference.ReadAll()
		if err != nil {
			return
		}
		require.Len(t, records, len(want))
		for i, rec := range records {
			require.Empty(t, rec.reason)
			require.Equal(t, want[i], rec.fields)
		}
	})
}

// Any bad row between good ones costs itself only.
func FuzzBadRowBetweenGoodOnes(f *testing.F) {
	f.Add(`a"b`)
	f.Add(`"a"b`)
	f.Add(`"`)
	f.Add(`x,"y`)
	f.Fuzz(func(t *testing.T, row string) {
		if strings.ContainsAny(row, "\r\n") {
			t.Skip("more than a row")
		}
		records := readAll(t, "first,1\n"+row+"\nlast,3\n", 1<<20)
		require.Equal(t, good(1, "first,1", "first", "1"), records[0])
		require.Equal(t, good(3, "last,3", "last", "3"), records[len(records)-1])
		require.LessOrEqual(t, len(records), 3)
	})
}
