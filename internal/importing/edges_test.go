package importing_test

import (
	"encoding/binary"
	"slices"
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
		`spend | spend: "x" is no plain decimal number; url: media.url must be an http or https URL; currency: ` +
			`metrics.currency must be a currency code of ISO 4217 in capitals, such as EUR`,
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

func TestMappingNamesDelimiterAndSigns(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	german := sheet + "csv: {delimiter: ;, decimal: ',', thousands: .}\n"
	s := im.run("creatives", german, write(t, "a.csv",
		strings.ReplaceAll(sheetHeader, ",", ";")+"1;a;;1.234,5;EUR;\n2;b;;1,234.5;EUR;\n"))
	require.Equal(t, []any{1234.5}, im.field("creatives", "metrics.spend"))
	got := rejects(t, s)
	require.Equal(t, new("spend"), got[0].Column)
	require.Equal(t, `"1,234.5" is no plain decimal number`, got[0].Reason)
}

func TestNothingIsGuessed(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	s := im.run("creatives", sheet, write(t, "a.csv", sheetHeader+
		"1,a,,1_0,EUR,\n2,b,,Inf,EUR,\n3,c,,\"1,5\",EUR,\n4,d,,5,XXQ,\n5,e,,5,,\n6,f,,,,2026-1-31 12:00\n7,g,,-5,EUR,31.01.2026\n"))
	got := rejects(t, s)
	require.Len(t, got, 7)
	require.Equal(t, "metrics.currency must be a currency code of ISO 4217 in capitals, such as EUR", got[3].Reason)
	require.Equal(t, new("currency"), got[3].Column)
	require.Equal(t, new("currency"), got[4].Column) // an amount without its currency
	require.Equal(t, new("made"), got[5].Column)
	require.Equal(t, new("made"), got[6].Column)
	require.Empty(t, im.stored("creatives"))
}

func TestWrongDelimiterIsRefusedWithTheColumnsFound(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	_, err := importing.Run(t.Context(), im.options("creatives", sheet,
		write(t, "a.csv", strings.ReplaceAll(sheetHeader, ",", ";")+"1;a;;;;\n")))
	require.EqualError(t, err, `the file is refused: its header has no column "name", "note", "spend", "currency", `+
		`"made", "id"; parted by "," it has "id;name;note;spend;currency;made"`)
}

func TestHeaderColumnsAreRefusedIfMapped(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	for header, reason := range map[string]string{
		"id,note,spend,currency,made\n":           `its header has no column "name"`,
		"id,name,note,spend,currency,made,note\n": `its header has twice the column "note"`,
		"id,Name,note,spend,currency,made\n":      `its header has no column "name"`,
	} {
		_, err := importing.Run(t.Context(), im.options("creatives", sheet, write(t, "a.csv", header)))
		require.ErrorContains(t, err, reason)
	}
	s := im.run("creatives", sheet, write(t, "a.csv", "extra,id,name,note,spend,currency,made,extra\nx,1,a,,,,,y\n"))
	require.Equal(t, int64(1), s.Inserted)
}

func TestRowsOfAnotherLengthAreRejectedAndBlankLinesSkipped(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	s := im.run("creatives", sheet, write(t, "a.csv", "\n"+sheetHeader+"\n1,a,,,,\n\r\n2,b\n3,c,,,,,\n\n4,d,,,,\n\n"))
	require.Equal(t, int64(4), s.Read)
	got := rejects(t, s)
	require.Equal(t, rejected{Line: 6, Reason: "the row has 2 fields, the header 6", Row: "2,b"}, got[0])
	require.Equal(t, rejected{Line: 7, Reason: "the row has 7 fields, the header 6", Row: "3,c,,,,,"}, got[1])
	s = im.run("creatives", lines, write(t, "a.jsonl", "\n"+`{"id":"5"}`+"\n \n\r\n"+`{"id":"6"}`))
	require.Equal(t, int64(2), s.Inserted)
}

func TestKeysAreTrimmedText(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	im.run("creatives", sheet, write(t, "a.csv", sheetHeader+" 007 ,a,,,,\n7,b,,,,\n1e3,c,,,,\n"))
	im.run("creatives", lines, write(t, "a.jsonl", `{"id":1.0}`+"\n"+`{"id":12345678901234567890}`+"\n"+`{"id":" x "}`))
	require.Equal(t, []any{"007", "1.0", "12345678901234567890", "1e3", "7", "x"}, im.field("creatives", "source.id"))

	s := im.run("creatives", lines, write(t, "b.jsonl", `{"id":" "}`+"\n"+`{}`+"\n"+`{"id":true}`+"\n"+
		`{"id":"`+strings.Repeat("x", 501)+`"}`))
	got := rejects(t, s)
	require.Len(t, got, 4)
	for _, one := range got {
		require.Equal(t, new("id"), one.Column, one.Reason)
	}
}

func TestKeysOfSeveralColumns(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	two := strings.Replace(sheet, "key: [id]", "key: [id, name]", 1)
	s := im.run("creatives", two, write(t, "a.csv", sheetHeader+"a/b,c,,,,\na,b/c,,,,\na,b,,,,\n"))
	require.Equal(t, int64(3), s.Inserted)
	require.Equal(t, []any{"a%2Fb/c", "a/b", "a/b%2Fc"}, im.field("creatives", "source.id"))

	// What people wrote stays readable, and as short as it is.
	im = newImports(t)
	im.run("creatives", two, write(t, "a.csv", sheetHeader+"a b,Київ?,,,,\na%2Fb,&,,,,\n"))
	require.Equal(t, []any{"a b/Київ?", "a%252Fb/&"}, im.field("creatives", "source.id"))
}

func TestLaterLineOfAKeyWinsWithAWarning(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	path := write(t, "a.csv", sheetHeader+
		"1,first,,,,\n2,x,,,,\n1,second,,,,\n2,x,,,,\n1,third,,,,\n1,third,,,,\n1,bad,,?,,\n")
	s := im.run("creatives", sheet, path)
	require.Equal(t, []any{"third", "x"}, im.field("creatives", "name"))
	require.Equal(t, int64(2), s.Inserted)
	require.Equal(t, int64(2), s.Superseded)
	require.Equal(t, int64(2), s.Duplicates)
	require.Equal(t, int64(1), s.Rejected)
	require.Equal(t, int64(2), s.Warnings[importing.WarnSuperseded])
	second := im.run("creatives", sheet, path)
	require.False(t, second.Changed())
}

func TestTimeInAClockChangeTakesTheOffsetBeforeWithAWarning(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	s := im.run("creatives", sheet, write(t, "a.csv", sheetHeader+
		"1,a,,,,2026-03-29 03:30\n2,b,,,,2026-10-25 03:30\n3,c,,,,2026-10-25 12:00\n"))
	require.Equal(t, int64(2), s.Warnings[importing.WarnClockChange])
	var times []string
	for _, c := range importedCreatives(t, im) {
		times = append(times, c.CreatedAt.String())
	}
	require.Equal(t, []string{"2026-03-29T01:30:00.000Z", "2026-10-25T00:30:00.000Z", "2026-10-25T10:00:00.000Z"}, times)
}

func TestWarningsByKind(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	mapping := lines + "  - {from: made, to: created_at}\n  - {from: start, to: launched_at}\n  - {from: end, to: ended_at}\n"
	s := im.run("creatives", mapping, write(t, "a.jsonl", strings.Join([]string{
		`{"id":"1","clicks":5,"impressions":4,"made":"2026-01-02T00:00:00Z","end":"2026-01-01T00:00:00Z"}`,
		`{"id":"2","clicks":0,"impressions":0,"start":"2026-01-03T00:00:00Z","end":"2026-01-02T00:00:00Z"}`,
		`{"id":"3","made":"2026-01-04T00:00:00Z","start":"2026-01-01T00:00:00Z","end":"2026-01-02T00:00:00Z"}`,
	}, "\n")))
	require.Equal(t, int64(3), s.Inserted)
	require.Equal(t, map[importing.Warning]int64{
		importing.WarnClicksOverImpressions: 1, importing.WarnEndBeforeStart: 2, importing.WarnNoCreationDate: 1,
	}, s.Warnings)
	require.Equal(t, []any{1.25, nil, nil}, im.field("creatives", "metrics.ctr"))
}

func TestColumnThatNoRowHasIsReported(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	s := im.run("creatives", lines, write(t, "a.jsonl", `{"id":"1","nmae":"a","note":null}`))
	require.Equal(t, []string{"name", "clicks", "impressions"}, s.Unseen)
}

func TestAbsentValues(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	im.run("creatives", sheet, write(t, "a.csv", sheetHeader+"1,,,,,\n"))
	im.run("creatives", lines, write(t, "a.jsonl", `{"id":"2","name":"","note":null,"clicks":"","impressions":null}`))
	for i, doc := range im.stored("creatives") {
		require.Equal(t, []string{"1", "2"}[i], doc["name"]) // a creative without a name takes its source id
		require.NotContains(t, doc, "metrics")
		require.NotContains(t, doc, "attributes")
		require.NotContains(t, doc, "created_at")
	}
}

// Nothing from a row is read as an operator or a path.
func TestValuesThatLookLikeOperators(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	odd := []string{"$name", "$$ROOT", `{"$set": 1}`, "a.b"}
	for _, round := range []string{"x", "y"} { // inserted, then updated
		var rows strings.Builder
		for i, value := range odd {
			rows.WriteString(`{"id":"` + string(rune('a'+i)) + `","name":` + quoteJSON(value) + `,"note":"` + round + "\"}\n")
		}
		im.run("creatives", lines, write(t, "a.jsonl", rows.String()))
	}
	require.Equal(t, odd, texts(im.field("creatives", "name")))
	require.Equal(t, slices.Repeat([]string{"y"}, 4), texts(im.field("creatives", "attributes.note")))
}
