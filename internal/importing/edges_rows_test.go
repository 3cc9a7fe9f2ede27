package importing_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"catalogue/internal/importing"
)

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
