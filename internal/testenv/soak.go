package testenv

import (
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// soakVariable asks for the long runs of property tests; its value may be a number of draws.
const soakVariable = "CATALOGUE_SOAK"

// Draws is how many examples a property test draws: few in everyday runs, many in a soak.
func Draws(t testing.TB, everyday, soak int) int {
	t.Helper()
	switch v := os.Getenv(soakVariable); v {
	case "":
		return everyday
	case "1":
		return soak
	default:
		n, err := strconv.Atoi(v)
		require.NoError(t, err, "%s is 1 or a number of draws", soakVariable)
		return n
	}
}
