package follower_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	follower "catalogue/feed/sync"
)

func TestACopyOfAQuietFeed(t *testing.T) {
	t.Parallel()
	f := newTestFeed(t, 103)
	dir := t.TempDir()
	followOnce(t, t.Context(), options(f.url, dir))
	requireEqualCopy(t, f, dir)

	asked := f.asked()
	first, err := url.Parse(asked[0])
	require.NoError(t, err)
	require.Equal(t, url.Values{
		"descending": {"1"}, "offset": {""}, "mode": {""}, "limit": {"5"}, "opt_fields": {"public_modified,text"},
	}, first.Query())
	var forward, backward int
	for _, request := range asked[1:] {
		require.NotContains(t, request, "nowhere", "links are not used")
		if strings.Contains(request, "descending=1") {
			backward++
		} else {
			forward++
		}
	}
	require.Equal(t, 21, backward, "98 rows in pages of 5, and the page without rows")
	require.Positive(t, forward)
}

func TestAnEmptyFeedAndWhatComesLater(t *testing.T) {
	t.Parallel()
	f := newTestFeed(t, 0)
	dir := t.TempDir()
	followOnce(t, t.Context(), options(f.url, dir))
	requireEqualCopy(t, f, dir)
	for i := range 12 {
		f.save(fmt.Sprint("new", i), "later")
	}
	followOnce(t, t.Context(), options(f.url, dir))
	requireEqualCopy(t, f, dir)
}

func TestBothWalksRunAtOnce(t *testing.T) {
	t.Parallel()
	f := newTestFeed(t, 20)
	forward := make(chan struct{})
	var once sync.Once
	f.onReply(func(number int, r *http.Request) {
		if r.URL.Query().Get("descending") == "" {
			once.Do(func() { close(forward) })
		} else if number > 1 {
			<-forward // the backward walk gets nothing before the forward walk has begun
		}
	})
	dir := t.TempDir()
	followOnce(t, t.Context(), options(f.url, dir))
	requireEqualCopy(t, f, dir)
}

func TestAnOlderStateNeverReplacesANewerOne(t *testing.T) {
	t.Parallel()
	f := newTestFeed(t, 20)
	shown := make(chan struct{})
	var once sync.Once
	f.onReply(func(number int, r *http.Request) {
		query := r.URL.Query()
		switch {
		case number == 1:
		case query.Get("descending") != "":
			// the page of id00014 to id00010 is read; before it is sent, one of them changes and is shown
			once.Do(func() { f.save("id00012", "second") })
			<-shown
		default:
			if lastChange := printOffset(firstMoment + 21); query.Get("offset") == lastChange {
				select { // the forward walk asks for what is behind the change: it has it
				case <-shown:
				default:
					close(shown)
				}
			}
		}
	})
	dir := t.TempDir()
	followOnce(t, t.Context(), options(f.url, dir))
	requireEqualCopy(t, f, dir)
	require.Contains(t, strings.Join(copyLines(t, dir), "\n"), "second")
}

func TestOnceLooksForwardAgainWhenTheBackwardWalkHasEnded(t *testing.T) {
	t.Parallel()
	f := newTestFeed(t, 20)
	caughtUp := make(chan struct{})
	var once, change sync.Once
	f.onReply(func(number int, r *http.Request) {
		if r.URL.Query().Get("descending") == "" {
			once.Do(func() { close(caughtUp) }) // nothing has changed yet: this page is empty
			return
		}
		if number > 1 {
			<-caughtUp
			change.Do(func() { f.save("id00001", "moved out of the backward walk's way") })
		}
	})
	dir := t.TempDir()
	o := options(f.url, dir)
	o.Interval = 1 << 40 // the end of the backward walk is what ends the sleep
	followOnce(t, t.Context(), o)
	requireEqualCopy(t, f, dir)
}

func TestAnyChangesDuringTheWalks(t *testing.T) {
	t.Parallel()
	folder, cases := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		cases++
		dir := filepath.Join(folder, strconv.Itoa(cases))
		f := newTestFeed(t, rapid.IntRange(0, 60).Draw(t, "objects"))
		steps := rapid.SliceOfN(rapid.IntRange(0, 79), 0, 80).Draw(t, "changed with each request")
		f.onReply(func(number int, _ *http.Request) {
			if number <= len(steps) {
				f.save(fmt.Sprintf("id%05d", steps[number-1]), fmt.Sprint("change ", number))
			}
		})
		o := options(f.url, dir)
		o.Limit = rapid.IntRange(1, 7).Draw(t, "limit")
		followOnce(t, context.Background(), o)
		f.onReply(nil)
		followOnce(t, context.Background(), o) // the last changes may have come after the last page
		requireEqualCopy(t, f, dir)
	})
}

func TestFollowingGoesOnUntilItIsStopped(t *testing.T) {
	t.Parallel()
	f := newTestFeed(t, 30)
	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	caughtUp := make(chan int, 1000)
	o := options(f.url, dir)
	o.Progress = func(p follower.Progress) {
		if p.CaughtUp {
			select {
			case caughtUp <- p.Entries:
			default:
			}
		}
	}
	copied := open(t, o)
	ended := make(chan error, 1)
	go func() { ended <- copied.Follow(ctx) }()
	await(caughtUp, 30)
	f.save("another", "first")
	await(caughtUp, 31)
	stop()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Equal(t, 31, copied.Entries())
	require.NoError(t, copied.Close())
	requireEqualCopy(t, f, dir)
}

// await returns when a number as large was sent.
func await(numbers <-chan int, least int) {
	for number := range numbers {
		if number >= least {
			return
		}
	}
}

func TestTheCopyIsCompacted(t *testing.T) {
	t.Parallel()
	f := newTestFeed(t, 10)
	dir := t.TempDir()
	var mu sync.Mutex // the two walks' requests come at once
	most := 0
	f.onReply(func(number int, _ *http.Request) {
		if number > 5 && number < 1000 {
			f.save(fmt.Sprintf("id%05d", number%10), fmt.Sprint("change ", number))
			mu.Lock()
			defer mu.Unlock()
			most = max(most, len(copyLines(t, dir)))
		}
	})
	o := options(f.url, dir)
	o.Limit = 1 // each change is a full page: the walk does not end before they do
	followOnce(t, t.Context(), o)
	requireEqualCopy(t, f, dir)
	require.Greater(t, most, 100)
	require.Less(t, most, 130, "lines that do not count are at most a hundred, and a page of them")
}
