package mongodb_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/sync/errgroup"

	"catalogue/internal/mongodb"
	"catalogue/internal/mongotest"
	"catalogue/internal/problem"
)

func TestProbe(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	for range 2 { // where its collections are new, and where they are not
		got, err := mongodb.Probe(t.Context(), db)
		require.NoError(t, err)
		has, lacks := got.Describe()
		t.Logf("can %q, cannot %q", has, lacks)
		if os.Getenv(mongotest.SkipVariable) == "" {
			require.Empty(t, lacks)
		}
	}
	for _, name := range []string{"capability_probe", mongodb.ProbeIndexes} {
		require.Empty(t, mongotest.Everything(t, db.Collection(name), bson.D{}))
	}
}

// Servers that start at the same time make the same collections and indexes.
func TestProbesAtOnceAgree(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	var got [8]mongodb.Capabilities
	var group errgroup.Group
	for i := range got {
		group.Go(func() (err error) {
			got[i], err = mongodb.Probe(t.Context(), db)
			return err
		})
	}
	require.NoError(t, group.Wait())
	alone, err := mongodb.Probe(t.Context(), db)
	require.NoError(t, err)
	for _, can := range got {
		require.Equal(t, alone, can)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	has, lacks := mongodb.Capabilities{Transactions: true, NowInFind: true}.Describe()
	require.Equal(t, []string{"transactions", "$$NOW in a find"}, has)
	require.Equal(t, []string{"hidden indexes", "statistics in explain"}, lacks)
}

// A server that cannot be reached has shown nothing.
func TestProbeOfAServerThatIsAway(t *testing.T) {
	t.Parallel()
	client, err := mongodb.Open(mongodb.Options{
		URI: "mongodb://127.0.0.1:1/?directConnection=true", Database: mongotest.Name(), ServerSelectionTimeout: 50 * time.Millisecond,
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, client.Disconnect(t.Context())) }()
	_, err = mongodb.Probe(t.Context(), client.Database())
	require.Equal(t, problem.DatabaseUnavailable, problem.Of(err).Code)
}

func TestServerTime(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	first, err := mongodb.ServerTime(t.Context(), db)
	require.NoError(t, err)
	var row struct {
		At time.Time `bson:"at"`
	}
	_, err = db.Collection("x").UpdateOne(t.Context(), bson.D{{Key: "_id", Value: 1}},
		bson.A{bson.D{{Key: "$set", Value: bson.D{{Key: "at", Value: "$$NOW"}}}}}, options.UpdateOne().SetUpsert(true))
	require.NoError(t, err)
	require.NoError(t, db.Collection("x").FindOne(t.Context(), bson.D{}).Decode(&row))
	second, err := mongodb.ServerTime(t.Context(), db)
	require.NoError(t, err)
	require.False(t, row.At.Before(first), "it is the clock of $$NOW")
	require.False(t, second.Before(row.At))
}
