package follower_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	follower "catalogue/feed/sync"
	"catalogue/internal/testenv"
)

// The variables that make the test binary a follower, for the tests that kill it.
const (
	childURL = "FOLLOWER_TEST_URL"
	childDir = "FOLLOWER_TEST_DIR"
	// childAgain makes it end whenever it has caught up, which rewrites the copy, and begin again.
	childAgain = "FOLLOWER_TEST_AGAIN"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(childURL); url != "" {
		os.Exit(followUntilKilled(url, os.Getenv(childDir), os.Getenv(childAgain) != ""))
	}
	os.Exit(testenv.Main(m))
}

func followUntilKilled(url, dir string, again bool) int {
	o := options(url, dir)
	o.Once = again
	for {
		f, err := follower.Open(o)
		if err == nil {
			err = f.Follow(context.Background())
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
}

// options are those of a quick follower.
func options(url, dir string) follower.Options {
	return follower.Options{
		URL: url, Resource: "creatives", Dir: dir, Limit: 5, Fields: []string{"text"},
		Interval: time.Millisecond, FirstPause: time.Millisecond,
	}
}

// open is closed with the test, where the test has not done so.
func open(t *testing.T, o follower.Options) *follower.Follower {
	t.Helper()
	f, err := follower.Open(o)
	require.NoError(t, err)
	return f
}

// followOnce follows until the copy has caught up.
func followOnce(t require.TestingT, ctx context.Context, o follower.Options) { //nolint:revive // as require has it
	o.Once = true
	f, err := follower.Open(o)
	require.NoError(t, err)
	require.NoError(t, f.Follow(ctx))
	require.NoError(t, f.Close())
}

func verify(t *testing.T, o follower.Options) follower.Report {
	t.Helper()
	f := open(t, o)
	report, err := f.Verify(t.Context())
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return report
}

func copyLines(t require.TestingT, dir string) []string {
	raw, err := os.ReadFile(filepath.Join(dir, "copy.jsonl"))
	require.NoError(t, err)
	text := string(raw)
	if text == "" {
		return nil
	}
	require.True(t, strings.HasSuffix(text, "\n"))
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
