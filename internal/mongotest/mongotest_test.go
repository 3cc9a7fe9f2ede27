package mongotest_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/mongodb"
	"catalogue/internal/mongotest"
)

func TestMain(m *testing.M) { os.Exit(mongotest.Main(m)) }

func TestEachTestHasAFreshDatabase(t *testing.T) {
	t.Parallel()
	a, b := mongotest.Database(t), mongotest.Database(t)

	require.NotEqual(t, a.Name(), b.Name())
	require.Regexp(t, `^catalogue_test_[0-9a-f]{20}$`, a.Name())
	_, err := a.Collection("things").InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}})
	require.NoError(t, err)
	n, err := b.Collection("things").CountDocuments(t.Context(), bson.D{})
	require.NoError(t, err)
	require.Zero(t, n)
}

func TestDatabaseIsDroppedAfterItsTest(t *testing.T) { //nolint:tparallel // the inner test has to end first
	t.Parallel()
	var name string
	t.Run("inner", func(t *testing.T) {
		db := mongotest.Database(t)
		name = db.Name()
		_, err := db.Collection("things").InsertOne(t.Context(), bson.D{})
		require.NoError(t, err)
	})

	left, err := mongotest.Database(t).Client().ListDatabaseNames(t.Context(), bson.D{})

	require.NoError(t, err)
	require.NotContains(t, left, name)
}

func TestProxy(t *testing.T) {
	t.Parallel()
	uri, proxy := mongotest.NewProxy(t)
	client, err := mongodb.Open(mongodb.Options{
		URI: uri, Database: mongotest.Name(), ServerSelectionTimeout: 300 * time.Millisecond,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Disconnect(context.Background())) })
	ping := func(timeout time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		return client.Ping(ctx)
	}

	require.Contains(t, uri, "directConnection=true")
	require.NoError(t, ping(5*time.Second))
	for _, outage := range []struct {
		name  string
		begin func()
	}{{"cut", proxy.Cut}, {"stall", proxy.Stall}} {
		outage.begin()
		require.Error(t, ping(500*time.Millisecond), outage.name)
		proxy.Restore()
		require.Eventually(t, func() bool { return ping(time.Second) == nil }, 15*time.Second, time.Millisecond, outage.name)
	}
}

func TestClientIsSharedByTheTestsOfAPackage(t *testing.T) {
	t.Parallel()
	clients := map[*mongo.Client]bool{}
	for range 3 {
		clients[mongotest.Database(t).Client()] = true
	}
	require.Len(t, clients, 1)
}
