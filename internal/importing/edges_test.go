package importing_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"catalogue/internal/importing"
)

// sheet maps a CSV file with the header of sheetHeader.
const sheet = small + `
  - {from: name, to: name}
  - {from: note, to: attributes.note}
  - {from: spend, to: metrics.spend}
  - {from: currency, to: metrics.currency}
  - {from: made, to: created_at, layout: 2006-01-02 15:04, zone: Europe/Kyiv}
`

const sheetHeader = "id,name,note,spend,currency,made\n"

// lines maps a JSONL file with the names id, name, note, clicks and impressions.
var lines = strings.Replace(small, "csv", "jsonl", 1) + `
  - {from: name, to: name}
  - {from: note, to: attributes.note}
  - {from: clicks, to: metrics.clicks}
  - {from: impressions, to: metrics.impressions}
`

func TestByteOrderMarkIsSkipped(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	s := im.run("creatives", sheet, write(t, "a.csv", "\uFEFF"+sheetHeader+"1,a,,,,\n"))
	require.Equal(t, int64(1), s.Inserted)
	s = im.run("creatives", lines, write(t, "a.jsonl", "\uFEFF"+`{"id":"2","name":"b"}`))
	require.Equal(t, int64(1), s.Inserted)
	require.Equal(t, []any{"a", "b"}, im.field("creatives", "name"))
}

func TestLFAndCRLFHaveEqualDigests(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	text := sheetHeader + "1,a,\"two\nlines\",5,EUR,2026-01-31 12:00\n2,b,,,,\n"
	first := im.run("creatives", sheet, write(t, "lf.csv", text))
	require.Equal(t, int64(2), first.Inserted)
	require.Equal(t, []any{"two\nlines", nil}, im.field("creatives", "attributes.note"))
	second := im.run("creatives", sheet, write(t, "crlf.csv", strings.ReplaceAll(text, "\n", "\r\n")))
	require.Equal(t, int64(2), second.Unchanged)

	// The same holds where the id itself is a digest.
	keyless := strings.Replace(sheet, "key: [id]", "key: []", 1)
	require.Equal(t, int64(2), im.run("creatives", keyless, write(t, "lf.csv", text)).Inserted)
	crlf := write(t, "crlf.csv", strings.ReplaceAll(text, "\n", "\r\n"))
	require.Equal(t, int64(2), im.run("creatives", keyless, crlf).Unchanged)
}

func TestOtherEncodingsAreRefusedBeforeTheFirstWrite(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	text := sheetHeader + "1,a,,,,\n2,b,,,,\n"
	wide := func(order binary.AppendByteOrder) string {
		var out []byte
		for _, unit := range utf16.Encode([]rune(text)) {
			out = order.AppendUint16(out, unit)
		}
		return string(out)
	}
	var utf32 []byte
	for _, r := range text {
		utf32 = binary.LittleEndian.AppendUint32(utf32, uint32(r))
	}
	for name, c := range map[string]struct{ content, reason string }{
		"UTF-16 LE with a mark": {"\xFF\xFE" + wide(binary.LittleEndian), "it is in UTF-16"},
		"UTF-16 BE with a mark": {"\xFE\xFF" + wide(binary.BigEndian), "it is in UTF-16"},
		"UTF-16 LE":             {wide(binary.LittleEndian), "full of NUL bytes"},
		"UTF-16 BE":             {wide(binary.BigEndian), "full of NUL bytes"},
		"UTF-32 with a mark":    {"\xFF\xFE\x00\x00" + string(utf32), "it is in UTF-32"},
		"UTF-32":                {string(utf32), "full of NUL bytes"},
		"Latin-1":               {sheetHeader + "1,caf\xE9,,,,\n2,\xFCber,,,,\n3,c,,,,\n", "it is not in UTF-8 (2 rows"},
		"CR only":               {strings.ReplaceAll(text, "\n", "\r"), "its lines end with CR only"},
		"nothing":               {"", "it has no header"},
		"a bad header":          {"id,na\"me\n", "its header (line 1) cannot be read"},
	} {
		_, err := importing.Run(t.Context(), im.options("creatives", sheet, write(t, "a.csv", c.content)))
		var refused *importing.RefusedError
		require.ErrorAs(t, err, &refused, name)
		require.ErrorContains(t, err, c.reason, name)
	}
	require.Empty(t, im.stored("creatives"))
}

