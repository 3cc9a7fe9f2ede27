package follower_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFollowersThatAreKilled kills a process at moments by chance, while objects change and go, and expects the next one
// to go on.
func TestFollowersThatAreKilled(t *testing.T) {
	t.Parallel()
	t.Run("amid pages", func(t *testing.T) {
		t.Parallel()
		surviveKills(t, childAgain+"=", 3*time.Millisecond)
	})
	t.Run("amid compactions", func(t *testing.T) {
		t.Parallel()
		surviveKills(t, childAgain+"=yes", 30*time.Millisecond)
	})
}

// surviveKills kills within a span of time behind a request.
func surviveKills(t *testing.T, environ string, span time.Duration) {
	t.Helper()
	const kills = 30
	f := newTestFeed(t, 400)
	removed := map[string]bool{}
	var mu sync.Mutex
	var asked atomic.Int64
	f.onReply(func(number int, _ *http.Request) {
		asked.Add(1)
		mu.Lock()
		defer mu.Unlock()
		id := fmt.Sprintf("id%05d", rand.IntN(400))
		switch {
		case removed[id]:
		case number%20 == 0:
			removed[id] = true
			f.remove(id)
		default:
			f.save(id, fmt.Sprint("change ", number))
		}
	})
	dir := t.TempDir()
	for range kills {
		killAfter(t, f.url, dir, environ, &asked, rand.Int64N(40)+1, span)
	}
	starts := 0
	for _, request := range f.asked() {
		if strings.Contains(request, "descending=1") && strings.Contains(request, "offset=&") {
			starts++
		}
	}
	require.Less(t, starts, kills/2, "they went on, and did not start anew each time")

	f.onReply(nil)
	o := options(f.url, dir)
	followOnce(t, t.Context(), o)
	report := verify(t, o)
	require.True(t, report.Equal())
	require.Zero(t, report.Added, "no page was lost")
	require.Zero(t, report.Refreshed)
	for _, id := range report.Gone {
		require.True(t, removed[id], id)
	}
	requireEqualCopy(t, f, dir)
}

// killAfter starts a follower and kills it within span after its n-th request.
func killAfter(t *testing.T, url, dir, environ string, asked *atomic.Int64, n int64, span time.Duration) {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	child := exec.CommandContext(t.Context(), binary)
	child.Env = append(os.Environ(), childURL+"="+url, childDir+"="+dir, environ)
	var stderr strings.Builder
	child.Stderr = &stderr
	before := asked.Load()
	require.NoError(t, child.Start())
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	deadline := time.After(30 * time.Second)
	for asked.Load() < before+n {
		select {
		case err := <-ended:
			require.Fail(t, "the follower ended by itself", "%v: %s", err, stderr.String())
		case <-deadline:
			require.Fail(t, "the follower does not ask")
		case <-time.After(100 * time.Microsecond):
		}
	}
	<-time.After(rand.N(span)) // anywhere between two requests
	require.NoError(t, child.Process.Kill())
	require.ErrorContains(t, <-ended, "signal: killed", stderr.String())
}
