package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"catalogue/bench/groups"
	"catalogue/bench/measure"
	"catalogue/bench/report"
	"catalogue/bench/service/servicetest"
	"catalogue/internal/mongotest"
	"catalogue/internal/testenv"
)

func TestMain(m *testing.M) {
	os.Exit(testenv.Main(m, mongotest.Server(), servicetest.Server()))
}

// bench is the command with groups of a test's own.
type bench struct {
	app
	stdout, stderr bytes.Buffer
	output         string
}

func newBench(t *testing.T, all ...groups.Group) *bench {
	t.Helper()
	b := &bench{output: t.TempDir()}
	b.app = app{stdout: &b.stdout, stderr: &b.stderr, getenv: func(string) string { return "" }, groups: all}
	return b
}

// args are what every run needs, and more.
func (b *bench) args(t *testing.T, more ...string) []string {
	t.Helper()
	return append([]string{"--uri", mongotest.URI(t), "--binary", servicetest.Binary(t), "--output", b.output}, more...)
}

func (b *bench) results(t *testing.T) report.Report {
	t.Helper()
	r, err := report.Read(filepath.Join(b.output, "results.json"))
	require.NoError(t, err)
	return r
}

// constant is a group that measures nothing.
func constant(id string) groups.Group {
	return groups.Group{ID: id, Title: "Title of " + id, Run: func(context.Context, *groups.Env) (report.Section, error) {
		return report.Section{
			ID: id, Title: "Title of " + id, Text: "Text of " + id + ".",
			Goals: []report.Goal{
				{Text: "kept by " + id, Value: report.Interval{Value: 1, Low: 1, High: 1}, Unit: "×", Limit: 2},
				{Text: "missed by " + id, Value: report.Interval{Value: 3, Low: 3, High: 3}, Unit: "×", Limit: 2, Reason: "three"},
			},
		}, nil
	}}
}

func failing(id string) groups.Group {
	return groups.Group{ID: id, Title: id, Run: func(context.Context, *groups.Env) (report.Section, error) {
		return report.Section{}, errors.New("it is broken")
	}}
}

// paging times pages of a small dataset and remembers where the catalogue was.
func paging(rows int, url *string) groups.Group {
	return groups.Group{ID: "paging", Title: "Paging", Run: func(ctx context.Context, e *groups.Env) (report.Section, error) {
		data, err := e.Dataset(ctx, rows)
		if err != nil {
			return report.Section{}, err
		}
		s, err := e.Service(ctx, data.Rows)
		if err != nil {
			return report.Section{}, err
		}
		again, err := e.Service(ctx, data.Rows)
		if err != nil || again != s {
			return report.Section{}, errors.Join(err, errors.New("the catalogue of a size is to be shared"))
		}
		*url = s.URL
		get := func(ctx context.Context) error {
			_, err := s.Page(ctx, "/creatives?limit=10")
			return err
		}
		samples, err := measure.Interleave(ctx, 1, 8, nil, measure.Subject{Name: "page", Run: get})
		if err != nil {
			return report.Section{}, err
		}
		e.Progress(1, 1)
		m := samples[0].Summary()
		return report.Section{
			ID: "paging", Title: "Paging", Text: "Pages.", Measurements: []report.Measurement{m},
			Charts: []report.Chart{{File: "paging.svg", Title: "Pages", Series: []report.Series{{
				Name: "page", Points: []report.Point{{X: 1, Y: m.P50.Value, Low: m.P50.Low, High: m.P50.High}},
			}}}},
		}, nil
	}}
}

func TestARun(t *testing.T) {
	t.Parallel()
	const rows = 317 // of this test alone: databases are named by their rows
	t.Cleanup(func() {
		require.NoError(t, mongotest.Database(t).Client().Database("bench_317").Drop(context.Background()))
	})
	var url string
	b := newBench(t, paging(rows, &url), constant("second"))
	require.Equal(t, 0, b.execute(t.Context(), b.args(t, "--rows", "317")), "%s", &b.stderr)

	r := b.results(t)
	require.Len(t, r.Sections, 2)
	require.Equal(t, 8, r.Sections[0].Measurements[0].Count)
	require.Equal(t, []int{rows}, r.Rows)
	require.Equal(t, "make bench BENCH_FLAGS='--rows 317'", r.Command)
	require.NotZero(t, r.Machine.Cores)
	require.NotZero(t, r.Machine.Memory)
	require.NotEmpty(t, r.Machine.CPU)
	require.NotEmpty(t, r.Server.Version)
	require.NotEmpty(t, append(r.Server.Capabilities, r.Server.Missing...))
	require.Positive(t, r.Took)

	page, err := os.ReadFile(filepath.Join(b.output, "performance.md"))
	require.NoError(t, err)
	for _, want := range []string{"## Paging", "## Title of second", "| kept by second | 1 × | met |", "| **not met** | three |", "](paging.svg)"} {
		require.Contains(t, string(page), want)
	}
	parseSVG(t, filepath.Join(b.output, "paging.svg"))
	require.FileExists(t, filepath.Join(b.output, "catalogue-317.log"))
	require.Contains(t, b.stdout.String(), "missed by second")
	require.Contains(t, b.stdout.String(), filepath.Join(b.output, "performance.md"))
	require.Contains(t, b.stderr.String(), "2/2 second: Title of second\n", "a line for each group where there is no terminal")
	requireStopped(t, url)
}

