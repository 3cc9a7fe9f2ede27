package mongodb_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/mongodb"
	"catalogue/internal/mongotest"
)

func TestMain(m *testing.M) { os.Exit(mongotest.Main(m)) }

func TestConnectAnswersOrFails(t *testing.T) {
	t.Parallel()
	client, err := mongodb.Connect(t.Context(), mongodb.Options{URI: mongotest.URI(t), Database: mongotest.Name()})
	require.NoError(t, err)
	require.NoError(t, client.Ping(t.Context()))
	require.NoError(t, client.Disconnect(t.Context()))

	_, err = mongodb.Connect(t.Context(), mongodb.Options{
		URI: closedPort(t), Database: mongotest.Name(), ServerSelectionTimeout: 100 * time.Millisecond,
	})
	requireCode(t, "database_unavailable", err)
}

func TestOpenRefusesWrongOptionsWithoutTheirSecrets(t *testing.T) {
	t.Parallel()
	for _, o := range []mongodb.Options{
		{URI: "mongodb://localhost"},
		{URI: "", Database: "x"},
		{URI: "http://localhost", Database: "x"},
		{URI: "mongodb://user:s3cr3t@x:notaport/", Database: "x"},
		{URI: "mongodb://user:s3cr3t/y@host/", Database: "x"},
		{URI: "mongodb://localhost/?maxPoolSize=many", Database: "x"},
	} {
		_, err := mongodb.Open(o)
		require.Error(t, err, o.URI)
		require.NotContains(t, err.Error(), "s3cr3t")
	}
}

func TestDisconnectEndsWhileAnOperationHolds(t *testing.T) {
	t.Parallel()
	uri, proxy := mongotest.NewProxy(t)
	client, err := mongodb.Connect(t.Context(), mongodb.Options{URI: uri, Database: mongotest.Name()})
	require.NoError(t, err)
	proxy.Stall()
	held := make(chan error, 1)
	go func() { held <- client.Ping(context.Background()) }()

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	begin := time.Now()
	_ = client.Disconnect(gone) // may report that it did not wait
	require.Less(t, time.Since(begin), 10*time.Second)
	require.Error(t, <-held)
}

// What is stored decodes the same on every machine: in UTC, by the names in bson tags, with fractions kept.
func TestStoredDataDecodesPredictably(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), mongotest.Database(t)
	things := db.Collection("things")
	_, err := things.InsertOne(ctx, bson.D{
		{Key: "at", Value: bson.DateTime(1_700_000_000_123)},
		{Key: "n", Value: 1.5},
		{Key: "jsonname", Value: "x"},
		{Key: "inner", Value: bson.D{{Key: "b", Value: 1}, {Key: "a", Value: 2}}},
	})
	require.NoError(t, err)

	var row struct {
		At    time.Time
		Inner any
		Other string `json:"jsonname"`
	}
	require.NoError(t, things.FindOne(ctx, bson.D{}).Decode(&row))
	require.Equal(t, "2023-11-14T22:13:20.123Z", row.At.Format(time.RFC3339Nano))
	require.IsType(t, bson.D{}, row.Inner)
	require.Empty(t, row.Other)

	var whole struct{ N int64 }
	require.Error(t, things.FindOne(ctx, bson.D{}).Decode(&whole), "1.5 is no integer")
}
