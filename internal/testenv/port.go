package testenv

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// The ports that Port chooses from. Linux, macOS and Windows give none of them to a program that asks for any port.
const (
	lowestPort  = 10_000
	highestPort = 32_000
	portTries   = 100
)

// Port finds a port of 127.0.0.1 that nobody uses. Other tests open connections and servers all the time; none of them
// gets it by chance while the server that has it is killed and started again.
func Port(t testing.TB) string {
	t.Helper()
	for range portTries {
		port := strconv.Itoa(lowestPort + rand.N(highestPort-lowestPort)) //nolint:gosec // no secret
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", port))
		if err == nil {
			require.NoError(t, listener.Close())
			return port
		}
	}
	require.FailNow(t, "no port is free", "of %d tried from %d to %d", portTries, lowestPort, highestPort)
	return ""
}