func TestStrayByteOrNULRejectsItsRow(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	s := im.run("creatives", sheet, write(t, "a.csv",
		sheetHeader+"1,ä,,,,\n2,b\xFF,,,,\n3,\u20ac,,,,\n4,d,x\x00,,,\n5,é,,,,\n"))
	require.Equal(t, int64(3), s.Inserted)
	got := rejects(t, s)
	require.Equal(t, []rejected{
		{Line: 3, Column: new("name"), Reason: "the row holds a byte that is not UTF-8 (0xFF)", Row: `2,b\xFF,,,,`},
		{Line: 5, Column: new("note"), Reason: "the row holds the character NUL", Row: "4,d,x\x00,,,"},
	}, got)

	s = im.run("creatives", lines, write(t, "a.jsonl",
		"{\"id\":\"6\",\"name\":\"\xFF\"}\n"+`{"id":"7","name":"\u0000"}`+"\n"+`{"id":"8","name":"\ud800"}`+"\n"+`{"id":"9"}`))
	require.Equal(t, int64(1), s.Inserted)
	require.Len(t, rejects(t, s), 3)
}

// A few stray bytes cost their rows only, also in a small file; a file in another encoding has them all over.
func TestStrayBytesAreNoOtherEncoding(t *testing.T) {
	t.Parallel()
	row := func(name string) func(int) string {
		return func(n int) string { return strings.Repeat("x,"+name+",,,,\n", n) }
	}
	plain, latin, umlaut := row("a"), row("caf\xE9"), row("é")
	for name, c := range map[string]struct {
		rows    string
		refused bool
	}{
		"two of twenty rows":               {plain(18) + latin(2), false},
		"nine of ninety rows":              {plain(81) + latin(9), false},
		"ten of a thousand rows":           {plain(990) + latin(10), false},
		"half of a few rows":               {plain(3) + latin(3), false},
		"most of a few, but most are good": {latin(3) + umlaut(4), false},
		"one row":                          {latin(1), false},
		"each of five rows":                {latin(5), true},
		"three of five rows":               {plain(2) + latin(3), true},
		"ten of a hundred rows":            {plain(90) + latin(10), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			im := newImports(t)
			_, err := importing.Run(t.Context(), im.options("creatives", sheet, write(t, "a.csv", sheetHeader+c.rows)))
			if c.refused {
				require.ErrorContains(t, err, "it is not in UTF-8")
				return
			}
			require.NoError(t, err)
		})
	}
}

func TestStrayNULsInATinyFileAreNoOtherEncoding(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	s := im.run("creatives", small, write(t, "a.csv", "id\n1\n\x00\n"))
	require.Equal(t, int64(1), s.Inserted)
	require.Equal(t, int64(3), rejects(t, s)[0].Line)
}

// One row can have several faults: all are named at once, and none that only follows from another.
func TestAllFaultsOfARowAtOnce(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	mapping := lines + "  - {from: spend, to: metrics.spend}\n  - {from: currency, to: metrics.currency}\n" +
		"  - {from: url, to: media.url}\n"
	s := im.run("creatives", mapping, write(t, "a.jsonl", strings.Join([]string{
		`{"id":"1","spend":"x","currency":"XXQ","url":"no url"}`,
		`{"id":"5","spend":-5,"currency":"XXQ"}`,
		`{"id":"2","clicks":-5,"impressions":4}`,
		`{"id":"3","clicks":5,"impressions":-4}`,
		`{"id":"4","spend":5,"currency":[],"clicks":"x","impressions":4}`,
		`{"id":"","url":"no url"}`,
		`{"id":"` + strings.Repeat("x", 1001) + `"}`,
	}, "\n")))
	var reasons []string
	for _, one := range rejects(t, s) {
		require.NotNil(t, one.Column)
		reasons = append(reasons, *one.Column+" | "+one.Reason)
	}
	require.Equal(t, []string{
		`spend | spend: "x" is no plain decimal number; url: media.url must be an http or https URL; currency: metrics.currency must be a currency code of ISO 4217 in capitals, such as EUR`,
		`spend | spend: metrics.spend must be at least 0; currency: metrics.currency must be a currency code of ` +
			`ISO 4217 in capitals, such as EUR`,
		`clicks | metrics.clicks must be at least 0`,
		`impressions | metrics.impressions must be at least 0`,
		`clicks | clicks: "x" is no plain whole number; currency: metrics.currency is required together with metrics.spend`,
		`id | id: the key is empty; url: media.url must be an http or https URL`,
		`id | source.id must be at most 500 characters`,
	}, reasons)
}

