// Package mixmaxtest brings the server of mongo-cursor-pagination to tests.
package mixmaxtest

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"catalogue/bench/peers/mixmax"
)

// Installed is the folder of the server. Tests that need it are skipped where there is no Node, as the benchmark leaves
// the peer out there.
func Installed(t testing.TB) string {
	t.Helper()
	cache, err := mixmax.Cache()
	require.NoError(t, err)
	folder, err := mixmax.Install(t.Context(), cache)
	if errors.Is(err, mixmax.ErrMissing) {
		t.Skip("needs node and npm, which this machine has not")
	}
	require.NoError(t, err)
	return folder
}
