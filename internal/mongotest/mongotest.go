// Package mongotest gives each test a database of its own on a real server.
package mongotest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.uber.org/goleak"

	"catalogue/internal/testenv"
)

// Variable names the environment variable with the URI of the server to test on.
const Variable = "CATALOGUE_TEST_MONGODB_URI"

const (
	startTimeout = 3 * time.Minute // of a container, its image's download included
	dropTimeout  = 30 * time.Second
)

// Main runs the tests of a package, closes what they shared and looks for goroutines left behind. Use it as
//
//	func TestMain(m *testing.M) { os.Exit(mongotest.Main(m)) }
func Main(m *testing.M, options ...goleak.Option) int { return testenv.MainWith(m, options, Server()) }

// Server is the server of the tests, for the TestMain of a package that needs other servers as well.
func Server() testenv.Server { return &shared }

// URI returns the address of the server to test on: the one that the environment names, or else a container that is
// started once for the process. The test fails where there is neither.
func URI(t testing.TB) string {
	t.Helper()
	uri, err := shared.address()
	if err != nil {
		t.Fatalf("there is no MongoDB to test on: %v", err)
	}
	return uri
}

// Database makes a fresh database that is dropped after the test. Its client is shared by the tests of a package.
func Database(t testing.TB) *mongo.Database {
	t.Helper()
	uri := URI(t)
	client, err := shared.connect(uri)
	require.NoError(t, err)
	db := client.Client().Database(Name())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), dropTimeout)
		defer cancel()
		require.NoError(t, db.Drop(ctx), "drop the test's database")
	})
	return db
}

// Name makes a name for a database that no other test has.
func Name() string {
	b := make([]byte, 10)
	_, _ = rand.Read(b) // never fails, by its documentation
	return "catalogue_test_" + hex.EncodeToString(b)
}

func firstHost(hosts string) string {
	host, _, _ := strings.Cut(hosts, ",")
	if !strings.Contains(host, ":") {
		host += ":27017"
	}
	return host
}