func parseSVG(t *testing.T, path string) {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	for d := xml.NewDecoder(file); ; {
		if _, err := d.Token(); err != nil {
			require.ErrorIs(t, err, io.EOF)
			return
		}
	}
}

func requireStopped(t *testing.T, url string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/healthz", http.NoBody)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	if err == nil {
		require.NoError(t, res.Body.Close())
	}
	require.Error(t, err, "%s still answers", url)
}

func TestAGroupThatFailsLeavesTheOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t, constant("first"), failing("broken"), constant("last"))
	docs := t.TempDir()
	require.Equal(t, 1, b.execute(t.Context(), b.args(t, "--docs", docs)))
	r := b.results(t)
	require.Len(t, r.Sections, 2)
	require.Equal(t, []report.Failure{{ID: "broken", Error: "it is broken"}}, r.Failures)
	require.FileExists(t, filepath.Join(b.output, "performance.md"))
	require.NoFileExists(t, filepath.Join(docs, "performance.md"), "the documentation keeps its last whole run")
	require.Contains(t, b.stderr.String(), "bench: 1 of 3 groups failed:\nbroken: it is broken")
	require.Contains(t, b.stdout.String(), "kept by last")
}

func TestDocsTakeTheWholePage(t *testing.T) {
	t.Parallel()
	b := newBench(t, constant("first"), constant("last"))
	docs := t.TempDir()
	require.Equal(t, 0, b.execute(t.Context(), b.args(t, "--docs", docs)), "%s", &b.stderr)
	require.FileExists(t, filepath.Join(docs, "performance", "results.json"))
	written, err := os.ReadFile(filepath.Join(docs, "performance.md"))
	require.NoError(t, err)

	anew := t.TempDir()
	require.Equal(t, 0, b.execute(t.Context(), []string{"page", "--docs", anew, "--results", filepath.Join(b.output, "results.json")}))
	again, err := os.ReadFile(filepath.Join(anew, "performance.md"))
	require.NoError(t, err)
	require.Equal(t, string(written), string(again), "the results alone make the page")
}

func TestARunThatIsBrokenOffLeavesWhatItHas(t *testing.T) {
	t.Parallel()
	const rows = 319
	t.Cleanup(func() {
		require.NoError(t, mongotest.Database(t).Client().Database("bench_319").Drop(context.Background()))
	})
	ctx, cancel := context.WithCancel(t.Context())
	var url string
	ending := groups.Group{ID: "ending", Run: func(ctx context.Context, _ *groups.Env) (report.Section, error) {
		cancel()
		return report.Section{}, ctx.Err()
	}}
	b := newBench(t, paging(rows, &url), ending, constant("never"))
	require.Equal(t, 1, b.execute(ctx, b.args(t)))
	require.Len(t, b.results(t).Sections, 1)
	require.Contains(t, b.stderr.String(), "broken off in ending")
	require.Contains(t, b.stderr.String(), filepath.Join(b.output, "results.json")+" has what was measured before")
	require.NoFileExists(t, filepath.Join(b.output, "performance.md"))
	require.Empty(t, b.stdout.String())
	requireStopped(t, url)
}

func TestOnlyTheChosenGroupsRun(t *testing.T) {
	t.Parallel()
	b := newBench(t, constant("first"), failing("broken"), constant("last"))
	require.Equal(t, 0, b.execute(t.Context(), b.args(t, "--groups", "last,first")), "%s", &b.stderr)
	r := b.results(t)
	require.Equal(t, "first", r.Sections[0].ID, "in their own order")
	require.Equal(t, "last", r.Sections[1].ID)
	require.Equal(t, "make bench BENCH_FLAGS='--groups last,first'", r.Command)
}

func TestAServerThatIsAwayIsToldOf(t *testing.T) {
	t.Parallel()
	b := newBench(t, constant("first"))
	require.Equal(t, 1, b.execute(t.Context(), []string{
		"--binary", servicetest.Binary(t), "--output", b.output, "--uri", "mongodb://me:secret@127.0.0.1:1/?directConnection=true&serverSelectionTimeoutMS=100",
	}))
	require.Contains(t, b.stderr.String(), "no MongoDB answers at mongodb://")
	require.NotContains(t, b.stderr.String(), "secret")
}
