package importing_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"catalogue/creatives"
	"catalogue/history"
	"catalogue/internal/importing"
)

// small is the least that a mapping of creatives has; %s is the place for more columns.
const small = `
target: creatives
format: csv
system: test
key: [id]
columns:
  - {constant: active, to: status}
  - {constant: image, to: format}
  - {constant: live, to: mode}
`

func mistakes(t *testing.T, mapping string, target importing.Target) []string {
	t.Helper()
	_, err := importing.ParseMapping([]byte(mapping), target)
	if err == nil {
		return nil
	}
	var bad *importing.MappingError
	require.ErrorAs(t, err, &bad)
	require.ErrorContains(t, err, bad.Mistakes[0])
	return bad.Mistakes
}

func TestShippedMappings(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.Join("..", "..", "examples", "mappings", "*.yaml"))
	require.NoError(t, err)
	require.Len(t, names, 5)
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		_, rest, _ := strings.Cut(string(text), "target: ")
		target, _, _ := strings.Cut(rest, "\n")
		require.Empty(t, mistakes(t, string(text), targets[target]()), name)
	}
}

func TestAllMistakesAtOnce(t *testing.T) {
	t.Parallel()
	got := mistakes(t, `
target: tasks
format: xml
system: ""
zone: EST
columns:
  - {from: a, to: nam}
  - {from: a, to: name}
  - {from: a, to: name}
  - {to: status}
  - {from: a, constant: b, to: mode}
  - {from: a, to: created_at, layout: YYYY-MM-DD}
  - {from: a, to: updated_at, layout: date}
  - {from: a, to: launched_at, zone: UTC}
  - {from: a, to: attributes.$x}
  - {from: a, to: attributes.x.y}
  - {from: a, to: metrics.spend}
  - {from: a, to: media.width, split: ","}
  - {constant: x, to: metrics.clicks}
  - {from: a}
  - {from: a, to: format, layout: date}
  - {from: a, to: tags, reference: {collection: tasks, system: x}}
  - {from: a, to: media.height, as: date}
  - {constant: "", to: media.url}
  - {from: a, to: media.thumbnail_url, values: {}}
`, creatives.ImportTarget())
	require.Equal(t, []string{
		`target is "tasks", but this is an import of creatives`,
		`format is "xml": it must be csv or jsonl`,
		`system is "": it must be a text of 1 to 100 characters`,
		`zone: "EST" is no zone name of the zone database, UTC or fixed offset`,
		`line 7: creatives have no field "nam"`,
		`line 9: name is mapped twice`,
		`line 10: status needs either from (a column) or constant`,
		`line 11: mode needs either from (a column) or constant`,
		`line 12: the layout "YYYY-MM-DD" has no four-digit year: a layout is rfc3339, date, year or one of Go's, ` +
			`such as "02.01.2006 15:04"`,
		`line 13: times of the layout "2006-01-02" carry no zone: name the zone that they are meant in`,
		`line 14: zone is set, but times of the layout carry their own`,
		`line 15: an attribute's name has 1 to 100 bytes without dots and dollar signs: "$x"`,
		`line 16: an attribute's name has 1 to 100 bytes without dots and dollar signs: "x.y"`,
		`line 18: split is for fields of several texts, which media.width is not`,
		`line 19: constant: "x" is no plain whole number`,
		`line 20: to is missing: it names the target field`,
		`line 21: layout and zone are for dates, which format is not`,
		`line 22: tags is no reference`,
		`line 23: as is "date", but media.height is of kind integer`,
		`line 24: a constant is a text that is not empty, without values, and no reference`,
		`line 25: values is empty: no row would fit`,
		`key is missing: it lists the columns that identify a row, or is [] where the file has none`,
		`metrics.spend and metrics.currency are mapped together or not at all`,
	}, got)
}

func TestUnknownKeysOfAMapping(t *testing.T) {
	t.Parallel()
	got := mistakes(t, small+"  - {from: a, to: name, form: b}\nkye: [a]\n", creatives.ImportTarget())
	require.Equal(t, []string{"line 10: there is no key form", "line 11: there is no key kye"}, got)
	require.Equal(t, []string{"it is empty"}, mistakes(t, "", creatives.ImportTarget()))
	require.Equal(t, []string{"it holds more than one document"}, mistakes(t, small+"---\na: 1\n", creatives.ImportTarget()))
	require.Len(t, mistakes(t, "target: [", creatives.ImportTarget()), 1)
	require.Len(t, mistakes(t, small+strings.Repeat("#", 1<<20), creatives.ImportTarget()), 1)
}

// What every row would break is a mistake of the mapping.
func TestRulesOfTheEntityAreTriedOnTheMapping(t *testing.T) {
	t.Parallel()
	require.Empty(t, mistakes(t, small, creatives.ImportTarget()))
	require.Equal(t, []string{
		"constant: status must be one of draft, active, paused, archived",
		"format, value \"no\": format must be one of image, video, html, text",
	}, mistakes(t, `
target: creatives
format: csv
system: test
key: [id]
columns:
  - {constant: actve, to: status}
  - {from: kind, to: format, values: {"yes": image, "no": txt, "-": ""}}
  - {constant: live, to: mode}
`, creatives.ImportTarget()))
	require.Equal(t, []string{
		"action is required, and no column fills it",
		"at is required, and no column fills it",
		"entity_id is required, and no column fills it",
		"entity_type is required, and no column fills it",
	}, mistakes(t, "target: history\nformat: jsonl\nsystem: x\nkey: []\ncolumns: [{from: to, to: to}]\n", history.ImportTarget()))
}

func TestCSVSettings(t *testing.T) {
	t.Parallel()
	for setting, part := range map[string]string{
		"{delimiter: ';;'}":               "csv.delimiter",
		"{delimiter: '\"'}":               "csv.delimiter",
		"{delimiter: é}":                  "csv.delimiter",
		"{decimal: ';'}":                  "csv.decimal",
		"{decimal: ',', thousands: ',,'}": "csv.thousands",
		"{thousands: '.'}":                "csv.thousands",
		"{thousands: '1'}":                "csv.thousands",
	} {
		got := mistakes(t, small+"csv: "+setting+"\n", creatives.ImportTarget())
		require.Len(t, got, 1, setting)
		require.Contains(t, got[0], part)
	}
	require.Empty(t, mistakes(t, small+"csv: {delimiter: \"\\t\", decimal: ',', thousands: \"'\"}\n", creatives.ImportTarget()))
	got := mistakes(t, strings.Replace(small, "csv", "jsonl", 1)+"csv: {delimiter: ;}\n", creatives.ImportTarget())
	require.Equal(t, []string{`csv is set, but format is "jsonl"`}, got)
}

func FuzzMapping(f *testing.F) {
	f.Add(small)
	f.Add("target: [\n")
	f.Add("columns: [{from: a, to: attributes.b, values: {a: b}, as: date, layout: year, zone: UTC}]")
	target := creatives.ImportTarget()
	f.Fuzz(func(t *testing.T, text string) {
		plan, err := importing.ParseMapping([]byte(text), target)
		require.NotEqual(t, plan == nil, err == nil)
	})
}
