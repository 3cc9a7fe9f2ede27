package follower_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	follower "catalogue/feed/sync"
)

// The ways in which an answer goes wrong and may go well another time.
func faults(hang time.Duration) []func(w http.ResponseWriter, r *http.Request) {
	status := func(code int) func(w http.ResponseWriter, _ *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	return []func(w http.ResponseWriter, r *http.Request){
		status(500), status(502), status(503), status(504), status(408),
		func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, // no byte of an answer
		func(w http.ResponseWriter, _ *http.Request) { // an answer that ends in its middle
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte(`{"data": [{"id": "id00001", "dateMod`))
			panic(http.ErrAbortHandler)
		},
		func(_ http.ResponseWriter, r *http.Request) { // none at all
			select {
			case <-time.After(hang):
			case <-r.Context().Done():
			}
			panic(http.ErrAbortHandler)
		},
	}
}

func TestFailuresAreRepeated(t *testing.T) {
	t.Parallel()
	f := newTestFeed(t, 60)
	kinds := faults(10 * time.Second)
	var met atomic.Int64
	f.onMeet(func(number int, w http.ResponseWriter, r *http.Request) bool {
		if number%2 == 0 {
			return false
		}
		kinds[int(met.Add(1))%len(kinds)](w, r)
		return true
	})
	f.onReply(func(number int, _ *http.Request) {
		if number < 100 {
			f.save(fmt.Sprintf("id%05d", rand.IntN(80)), fmt.Sprint("change ", number))
		}
	})
	dir := t.TempDir()
	o := options(f.url, dir)
	o.Timeout = 100 * time.Millisecond
	var notes atomic.Int64
	o.Note = func(string) { notes.Add(1) }
	followOnce(t, t.Context(), o)
	f.onReply(nil)
	require.True(t, verify(t, o).Equal())
	requireEqualCopy(t, f, dir)
	require.Greater(t, met.Load(), int64(2*len(kinds)), "each kind was met")
	require.Positive(t, notes.Load())
}

func TestRetryAfterIsObeyed(t *testing.T) {
	t.Parallel()
	for _, status := range []int{429, 503} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			t.Parallel()
			f := newTestFeed(t, 3)
			var refused, again time.Time
			f.onMeet(func(number int, w http.ResponseWriter, _ *http.Request) bool {
				switch number {
				case 1:
					refused = time.Now()
					w.Header().Set("Retry-After", "1")
					w.WriteHeader(status)
					return true
				case 2:
					again = time.Now()
				}
				return false
			})
			dir := t.TempDir()
			o := options(f.url, dir)
			o.GiveUp = time.Minute
			var notes []string
			o.Note = func(text string) { notes = append(notes, text) }
			followOnce(t, t.Context(), o)
			requireEqualCopy(t, f, dir)
			require.GreaterOrEqual(t, again.Sub(refused), time.Second)
			require.Len(t, notes, 1)
			require.Contains(t, notes[0], strconv.Itoa(status))
			require.Contains(t, notes[0], "in 1s")
		})
	}
}

func TestARateLimitIsNoFailureToGiveUpFor(t *testing.T) {
	t.Parallel()
	f := newTestFeed(t, 3)
	f.onMeet(func(number int, w http.ResponseWriter, _ *http.Request) bool {
		if number > 2 {
			return false
		}
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	})
	dir := t.TempDir()
	o := options(f.url, dir)
	o.GiveUp = time.Millisecond
	followOnce(t, t.Context(), o)
	requireEqualCopy(t, f, dir)
}

func TestWhatNoOtherTryWouldChange(t *testing.T) {
	t.Parallel()
	answer := func(status int, body string) func(int, http.ResponseWriter, *http.Request) bool {
		return func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
			return true
		}
	}
	const link = `{"offset": "at 5+"}`
	for name, c := range map[string]struct {
		meet func(int, http.ResponseWriter, *http.Request) bool
		want string
	}{
		"no such feed":       {answer(404, "nothing here"), "404: nothing here"},
		"no transactions":    {answer(501, "this engine"), "501: this engine"},
		"another program":    {answer(200, "<html>"), "does not answer as a feed"},
		"no data":            {answer(200, `{"data": null}`), "there is no data"},
		"no next offset":     {answer(200, `{"data": [{"id": "a", "dateModified": "2026-01-01T00:00:00Z"}]}`), "no next_page.offset"},
		"no previous offset": {answer(200, `{"data": [], "next_page": `+link+`}`), "no prev_page.offset"},
		"an offset of null":  {answer(200, `{"data": [], "prev_page": {"offset": null}}`), "no prev_page.offset"},
		"no id":              {answer(200, `{"data": [{"dateModified": "x"}], "next_page": `+link+`}`), "has no id"},
		"no time":            {answer(200, `{"data": [{"id": "a", "dateModified": "x"}], "next_page": `+link+`}`), "entry a has neither"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newTestFeed(t, 0)
			f.onMeet(c.meet)
			copied := open(t, options(f.url, t.TempDir()))
			require.ErrorContains(t, copied.Follow(t.Context()), c.want)
			require.NoError(t, copied.Close())
			require.Len(t, f.asked(), 1)
		})
	}
}

func TestAFeedThatDoesNotMoveOn(t *testing.T) {
	t.Parallel()
	f := newTestFeed(t, 0)
	f.onMeet(func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		_, _ = w.Write([]byte(`{"data": [{"id": "a", "dateModified": "2026-01-01T00:00:00Z"}],
			"next_page": {"offset": "same"}, "prev_page": {"offset": "same"}}`))
		return true
	})
	o := options(f.url, t.TempDir())
	o.Limit = 1
	copied := open(t, o)
	require.ErrorContains(t, copied.Follow(t.Context()), "does not move on")
	require.NoError(t, copied.Close())
}

func TestItGivesUpWhenItShould(t *testing.T) {
	t.Parallel()
	f := newTestFeed(t, 0)
	f.onMeet(func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	o := options(f.url, t.TempDir())
	o.GiveUp = 20 * time.Millisecond
	copied := open(t, o)
	require.ErrorContains(t, copied.Follow(t.Context()), "given up after 20ms: /api/v1/creatives: 503: Service Unavailable")
	require.NoError(t, copied.Close())
}

func TestAStopEndsThePause(t *testing.T) {
	t.Parallel()
	f := newTestFeed(t, 0)
	f.onMeet(func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Retry-After", "86400")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	})
	ctx, stop := context.WithCancel(t.Context())
	o := options(f.url, t.TempDir())
	o.Note = func(string) { stop() }
	copied := open(t, o)
	require.ErrorIs(t, copied.Follow(ctx), context.Canceled)
	require.NoError(t, copied.Close())
}

func TestARefusedOffsetNeedsARestart(t *testing.T) {
	t.Parallel()
	for _, direction := range []string{"descending=&", "descending=1"} {
		t.Run(direction, func(t *testing.T) {
			t.Parallel()
			f := newTestFeed(t, 20)
			f.onMeet(func(number int, w http.ResponseWriter, r *http.Request) bool {
				if number == 1 || !strings.Contains(r.URL.RawQuery, direction) {
					return false
				}
				w.WriteHeader(http.StatusNotFound)
				return true
			})
			dir := t.TempDir()
			o := options(f.url, dir)
			copied := open(t, o)
			require.ErrorIs(t, copied.Follow(t.Context()), follower.ErrOffset)
			require.NoError(t, copied.Close())

			f.onMeet(nil)
			f.remove("id00019") // it is in the copy, and must not stay there
			o.Restart = true
			followOnce(t, t.Context(), o)
			requireEqualCopy(t, f, dir)
		})
	}
}
