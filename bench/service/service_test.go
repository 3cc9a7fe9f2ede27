package service_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/bench/service"
	"catalogue/bench/service/servicetest"
	"catalogue/internal/mongotest"
	"catalogue/internal/seeding"
	"catalogue/internal/testenv"
)

const (
	// childOptions make the test's own program start a service, tell its address and wait to be killed.
	childOptions = "BENCH_SERVICE_TEST_OPTIONS"
	patience     = 20 * time.Second
)

func TestMain(m *testing.M) {
	if given := os.Getenv(childOptions); given != "" {
		startAndWait(given)
	}
	os.Exit(testenv.Main(m, mongotest.Server(), servicetest.Server()))
}

func startAndWait(given string) {
	var o service.Options
	err := json.Unmarshal([]byte(given), &o)
	if err == nil {
		var s *service.Service
		if s, err = service.Start(context.Background(), o); err == nil {
			_, _ = fmt.Fprintln(os.Stdout, s.URL)
			select {}
		}
	}
	_, _ = fmt.Fprintln(os.Stdout, err)
	os.Exit(1)
}

func options(t *testing.T) service.Options {
	t.Helper()
	return service.Options{
		Binary: servicetest.Binary(t), URI: mongotest.URI(t), Database: mongotest.Database(t).Name(),
		CursorKey: servicetest.CursorKey, Log: filepath.Join(t.TempDir(), "catalogue.log"),
	}
}

func started(t *testing.T, o service.Options) *service.Service {
	t.Helper()
	s, err := service.Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	return s
}

func TestAWalkReadsEveryPageOnce(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	seeder, err := seeding.New(db, seeding.Options{Creatives: 23, Seed: 1}, func(int) {})
	require.NoError(t, err)
	_, err = seeder.Run(t.Context())
	require.NoError(t, err)
	o := options(t)
	o.Database = db.Name()
	s := started(t, o)

	seen, cursor, pages := map[string]bool{}, "", 0
	for {
		page, err := s.Page(t.Context(), "/creatives?limit=5&sort=name"+cursor)
		require.NoError(t, err)
		pages++
		var body struct{ Data []struct{ ID string } }
		require.NoError(t, json.Unmarshal(page.Body, &body))
		for _, creative := range body.Data {
			require.False(t, seen[creative.ID])
			seen[creative.ID] = true
		}
		next, err := page.NextCursor()
		require.NoError(t, err)
		if next == "" {
			break
		}
		cursor = "&cursor=" + next
	}
	require.Len(t, seen, 23)
	require.Equal(t, 5, pages)
}

func TestWhatItUses(t *testing.T) {
	t.Parallel()
	s := started(t, options(t))
	resident, err := s.ResidentBytes()
	require.NoError(t, err)
	require.Greater(t, resident, int64(1<<20))
	before, err := s.CPUTime()
	require.NoError(t, err)
	require.Positive(t, before)
	require.Eventually(t, func() bool { // the clock of processes ticks in hundredths
		_, err := s.Page(t.Context(), "/creatives")
		require.NoError(t, err)
		now, err := s.CPUTime()
		require.NoError(t, err)
		return now > before
	}, patience, time.Millisecond)
}

// The service is the one that Options describe, whatever the benchmarks' own environment says.
func TestOuterConfigurationDoesNotReachIt(t *testing.T) {
	t.Setenv("CATALOGUE_HTTP_ADDR", "256.0.0.1:1")
	t.Setenv("CATALOGUE_INDEXES", "nonsense")
	s := started(t, options(t))
	_, err := s.Page(t.Context(), "/creatives")
	require.NoError(t, err)
}

func TestAWrongAnswerIsShown(t *testing.T) {
	t.Parallel()
	s := started(t, options(t))
	_, err := s.Page(t.Context(), "/creatives?limit=0")
	require.ErrorContains(t, err, "/creatives?limit=0 answers 422")
	require.ErrorContains(t, err, "limit")
}

func TestAServiceThatDoesNotStartShowsItsLog(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.CursorKey = "short"
	_, err := service.Start(t.Context(), o)
	require.Equal(t, 1, strings.Count(err.Error(), "CATALOGUE_CURSOR_KEY"), "%v", err)
	require.ErrorContains(t, err, o.Log)

	o.Binary = filepath.Join(t.TempDir(), "nothing")
	_, err = service.Start(t.Context(), o)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestAStartEndsWithItsContext(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.URI = "mongodb://127.0.0.1:1/?directConnection=true" // nobody listens there, so it never is ready
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error)
	go func() {
		_, err := service.Start(ctx, o)
		result <- err
	}()
	require.Eventually(t, func() bool {
		log, _ := os.ReadFile(o.Log) // not there yet at first
		return strings.Contains(string(log), `"listening"`)
	}, patience, time.Millisecond)
	cancel()
	require.ErrorIs(t, <-result, context.Canceled)
}

func TestStopTellsOfAnEndBefore(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	o := options(t)
	o.Database = db.Name()
	s, err := service.Start(t.Context(), o)
	require.NoError(t, err)
	require.NoError(t, s.Stop())
	require.NoError(t, s.Stop(), "a second stop is none")
	_, err = s.Page(t.Context(), "/creatives")
	require.Error(t, err)
	names, err := db.ListCollectionNames(t.Context(), bson.D{})
	require.NoError(t, err)
	require.NotEmpty(t, names, "it had built its indexes before Start returned")
}

func TestItEndsWithBenchmarksThatAreKilled(t *testing.T) {
	t.Parallel()
	o := options(t)
	given, err := json.Marshal(o)
	require.NoError(t, err)
	program, err := os.Executable()
	require.NoError(t, err)
	bench := exec.CommandContext(t.Context(), program)
	bench.Env = append(os.Environ(), childOptions+"="+string(given))
	out, err := bench.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, bench.Start())
	url, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	url = strings.TrimSpace(url)
	require.True(t, answers(t, url), url)

	require.NoError(t, bench.Process.Kill())
	require.Error(t, bench.Wait())
	require.Eventually(t, func() bool { return !answers(t, url) }, patience, 10*time.Millisecond)
}

func answers(t *testing.T, url string) bool {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/healthz", http.NoBody)
	require.NoError(t, err)
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	return res.Body.Close() == nil && res.StatusCode == http.StatusOK
}
