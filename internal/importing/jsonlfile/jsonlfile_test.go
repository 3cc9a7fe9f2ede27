package jsonlfile_test

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"catalogue/internal/importing/cell"
	"catalogue/internal/importing/jsonlfile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func readAll(t testing.TB, text string, limit int) []jsonlfile.Record {
	t.Helper()
	r := jsonlfile.NewReader(strings.NewReader(text), limit)
	var out []jsonlfile.Record
	for {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			require.Equal(t, int64(len(text)), r.Offset())
			return out
		}
		require.NoError(t, err)
		out = append(out, rec)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	text := func(s string) cell.Cell { return cell.Cell{Kind: cell.Text, Text: s} }
	for name, c := range map[string]struct {
		line string
		want map[string]cell.Cell
	}{
		"no names":  {`{}`, map[string]cell.Cell{}},
		"a text":    {`{"a":"b"}`, map[string]cell.Cell{"a": text("b")}},
		"escapes":   {`{"\u0061":"\ud83d\ude00\n\\u0000"}`, map[string]cell.Cell{"a": text("😀\n\\u0000")}},
		"U+FFFD":    {`{"a":"\ufffd` + "\uFFFD" + `"}`, map[string]cell.Cell{"a": text("\uFFFD\uFFFD")}},
		"absent":    {`{"a":"","b":null,"c":[]}`, map[string]cell.Cell{"a": {}, "b": {}, "c": {}}},
		"literals":  {`{"a":1.0,"b":9007199254740993}`, map[string]cell.Cell{"a": {Kind: cell.Number, Text: "1.0"}, "b": {Kind: cell.Number, Text: "9007199254740993"}}},
		"truth":     {`{"a":true,"b":false}`, map[string]cell.Cell{"a": {Kind: cell.Bool, Text: "true"}, "b": {Kind: cell.Bool, Text: "false"}}},
		"texts":     {`{"a":["b","c"]}`, map[string]cell.Cell{"a": {Kind: cell.List, Items: []string{"b", "c"}}}},
		"mixed":     {`{"a":["b",1]}`, map[string]cell.Cell{"a": {Kind: cell.Nested, Items: []string{"b", "1"}}}},
		"an object": {`{"a":{"b":{}}}`, map[string]cell.Cell{"a": {Kind: cell.Nested}}},
		"spaces":    {"\t {\"a\" : \"b\" } ", map[string]cell.Cell{"a": text("b")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, end := range []string{"", "\n", "\r\n"} {
				got := readAll(t, c.line+end, 1000)
				require.Equal(t, []jsonlfile.Record{{Line: 1, Raw: c.line, Cells: c.want}}, got)
			}
		})
	}
}

func TestBadRows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ line, reason string }{
		"no JSON":               {`{"a"`, "not one JSON object: unexpected end of JSON input"},
		"a number with zeros":   {`{"a":007}`, "not one JSON object: invalid character '0' after object key:value pair"},
		"trailing data":         {`{} {}`, "not one JSON object: invalid character '{' after top-level value"},
		"no object":             {`["a"]`, "the row is no JSON object"},
		"null":                  {`null`, "the row is no JSON object"},
		"a name twice":          {`{"a":1,"a":1}`, `the name "a" stands twice in one object`},
		"a name twice, escaped": {`{"a":1,"\u0061":1}`, `the name "a" stands twice in one object`},
		"a name twice, inside":  {`{"x":[{"a":1,"a":1}]}`, `the name "a" stands twice in one object`},
		"a stray byte":          {"{\"a\":\"\xff\"}", "byte 7 (0xFF) is not UTF-8"},
		"NUL":                   {`{"a":"\u0000"}`, "the row holds the character NUL"},
		"a raw NUL":             {"{\"a\":\"\x00\"}", `not one JSON object: invalid character '\x00' in string literal`},
		"a high surrogate":      {`{"a":"\ud83d"}`, `the row holds the lone surrogate \ud83d`},
		"a low surrogate":       {`{"a":"\\\ude00"}`, `the row holds the lone surrogate \ude00`},
		"two high surrogates":   {`{"a":"\ud83d\ud83d\ude00"}`, `the row holds the lone surrogate \ud83d`},
		"too deep":              {strings.Repeat(`{"a":`, 101) + "1" + strings.Repeat("}", 101), "the row nests deeper than 100 levels"},
		"too long":              {`{"a":"` + strings.Repeat("x", 2000) + `"}`, "the row is longer than 1000 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := readAll(t, "{}\n\n"+c.line+"\n{}\n", 1000)
			require.Len(t, got, 3)
			require.Contains(t, got[1].Bad, c.reason)
			require.Equal(t, []int64{1, 3, 4}, []int64{got[0].Line, got[1].Line, got[2].Line})
			require.True(t, strings.HasPrefix(c.line, got[1].Raw))
			require.Empty(t, got[2].Bad)
		})
	}
}

// A line of many times the limit and the buffer is rejected alone.
func TestLineAboveTheLimitIsRejectedAlone(t *testing.T) {
	t.Parallel()
	got := readAll(t, "{}\n"+strings.Repeat("x", 1<<20)+"\n{}\n", 1000)
	require.Len(t, got, 3)
	require.Equal(t, "the row is longer than 1000 bytes", got[1].Bad)
	require.LessOrEqual(t, len(got[1].Raw), 1001)
	require.Equal(t, int64(3), got[2].Line)
}

func TestLimitDoesNotCountTheEndOfTheLine(t *testing.T) {
	t.Parallel()
	const limit = 20
	fits := "{" + strings.Repeat(" ", limit-2) + "}"
	for _, end := range []string{"", "\n", "\r\n"} {
		require.Empty(t, readAll(t, fits+end, limit)[0].Bad, "%q", end)
		require.Equal(t, "the row is longer than 20 bytes", readAll(t, " "+fits+end, limit)[0].Bad, "%q", end)
	}
}

func TestErrorOfTheFile(t *testing.T) {
	t.Parallel()
	_, err := jsonlfile.NewReader(iotest.ErrReader(io.ErrClosedPipe), 100).Read()
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

// A row that is taken is an object of encoding/json with the same texts; whatever comes, reading ends.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"a":"b","c":[1,{"d":null}],"e":1e3}`, "{}\r\n\n[1]\n{\"a\":1}", `{"a":"\ud83d\ude00"}`, `{"a":"\ud83d"}`,
		`{"a":1,"a":2}`, "{\"a\":\"\xff\"}", `{"a":["b","c"],"b":true}`, `{"a":"\u0000"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, rec := range readAll(t, text, 1<<20) {
			if rec.Bad != "" {
				continue
			}
			var want map[string]any
			require.NoError(t, json.Unmarshal([]byte(rec.Raw), &want))
			require.Len(t, rec.Cells, len(want))
			for name, c := range rec.Cells {
				if s, ok := want[name].(string); ok {
					require.Equal(t, cell.FromText(s), c)
				}
			}
		}
	})
}
