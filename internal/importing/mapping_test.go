package importing_test

import (
	"os"
	"path/filepath"
	"strconv"
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
		`line 2: target is "tasks", but this is an import of creatives`,
		`line 3: format is "xml": it must be csv or jsonl`,
		`line 4: system is "": it must be a text of 1 to 100 characters`,
		`line 5: zone: "EST" is no zone name of the zone database, UTC or fixed offset`,
		`line 7: creatives have no field "nam"`,
		`line 9: name is mapped twice`,
		`line 10: status needs either from (a column) or constant`,
		`line 11: mode needs either from (a column) or constant`,
		`line 12: the layout "YYYY-MM-DD" has no four-digit year: a layout is rfc3339, date, year or one of Go's, ` +
			`such as "02.01.2006 15:04"`,
		`line 13: times of the layout "2006-01-02" carry no zone: name the zone that they are meant in`,
		`line 14: zone is set, but times of the layout carry their own`,
		`line 15: the name of attributes[$x] must be UTF-8 text without dots, NUL, and a dollar sign in front`,
		`line 16: the name of attributes[x.y] must be UTF-8 text without dots, NUL, and a dollar sign in front`,
		`line 18: split is for fields of several texts, which media.width is not`,
		`line 19: constant: "x" is no plain whole number`,
		`line 20: to is missing: it names the target field`,
		`line 21: layout and zone are for dates, which format is not`,
		`line 22: tags is no reference`,
		`line 23: as is "date", but media.height is of kind integer`,
		`line 24: a constant is a text that is not empty, without values, and no reference`,
		`line 25: values is empty: no row would fit`,
		`key is missing: it lists the columns that identify a row, or is [] where the file has none`,
		`line 17: metrics.spend and metrics.currency are mapped together or not at all`,
		`line 19: metrics.clicks and metrics.impressions are mapped together or not at all`,
	}, got)
}

// The rules of an attribute's name are those that the type has, and no others.
func TestNamesOfAttributes(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string]string{
		"a": "", "a$b": "", "Größe in cm": "", strings.Repeat("é", 64): "",
		"":                      "must be at least 1 character",
		"$a":                    "a dollar sign in front",
		"a.b":                   "without dots",
		"a\x00b":                "NUL",
		strings.Repeat("é", 65): "must be at most 64 characters",
	} {
		mapping := small + "  - {from: a, to: " + strconv.Quote("attributes."+name) + "}\n"
		_, err := importing.ParseMapping([]byte(mapping), creatives.ImportTarget())
		if wrong == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, "the name of attributes[", name)
		require.ErrorContains(t, err, wrong, name)
	}
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
		"line 7: constant: status must be one of draft, active, paused, archived",
		"line 8: format, value \"no\": format must be one of image, video, html, text",
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

// Mistakes of every sort stand together, each once: what only follows from another one is left out.
func TestMistakesOfEverySortAtOnceWithTheirLines(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		`line 6: a list is expected, not a text`,
		`line 12: a mapping is expected, not a list`,
		`line 14: there is no key form`,
		`line 16: a text is expected, not a list`,
		`line 3: format is "xml": it must be csv or jsonl`,
		`line 9: constant: "x" is no time of the layout "date"`,
		`line 18: values has "" on the left: what is absent is left out and never looked up`,
		`mode is required, and no column fills it`,
		`line 8: constant: status must be one of draft, active, paused, archived`,
		`line 21: tags, value "a": tags[0] must be at most 100 characters`,
	}, mistakes(t, `
target: creatives
format: xml
system: test

key: id
columns:
  - {constant: actve, to: status}
  - {constant: x, to: launched_at, layout: date, zone: UTC}
  - from: kind
    to: format
    values: [image]
  - from: name
    form: b
    to: name
  - {from: [a], to: attributes.x}
  - from: when
    values: {"": x}
    to: attributes.y
  - from: tag
    values: {a: `+strings.Repeat("x", 101)+`}
    to: tags
`, creatives.ImportTarget()))
	require.Equal(t, []string{
		`line 5: key names the column "a" twice, or without a name`,
	}, mistakes(t, "target: creatives\nformat: jsonl\nsystem: x\nkey: [a,\n  a]\n"+
		"columns:\n  - {constant: active, to: status}\n  - {constant: image, to: format}\n  - {constant: live, to: mode}\n",
		creatives.ImportTarget()))
}

func TestTypesOfGoAreNotShown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"hello":                          "line 1: a mapping is expected, not a text",
		"- a":                            "line 1: a mapping is expected, not a list",
		"5":                              "line 1: a mapping is expected, not a number",
		small + "csv: 5\n":               "line 10: a mapping is expected, not a number",
		small + "zone: [a]\n":            "line 10: a text is expected, not a list",
		small + "csv: {decimal: {a: b}}": "line 10: a text is expected, not a mapping",
		small + "  - {from: a, to: created_at, as: [b]}":               "line 10: a text is expected, not a list",
		small + "  - {from: a, to: name, values: \"multi\\nline: x\"}": "line 10: a mapping is expected, not a text",
		small + "  - {from: a, to: name, reference: true}":             "line 10: a mapping is expected, not a truth value",
		small + "  - a":    "line 10: a mapping is expected, not a text",
		small + "key: [b]": `line 10: mapping key "key" already defined at line 5`,
	} {
		require.Equal(t, []string{want}, mistakes(t, text, creatives.ImportTarget()), text)
	}
}

func TestLayoutWithAZoneAsMereTextIsAMistake(t *testing.T) {
	t.Parallel()
	got := mistakes(t, small+"  - {from: a, to: created_at, layout: '2006-01-02T15:04:05Z', zone: Europe/Kyiv}\n",
		creatives.ImportTarget())
	require.Equal(t, []string{`line 10: the layout "2006-01-02T15:04:05Z" has Z as mere text, so that it would not be read ` +
		`as a zone: write Z07:00, -07:00 or MST`}, got)
}

func TestMappingIsReadToItsGreatestSizeOnly(t *testing.T) {
	t.Parallel()
	_, err := importing.ReadMapping(endless{}, creatives.ImportTarget())
	require.ErrorContains(t, err, "it is longer than 1048576 bytes")
	_, err = importing.ReadMapping(strings.NewReader(small), creatives.ImportTarget())
	require.NoError(t, err)
}

// endless is a file without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

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
	require.Equal(t, []string{`line 10: csv is set, but format is "jsonl"`}, got)
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
