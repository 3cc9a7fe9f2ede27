package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"catalogue/bench/report"
)

func page(t *testing.T, r report.Report) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, r.WritePage(&out, "performance"))
	return out.String()
}

// cells splits a line of a table, escaped bars apart.
func cells(line string) []string {
	var out []string
	for _, cell := range strings.Split(strings.ReplaceAll(strings.Trim(line, "|"), `\|`, "\x00"), "|") {
		out = append(out, strings.TrimSpace(strings.ReplaceAll(cell, "\x00", "|")))
	}
	return out
}

// tables finds the tables of a page, each a list of lines; it fails where one is not well-formed.
func tables(t *testing.T, text string) [][][]string {
	t.Helper()
	var out [][][]string
	for block := range strings.SplitSeq(text, "\n\n") {
		if !strings.HasPrefix(block, "|") {
			require.NotContains(t, block, "\n|", "a table without an empty line before it is none")
			continue
		}
		var table [][]string
		for i, line := range strings.Split(strings.TrimSpace(block), "\n") {
			require.True(t, strings.HasPrefix(line, "|") && strings.HasSuffix(line, "|"), line)
			if i == 1 {
				require.Regexp(t, `^(\|---)+\|$`, line)
			}
			table = append(table, cells(line))
			require.Len(t, table[i], len(table[0]), line)
		}
		out = append(out, table)
	}
	return out
}

func TestThePageHoldsTheReport(t *testing.T) {
	t.Parallel()
	text := page(t, sample())
	got := tables(t, text)
	require.Len(t, got, 2)
	require.Equal(t, [][]string{
		{"Goal", "Measured", "Result", "Reason"},
		{"---", "---", "---", "---"},
		{"at 90 % ≤ 1.1 × the first page", "1.043 (1.02–1.066) ×", "met", ""},
		{"≥ 10 × each | peer", "9.87 (9–11) ×", "**not met**", "the peer is quick"},
		{"errors 0", "0 errors", "met", ""},
		{"1,000,000 rows", "–", "not measured", "1,000,000 rows were not run"},
	}, got[0])
	require.Equal(t, [][]string{{"Page", "a|b"}, {"---", "---"}, {"first", "1 | 2"}, {"two lines", ""}}, got[1])
	for _, want := range []string{
		"\n## Cost at depth\n\nThe same page,\nat many depths.\n\nAgain.\n", "\n## Load\n\nClients.\n", "\n### Sort name\n",
		"![A page by its depth <name>](performance/depth-name.svg)", "(performance/results.json)",
		"make bench BENCH_FLAGS='--rows 10k,100k'", "1 March 2026, 12:04 UTC; it took 12m34s.", "10,000, 100,000 creatives",
		"A | B, 2 processors, 8 GiB of memory, linux/amd64, go1.26.0",
		"MongoDB 8.0.1. It has transactions, hidden indexes. It lacks: explain statistics.",
	} {
		require.Contains(t, text, want)
	}
	require.NotRegexp(t, `(?m)[ \t]$`, text)
	require.NotContains(t, text, "\n\n\n")
	require.True(t, strings.HasSuffix(text, "\n") && !strings.HasSuffix(text, "\n\n"))
	require.NotContains(t, text, "failed")
}

// Every figure of the page comes from the report: one without any has none.
func TestAnEmptyReportHasNoFigures(t *testing.T) {
	t.Parallel()
	text := page(t, report.Report{})
	require.Contains(t, text, "No group with a goal was run.")
	require.Empty(t, tables(t, text))
	digits := regexp.MustCompile(`\d+`).FindAllString(text, -1)
	require.Equal(t, []string{"1", "0001", "00", "00", "0", "0", "0", "95"}, digits, "of the zero date, the machine and the intervals")
}

func TestThePageNamesFailedGroups(t *testing.T) {
	t.Parallel()
	r := sample()
	r.Failures = []report.Failure{{ID: "peers", Error: "the peer\nis gone"}}
	require.Contains(t, page(t, r), "\n- peers: the peer is gone\n")
}

func svg(t *testing.T, c report.Chart) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, c.WriteSVG(&out))
	for d := xml.NewDecoder(bytes.NewReader(out.Bytes())); ; {
		if _, err := d.Token(); err != nil {
			require.ErrorIs(t, err, io.EOF)
			return out.String()
		}
	}
}

