// Package redistest gives tests a real Redis, or Valkey, and each of them keys of its own.
package redistest

import (
	"context"
	"crypto/rand"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"catalogue/internal/testenv"
)

// Variable names the environment variable with the URL of the server to test on.
const Variable = "CATALOGUE_TEST_REDIS_URL"

const (
	startTimeout = 3 * time.Minute // of a container, its image's download included
	cleanTimeout = 10 * time.Second
	defaultPort  = "6379"
)

// Main runs the tests of a package, as testenv.Main does. Use it as
//
//	func TestMain(m *testing.M) { os.Exit(redistest.Main(m)) }
func Main(m *testing.M) int { return testenv.Main(m, Server()) }

// Server is the server of the tests, for the TestMain of a package that needs other servers as well.
func Server() testenv.Server { return &shared }

// URL returns the address of the server to test on: the one that the environment names, or else that of a container
// which is started once for the process. The test fails where there is neither.
func URL(t testing.TB) string {
	t.Helper()
	address, err := shared.address()
	if err != nil {
		t.Fatalf("there is no Redis to test on: %v", err)
	}
	return address
}

// Prefix makes a beginning for keys that no other test has. Keys that begin so are deleted after the test.
func Prefix(t testing.TB) string {
	t.Helper()
	prefix := "catalogue-test:" + rand.Text() + ":"
	client := Client(t)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), cleanTimeout)
		defer cancel()
		keys := client.Scan(ctx, 0, prefix+"*", 1000).Iterator()
		for keys.Next(ctx) {
			require.NoError(t, client.Del(ctx, keys.Val()).Err())
		}
		require.NoError(t, keys.Err(), "delete the test's keys")
	})
	return prefix
}

// Client makes a client that ends with the test, for looking at keys and planting some.
func Client(t testing.TB) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(URL(t))
	require.NoError(t, err)
	options.Protocol = 2
	client := redis.NewClient(options)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

// NewProxy starts a proxy on 127.0.0.1 in front of the test server and returns the URL that leads through it. It ends
// with the test.
func NewProxy(t testing.TB) (string, *testenv.Proxy) {
	t.Helper()
	address, err := url.Parse(URL(t))
	require.NoError(t, err)
	require.Equal(t, "redis", address.Scheme, "the proxy passes bytes and has no certificate for another name")
	port := address.Port()
	if port == "" {
		port = defaultPort
	}
	proxy := testenv.NewProxy(t, net.JoinHostPort(address.Hostname(), port))
	address.Host = proxy.Addr()
	return address.String(), proxy
}
