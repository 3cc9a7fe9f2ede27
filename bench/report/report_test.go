package report_test

import (
	"bytes"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"catalogue/bench/report"
)

// sample is a report with one of everything.
func sample() report.Report {
	return report.Report{
		Began: time.Date(2026, 3, 1, 12, 4, 5, 0, time.UTC), Took: 754 * time.Second, Command: "make bench BENCH_FLAGS='--rows 10k,100k'",
		Machine: report.Machine{OS: "linux/amd64", CPU: "A | B", Cores: 2, Memory: 8 << 30, Go: "go1.26.0"},
		Server:  report.Server{Version: "MongoDB 8.0.1", Capabilities: []string{"transactions", "hidden indexes"}, Missing: []string{"explain statistics"}},
		Rows:    []int{10_000, 100_000},
		Sections: []report.Section{
			{
				ID: "depth", Title: "Cost at depth", Text: "The same page,  \nat many depths.\n\n\n\nAgain.",
				Measurements: []report.Measurement{{
					Name: "first", Labels: map[string]string{"sort": "name", "rows": "10000"}, Count: 3,
					P50: report.Interval{Value: 1.5, Low: 1, High: 2}, P95: report.Interval{Value: 3, Low: 2, High: math.Inf(1)},
					P99: report.Interval{Value: math.NaN(), Low: math.Inf(-1), High: math.Inf(1)},
				}},
				Tables: []report.Table{{Title: "Sort name", Columns: []string{"Page", "a|b"}, Rows: [][]string{{"first", "1 | 2"}, {"two\nlines", ""}}}},
				Charts: []report.Chart{chart()},
				Goals: []report.Goal{
					{Text: "at 90 % ≤ 1.1 × the first page", Value: report.Interval{Value: 1.043, Low: 1.02, High: 1.066}, Unit: "×", Limit: 1.1},
					{Text: "≥ 10 × each | peer", Value: report.Interval{Value: 9.87, Low: 9, High: 11}, Unit: "×", Limit: 10, AtLeast: true, Reason: "the peer\nis quick"},
				},
			},
			{
				ID: "load", Title: "Load", Text: "Clients.",
				Goals: []report.Goal{
					{Text: "errors 0", Value: report.Interval{}, Unit: "errors"},
					{Text: "1,000,000 rows", Unit: "×", Limit: 1.1, NotMeasured: true, Reason: "1,000,000 rows were not run"},
				},
			},
		},
	}
}

func chart() report.Chart {
	return report.Chart{
		File: "depth-name.svg", Title: "A page by its depth <name>", X: "depth, %", Y: "p50, ms",
		Series: []report.Series{
			{Name: "10,000 rows", Points: []report.Point{{X: 0, Y: 1, Low: 0.9, High: 1.2}, {X: 50, Y: 1.1, Low: 1.1, High: 1.1}}},
			{Name: "100,000 rows", Points: []report.Point{{X: 0, Y: 2, Low: 1.5, High: math.Inf(1)}, {X: 50, Y: math.NaN()}, {X: 90, Y: 2, Low: 2, High: 2}}},
			{Name: "nothing"},
		},
	}
}

func TestResultsComeBack(t *testing.T) {
	t.Parallel()
	folder := report.Folder{Path: t.TempDir(), Charts: "performance"}
	require.NoError(t, folder.WriteResults(sample()))
	back, err := report.Read(folder.Results())
	require.NoError(t, err)

	nan := &back.Sections[0].Measurements[0].P99.Value
	require.True(t, math.IsNaN(*nan))
	*nan = 0 // nothing equals NaN
	require.True(t, math.IsNaN(back.Sections[0].Charts[0].Series[1].Points[1].Y))
	back.Sections[0].Charts[0].Series[1].Points[1].Y = 0
	want := sample()
	want.Sections[0].Measurements[0].P99.Value = 0
	want.Sections[0].Charts[0].Series[1].Points[1].Y = 0
	require.Equal(t, want, back)
}

func TestReadTellsWhichFileIsWrong(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "none.json")
	_, err := report.Read(path)
	require.ErrorContains(t, err, path)
}

func TestGoals(t *testing.T) {
	t.Parallel()
	var results, figures []string
	for _, g := range sample().Goals() {
		results, figures = append(results, g.Result()), append(figures, g.Figure())
	}
	require.Equal(t, []string{"met", "not met", "met", "not measured"}, results)
	require.Equal(t, []string{"1.043 (1.02–1.066) ×", "9.87 (9–11) ×", "0 errors", "–"}, figures)
	require.False(t, report.Goal{NotMeasured: true}.Met())
}

func TestGoalsForATerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, sample().WriteGoals(&out))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 7, "a header, four goals, two reasons")
	column := strings.Index(lines[0], "MEASURED")
	for i, figure := range map[int]string{1: "1.043", 2: "9.87", 4: "0 errors"} {
		require.Equal(t, column, strings.Index(lines[i], figure), lines[i])
	}
	require.Contains(t, lines[3], "the peer is quick")
}

func TestIntervals(t *testing.T) {
	t.Parallel()
	for want, i := range map[string]report.Interval{
		"1.043 (1.021–1.066)": {Value: 1.0432, Low: 1.0211, High: 1.0664},
		"0.00412 (0–∞)":       {Value: 0.00412, High: math.Inf(1)},
		"12346 (12000–13000)": {Value: 12345.678, Low: 12000, High: 13000},
		"43.12":               {Value: 43.123, Low: 43.123, High: 43.123},
		"0":                   {},
		"–":                   {Value: math.NaN(), Low: math.NaN(), High: math.NaN()},
	} {
		require.Equal(t, want, i.String())
	}
}
