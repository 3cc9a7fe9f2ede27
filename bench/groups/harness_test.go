package groups

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/bench/dataset"
	"catalogue/bench/report"
	"catalogue/bench/service"
	"catalogue/internal/mongodb"
	"catalogue/internal/mongotest"
	"catalogue/internal/redistest"
	"catalogue/internal/testenv"
)

// folder holds the catalogue that the tests of the package run.
var folder string

// binary is the catalogue, built once for the tests of the package that need it.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(folder, "catalogue")
	out, err := exec.Command("go", "build", "-o", path, "catalogue/cmd/catalogue").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the catalogue: %w: %s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "catalogue-bench-test-"); err != nil {
		panic(err)
	}
	code := testenv.Main(m, mongotest.Server(), redistest.Server())
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// testEnv is an Env whose data and services are the test's own.
func testEnv(t *testing.T, rows ...int) *Env {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	databases := map[int]*mongo.Database{}
	services := map[int]*service.Service{}
	for _, n := range rows {
		databases[n] = mongotest.Database(t)
	}
	capabilities, err := mongodb.Probe(t.Context(), databases[rows[0]])
	require.NoError(t, err)
	e := &Env{
		Client: databases[rows[0]].Client(), URI: mongotest.URI(t), RedisURL: redistest.URL(t), Binary: path, Rows: rows,
		Capabilities: capabilities,
		Dataset: func(ctx context.Context, n int) (*dataset.Dataset, error) {
			return dataset.PrepareIn(ctx, databases[n], n, func(int) {})
		},
	}
	e.Service = func(ctx context.Context, n int) (*service.Service, error) {
		if services[n] == nil {
			s, err := service.Start(ctx, service.Options{
				Binary: path, URI: e.URI, Database: databases[n].Name(), RedisURL: e.RedisURL, CursorKey: CursorKey,
				Log: filepath.Join(t.TempDir(), "catalogue.log"),
			})
			if err != nil {
				return nil, err
			}
			services[n] = s
			t.Cleanup(func() { require.NoError(t, s.Stop()) })
		}
		return services[n], nil
	}
	last := -1
	e.Progress = func(done, total int) {
		require.Greater(t, done, last, "a step is one step")
		require.LessOrEqual(t, done, total)
		last = done
	}
	t.Cleanup(func() {
		if !t.Failed() && last >= 0 {
			require.GreaterOrEqual(t, last, 1)
		}
	})
	return e
}

// requireWhole looks at what the page is made of: every table has as many cells as columns, every chart has points, and
// every goal says what it promises.
func requireWhole(t *testing.T, s report.Section) {
	t.Helper()
	require.NotEmpty(t, s.ID)
	require.NotEmpty(t, s.Title)
	require.NotEmpty(t, s.Text)
	require.NotContains(t, s.Text, "%!")
	require.NotEmpty(t, s.Goals)
	for _, table := range s.Tables {
		require.NotEmpty(t, table.Rows, table.Title)
		for _, row := range table.Rows {
			require.Len(t, row, len(table.Columns), table.Title)
			require.False(t, slices.Contains(row, ""), "%s: %q", table.Title, row)
		}
	}
	for _, chart := range s.Charts {
		require.Regexp(t, `^[a-z0-9-]+\.svg$`, chart.File)
		for _, line := range chart.Series {
			require.NotEmpty(t, line.Points, "%s: %s", chart.Title, line.Name)
		}
	}
	for _, m := range s.Measurements {
		require.Positive(t, m.Count, m.Name)
		require.Positive(t, m.P50.Value, m.Name)
	}
	for _, g := range s.Goals {
		require.NotEmpty(t, g.Text)
		require.NotEmpty(t, g.Unit)
		require.NotContains(t, g.Text+g.Reason, "%!")
	}
}

// measured are the goals with a figure of this run.
func measured(s report.Section) []report.Goal {
	return slices.DeleteFunc(slices.Clone(s.Goals), isUnmeasured)
}

func isUnmeasured(g report.Goal) bool { return g.NotMeasured }
