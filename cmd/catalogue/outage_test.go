package main

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"catalogue/internal/mongodb"
	"catalogue/internal/mongotest"
	"catalogue/internal/seeding"
)

func TestTheDatabaseGoesAwayInMidWalkAndComesBack(t *testing.T) {
	t.Parallel()
	const deadline = 2 * time.Second
	uri, proxy := mongotest.NewProxy(t)
	direct := mongotest.Database(t)
	seed(t, direct, seeding.Options{Creatives: 60, Seed: 1})
	client, err := mongodb.Connect(t.Context(), mongodb.Options{URI: uri, Database: direct.Name()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Disconnect(t.Context()) })
	a := serveAsIs(t, client.Database(), deadline)
	want := a.walk(t, "/creatives", "-metrics.spend", 20, 3)

	for name, away := range map[string]func(){"cut": proxy.Cut, "silent": proxy.Stall} {
		first := a.page(t, "/creatives?sort=-metrics.spend&limit=20")
		next := "/creatives?sort=-metrics.spend&limit=20&cursor=" + url.QueryEscape(*first.Meta.NextCursor)

		away()
		for range 2 {
			began := time.Now()
			res := a.get(t, next)
			require.Less(t, time.Since(began), deadline, "%s: the answer comes inside the deadline", name)
			require.Equal(t, http.StatusServiceUnavailable, res.status, name)
			require.NotEmpty(t, res.header.Get("Retry-After"), name)
			require.Contains(t, []string{"database_unavailable", "query_timeout"}, res.problem(t).Code)
			require.NotContains(t, string(res.body), "127.0.0.1", "no cause leaks out")
		}
		require.Equal(t, http.StatusOK, a.get(t, "/healthz").status, "the process is up all the same")
		proxy.Restore()

		second := a.page(t, next)
		require.Equal(t, want[20:40], second.ids(t), "%s: the same cursor goes on", name)
	}
}
