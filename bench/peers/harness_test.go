package peers_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"catalogue/bench/peers"
	"catalogue/bench/peers/mixmax"
	"catalogue/bench/peers/mixmax/mixmaxtest"
	"catalogue/internal/mongotest"
	"catalogue/pagination"
)

func TestMain(m *testing.M) { os.Exit(mongotest.Main(m)) }

func keyring(t testing.TB) pagination.Keyring {
	t.Helper()
	keys, err := pagination.NewKeyring(strings.Repeat("k", pagination.MinKeyLength))
	require.NoError(t, err)
	return keys
}

// node starts the server of mongo-cursor-pagination.
func node(t testing.TB) *mixmax.Server {
	t.Helper()
	server, err := mixmax.Start(context.WithoutCancel(t.Context()), mixmaxtest.Installed(t), mongotest.URI(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	return server
}

// walk has one peer walk the case of that name.
func walk(t testing.TB, name string, peer func(peers.List) peers.Peer) peers.Result {
	t.Helper()
	trial := peers.NewTrial(mongotest.Database(t), func(l peers.List) []peers.Peer { return []peers.Peer{peer(l)} })
	for i, c := range peers.Cases() {
		if c.Name != name {
			continue
		}
		results, err := trial.Walk(t.Context(), i, c)
		require.NoError(t, err)
		require.Len(t, results, 1)
		return results[0]
	}
	require.FailNow(t, "there is no such case", name)
	return peers.Result{}
}