func TestAChart(t *testing.T) {
	t.Parallel()
	drawn := svg(t, chart())
	for _, text := range []string{"A page by its depth &lt;name&gt;", "depth, %", "p50, ms", "10,000 rows", "100,000 rows"} {
		require.Contains(t, drawn, ">"+text+"<")
	}
	require.NotContains(t, drawn, ">nothing<", "what has no points has no line")
	require.NotContains(t, drawn, "NaN")
	require.NotContains(t, drawn, "Inf")
	require.Contains(t, drawn, `width="540pt" height="315pt"`)
	require.Contains(t, drawn, ">0<", "the axis begins at zero")
	require.NotContains(t, drawn, "font-family:Liberation Sans;")
	bare := chart()
	for i := range bare.Series {
		for j, p := range bare.Series[i].Points {
			bare.Series[i].Points[j].Low, bare.Series[i].Points[j].High = p.Y, p.Y
		}
	}
	require.Less(t, strings.Count(svg(t, bare), "<path"), strings.Count(drawn, "<path"), "error bars are drawn")
}

func TestChartsThatAreHardToDraw(t *testing.T) {
	t.Parallel()
	at := func(points ...report.Point) []report.Series { return []report.Series{{Name: "s", Points: points}} }
	for name, series := range map[string][]report.Series{
		"nothing": nil, "no points": at(), "one point": at(report.Point{X: 1, Y: 1}), "zero": at(report.Point{}),
		"one power": at(report.Point{X: 10, Y: 10}, report.Point{X: 10, Y: 10}),
		"infinite":  at(report.Point{X: 1, Y: math.Inf(1)}, report.Point{X: 1, Y: 1, Low: math.Inf(-1), High: math.Inf(1)}),
		"large":     at(report.Point{X: 1_000_000, Y: 1e-5, Low: -1, High: 3}, report.Point{X: 10_000, Y: 0}),
		"negative":  at(report.Point{X: -1, Y: -1}),
	} {
		for _, log := range [][2]bool{{false, false}, {true, false}, {false, true}, {true, true}} {
			drawn := svg(t, report.Chart{File: "x.svg", Title: name, LogX: log[0], LogY: log[1], Series: series})
			require.NotContains(t, drawn, "NaN", name)
			require.NotContains(t, drawn, "Inf", name)
			require.NotContains(t, drawn, "e+0", name)
		}
	}
	require.Contains(t, svg(t, report.Chart{LogX: true, Series: at(report.Point{X: 10_000, Y: 1}, report.Point{X: 1_000_000, Y: 1})}), ">1000000<")
}

func TestEqualReportsGiveEqualFiles(t *testing.T) {
	t.Parallel()
	one, two := report.Folder{Path: t.TempDir(), Charts: "performance"}, report.Folder{Path: t.TempDir(), Charts: "performance"}
	require.NoError(t, one.Write(sample()))
	stored, err := report.Read(one.Results())
	require.NoError(t, err)
	require.NoError(t, two.Write(stored))
	for _, name := range []string{"performance.md", "performance/results.json", "performance/depth-name.svg"} {
		a, err := os.ReadFile(filepath.Join(one.Path, name))
		require.NoError(t, err)
		b, err := os.ReadFile(filepath.Join(two.Path, name))
		require.NoError(t, err)
		require.Equal(t, string(a), string(b), name)
	}
	left, err := filepath.Glob(filepath.Join(one.Path, "*", "*.tmp"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestAChartNeedsANameOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"", "x.png", "../x.svg", "depth-name.svg"} {
		r, wrong := sample(), chart()
		wrong.File = file
		r.Sections[1].Charts = []report.Chart{wrong}
		folder := report.Folder{Path: t.TempDir(), Charts: "."}
		require.ErrorContains(t, folder.Write(r), "load")
		_, err := os.Stat(folder.Page())
		require.ErrorIs(t, err, os.ErrNotExist)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestAWriterThatFailsIsToldOf(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, sample().WritePage(failing{}, "."), "full")
	require.ErrorContains(t, sample().WriteGoals(failing{}), "full")
	require.ErrorContains(t, chart().WriteSVG(failing{}), "full")
}
