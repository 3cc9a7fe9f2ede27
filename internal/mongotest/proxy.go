package mongotest

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"catalogue/internal/testenv"
)

// Proxy is a TCP proxy in front of the test server, for tests of outages.
type Proxy = testenv.Proxy

// NewProxy starts a proxy on 127.0.0.1 in front of the test server and returns the URI that leads through it. It
// ends with the test.
func NewProxy(t testing.TB) (string, *Proxy) {
	t.Helper()
	uri, err := url.Parse(URI(t))
	require.NoError(t, err)
	require.Equal(t, "mongodb", uri.Scheme, "the proxy needs an address, not a DNS seed list")

	p := testenv.NewProxy(t, firstHost(uri.Host))
	uri.Host = p.Addr()
	query := uri.Query()
	query.Set("directConnection", "true") // otherwise the driver would go on to the addresses that the server tells
	uri.RawQuery = query.Encode()
	if uri.Path == "" {
		uri.Path = "/"
	}
	return uri.String(), p
}
