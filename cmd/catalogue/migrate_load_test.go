package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"catalogue/indexes"
	"catalogue/internal/mongotest"
	"catalogue/internal/seeding"
)

// call sends a request as the user ann. It may run beside the test, and fails where the answer is an error.
func (a *api) call(ctx context.Context, method, target, body string) (http.Header, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, a.url+target, strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("X-Catalogue-User", "ann")
	request.Header.Set("If-Match", "*")
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := a.client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	read, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s %s: %d %s", method, target, response.StatusCode, read)
	}
	return response.Header, read, err
}

// walkWhile is walk for goroutines beside the test. each is told of every row and may end the walk.
func (a *api) walkWhile(ctx context.Context, path, sort string, limit int, each func(id string) bool) error {
	query := url.Values{"sort": {sort}, "limit": {strconv.Itoa(limit)}}
	for {
		_, body, err := a.call(ctx, http.MethodGet, path+"?"+query.Encode(), "")
		if err != nil {
			return err
		}
		var p page
		if err := json.Unmarshal(body, &p); err != nil {
			return err
		}
		for _, raw := range p.Data {
			var row struct {
				ID string `json:"id"`
			}
			if err := json.Unmarshal(raw, &row); err != nil {
				return err
			}
			if !each(row.ID) {
				return nil
			}
		}
		if p.Meta.NextCursor == nil {
			return nil
		}
		query.Set("cursor", *p.Meta.NextCursor)
	}
}

// background is work beside a test. It is not cut off, but asked to end.
type background struct {
	group sync.WaitGroup

	mu     sync.Mutex
	ended  bool
	failed error
	rounds int
}

func inBackground(t *testing.T) *background {
	t.Helper()
	b := &background{}
	t.Cleanup(b.wait)
	return b
}

// repeat runs work again and again, until it fails or the end.
func (b *background) repeat(ctx context.Context, work func(ctx context.Context) error) {
	b.group.Go(func() {
		for b.count(work(ctx)) {
		}
	})
}

// count counts a round, and reports whether there is another.
func (b *background) count(err error) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed = errors.Join(b.failed, err)
	b.rounds++
	return err == nil && !b.ended
}

// wait asks the work to end, and waits for it.
func (b *background) wait() {
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
	b.group.Wait()
}

// state is how often work was done, and what has failed.
func (b *background) state() (rounds int, failed error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rounds, b.failed
}

// awaitRounds waits until work has been done some more times.
func (b *background) awaitRounds(t *testing.T, more int) {
	t.Helper()
	before, _ := b.state()
	require.Eventually(t, func() bool {
		rounds, failed := b.state()
		return failed != nil || rounds >= before+more
	}, 2*patience, time.Millisecond)
}

// stop ends the work and requires that it has done something and nothing has failed.
func (b *background) stop(t *testing.T) int {
	t.Helper()
	b.wait()
	rounds, failed := b.state()
	require.NoError(t, failed)
	require.Positive(t, rounds)
	return rounds
}

// A version that serves goes on while its indexes are hidden, brought back, dropped and built anew.
func TestRetiringAndBuildingUnderLoadFailsNoRead(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.HiddenIndexes, mongotest.SchemaTitles, mongotest.Transactions)
	d := newDeployment(t)
	seed(t, d.db, seeding.Options{Creatives: 300, Seed: 5})
	d.up(t)
	a := serveAsIs(t, d.db, 30*time.Second)

	walks := inBackground(t)
	for _, sort := range []string{"name", "-created_at", "metrics.spend", "-metrics.spend"} {
		want := a.walk(t, "/creatives", sort, 40, 20)
		require.Len(t, want, 300)
		walks.repeat(t.Context(), func(ctx context.Context) error {
			var got []string
			err := a.walkWhile(ctx, "/creatives", sort, 40, func(id string) bool { got = append(got, id); return true })
			if err == nil && !slices.Equal(want, got) {
				err = fmt.Errorf("%s: %d rows, other ones or in another order", sort, len(got))
			}
			return err
		})
	}
	feeds := inBackground(t)
	feeds.repeat(t.Context(), func(ctx context.Context) error {
		_, _, err := a.call(ctx, http.MethodGet, "/api/v1/creatives?limit=50", "")
		return err
	})

	// The version that comes needs no index of creatives.
	other := slices.DeleteFunc(declaredIndexes(), func(i indexes.Index) bool { return i.Collection == "creatives" })
	for round := range 3 {
		walks.awaitRounds(t, 2)
		repeats := a.state.Repeats()
		retired, err := indexes.Retire(t.Context(), d.db, other, indexes.RetireOptions{})
		require.NoError(t, err)
		require.Len(t, retired.Retired, len(declaredIndexes())-len(other))
		walks.awaitRounds(t, 4)
		require.Greater(t, a.state.Repeats(), repeats, "reads met hidden indexes")
		if round == 1 {
			pruned, err := indexes.Prune(t.Context(), d.db, other, 0, nil)
			require.NoError(t, err)
			require.Len(t, pruned, len(retired.Retired))
		}
		d.up(t) // a rollback
		require.NoError(t, a.state.Look(t.Context()))
		require.NoError(t, a.state.Unready())
	}
	walks.stop(t)
	feeds.stop(t)
	d.requireDeclared(t)
}