// A field that is required and could not be read is one fault.
func TestRequiredFieldThatCannotBeReadIsOneFault(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	mapping := "target: history\nformat: jsonl\nsystem: x\nkey: []\ncolumns:\n  - {constant: task, to: entity_type}\n" +
		"  - {from: task, to: entity_id, reference: {collection: tasks, system: x}}\n" +
		"  - {constant: x, to: action}\n  - {from: at, to: at}\n  - {from: to, to: to}\n"
	s := im.run("history", mapping, write(t, "a.jsonl", `{"task":"t","at":"x","to":"y"}`))
	got := rejects(t, s)
	require.Equal(t, new("at"), got[0].Column)
	require.Contains(t, got[0].Reason, `at: `)
	require.Contains(t, got[0].Reason, `; task: tasks have no object "t" of "x"`)
	require.NotContains(t, got[0].Reason, "required")
}

func TestReasonsAreBounded(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	long := strings.Repeat("x", 1<<20)
	for _, row := range []string{
		`{"` + long + `":1,"` + long + `":2}`,
		`{"id":"1","clicks":"` + long + `","impressions":1}`,
		`{"id":["` + long + `"],"clicks":` + strings.Repeat("9", 1<<20) + `}`,
		`{"id":"` + long + `"}`,
	} {
		got := rejects(t, im.run("creatives", lines, write(t, "a.jsonl", row)))
		require.Less(t, len(got[0].Reason), 500)
	}
}

func TestFirstLinesOfWarningsAreKept(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	s := im.run("creatives", lines, write(t, "a.jsonl", jsonRows(700, "")))
	require.Equal(t, int64(700), s.Warnings[importing.WarnNoCreationDate])
	require.Equal(t, []int64{1, 2, 3, 4, 5}, s.WarningLines[importing.WarnNoCreationDate])
}

func TestBadQuoteRejectsItsRow(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	s := im.run("creatives", sheet, write(t, "a.csv",
		sheetHeader+"1,a,,,,\n2,b\"b,,,,\n3,\"c\"c,,,,\n4,d,,,,\n"))
	require.Equal(t, int64(2), s.Inserted)
	got := rejects(t, s)
	require.Equal(t, []int64{3, 4}, []int64{got[0].Line, got[1].Line})
	require.Nil(t, got[0].Column)
	require.Equal(t, `2,b"b,,,,`, got[0].Row)
}

func TestQuoteNeverClosedIsOneRejectThatSaysWhereItOpened(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	s := im.run("creatives", sheet, write(t, "a.csv",
		sheetHeader+"1,a,,,,\n2,\"b,,,,\n3,c,,,,\n4,\"d\",,,,\n5,\"e,,,,\n6,f,,,,\n"))
	require.Equal(t, int64(4), s.Inserted)
	got := rejects(t, s)
	require.Len(t, got, 2)
	require.Equal(t, rejected{
		Line: 3, Reason: "the quote that opens field 2 in line 3 is never closed", Row: `2,"b,,,,`,
	}, got[0])
	require.Equal(t, int64(6), got[1].Line)
}

func TestRecordAbove16MiBIsRejectedAlone(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	long := strings.Repeat("x", 16<<20)
	s := im.run("creatives", sheet, write(t, "a.csv", sheetHeader+"1,a,,,,\n2,"+long+",,,,\n3,c,,,,\n"))
	require.Equal(t, int64(2), s.Inserted)
	require.Equal(t, int64(3), rejects(t, s)[0].Line)
	s = im.run("creatives", lines, write(t, "a.jsonl", `{"id":"4"}`+"\n"+`{"id":"5","name":"`+long+`"}`+"\n"+`{"id":"6"}`))
	require.Equal(t, int64(2), s.Inserted)
	require.Contains(t, rejects(t, s)[0].Reason, "longer than 16777216 bytes")
}

// The bound does not depend on how lines end.
func TestRecordOf16MiBGoesInWhateverEndsIt(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	open, shut := `{"id":"1","other":"`, `"}`
	long := open + strings.Repeat("x", 16<<20-len(open)-len(shut)) + shut
	for _, end := range []string{"", "\n", "\r\n"} {
		s := im.run("creatives", lines, write(t, "a.jsonl", long+end))
		require.Zero(t, s.Rejected, "%q", end)
	}
}
