package mongodb_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/mongodb"
	"catalogue/internal/mongotest"
	"catalogue/internal/problem"
)

func TestConvertWhereNothingListens(t *testing.T) {
	t.Parallel()
	for name, timeouts := range map[string]struct{ context, selection time.Duration }{
		"the context ends first":          {200 * time.Millisecond, 10 * time.Second},
		"the server's selection is first": {10 * time.Second, 200 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := open(t, mongodb.Options{URI: closedPort(t), ServerSelectionTimeout: timeouts.selection})
			ctx, cancel := context.WithTimeout(t.Context(), timeouts.context)
			defer cancel()
			err := find(ctx, client.Database(), nil)
			requireCode(t, problem.DatabaseUnavailable, mongodb.Convert(err))
			require.False(t, mongodb.IsTransient(err))
		})
	}
}

func TestConvertWhereTheConnectionIsCut(t *testing.T) {
	t.Parallel()
	uri, proxy := mongotest.NewProxy(t)
	sent, once := make(chan struct{}), new(sync.Once)
	client := open(t, mongodb.Options{URI: uri, Monitor: &event.CommandMonitor{
		Started: func(_ context.Context, e *event.CommandStartedEvent) {
			if e.CommandName == "find" {
				once.Do(func() { close(sent) })
			}
		},
	}})
	require.NoError(t, client.Ping(t.Context()))

	proxy.Stall()
	held := make(chan error, 1)
	go func() { held <- find(t.Context(), client.Database(), nil) }()
	<-sent
	proxy.Cut()
	broken := <-held
	requireCode(t, problem.DatabaseUnavailable, mongodb.Convert(broken))
	require.True(t, mongodb.IsTransient(broken), "a broken connection is worth one more try: %v", broken)

	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	requireCode(t, problem.DatabaseUnavailable, mongodb.Convert(find(ctx, client.Database(), nil)))

	proxy.Restore()
	require.Eventually(t, func() bool { return find(t.Context(), client.Database(), nil) == nil },
		15*time.Second, time.Millisecond)
}

func TestConvertWhereTheServerHangs(t *testing.T) {
	t.Parallel()
	uri, proxy := mongotest.NewProxy(t)
	client := open(t, mongodb.Options{URI: uri})
	require.NoError(t, client.Ping(t.Context()))

	proxy.Stall()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	err := find(ctx, client.Database(), nil)
	requireCode(t, problem.QueryTimeout, mongodb.Convert(err))
	require.False(t, mongodb.IsTransient(err))
}

// A host that accepts connections and says nothing was never reached: no answer of its has been seen.
func TestConvertWhereTheServerNeverSaidAWord(t *testing.T) {
	t.Parallel()
	uri, proxy := mongotest.NewProxy(t)
	proxy.Stall()
	client := open(t, mongodb.Options{URI: uri})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	requireCode(t, problem.DatabaseUnavailable, mongodb.Convert(find(ctx, client.Database(), nil)))
}

func TestConvertWhereThePoolIsFull(t *testing.T) {
	t.Parallel()
	uri, proxy := mongotest.NewProxy(t)
	client := open(t, mongodb.Options{URI: uri, MaxPoolSize: 1})
	require.NoError(t, client.Ping(t.Context()))
	proxy.Stall() // the one connection stays busy
	busy, release := context.WithCancel(t.Context())
	held := make(chan error, 1)
	go func() { held <- find(busy, client.Database(), nil) }()

	require.Eventually(t, func() bool { // the holder may not have the connection yet
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		err := mongodb.Convert(find(ctx, client.Database(), nil))
		return problem.Of(err).Code == problem.DatabaseUnavailable
	}, 5*time.Second, time.Millisecond)
	release()
	requireCode(t, problem.ClientClosedRequest, mongodb.Convert(<-held))
}

func TestConvertWhereTheServerKeepsTheDeadline(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	things := db.Collection("things")
	rows := make([]bson.D, 3000)
	for i := range rows {
		rows[i] = bson.D{{Key: "n", Value: i}}
	}
	_, err := things.InsertMany(t.Context(), rows)
	require.NoError(t, err)

	err = slow(t.Context(), db, 20)
	requireCode(t, problem.QueryTimeout, mongodb.Convert(err))
	require.False(t, mongodb.IsTransient(err))
}

// Reads are commands built by hand because the driver gives those the context's deadline as maxTimeMS, once, and its
// own Find it does not.
func TestTheDeadlineReachesTheServer(t *testing.T) {
	t.Parallel()
	sent := make(chan bson.Raw, 1)
	client := open(t, mongodb.Options{URI: mongotest.URI(t), Monitor: &event.CommandMonitor{
		Started: func(_ context.Context, e *event.CommandStartedEvent) {
			if e.CommandName == "find" {
				sent <- bytes.Clone(e.Command)
			}
		},
	}})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	require.NoError(t, find(ctx, client.Database(), nil))

	elements, err := (<-sent).Elements()
	require.NoError(t, err)
	var limits []int64
	for _, e := range elements {
		if e.Key() == "maxTimeMS" {
			limits = append(limits, e.Value().AsInt64())
		}
	}
	require.Len(t, limits, 1)
	require.InDelta(t, 5000, limits[0], 2000)
}

func TestConvertAfterDisconnect(t *testing.T) {
	t.Parallel()
	client, err := mongodb.Open(mongodb.Options{URI: mongotest.URI(t), Database: mongotest.Name()})
	require.NoError(t, err)
	require.NoError(t, client.Disconnect(t.Context()))
	requireCode(t, problem.DatabaseUnavailable, client.Ping(t.Context()))
}

func TestBadHintIsABadValue(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	things := db.Collection("things")
	_, err := things.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}})
	require.NoError(t, err)

	err = find(t.Context(), db, "no_such_index")
	require.True(t, mongodb.IsBadValue(err), "%v", err)
	require.False(t, mongodb.IsTransient(err))
	require.Equal(t, err, mongodb.Convert(err), "not for clients: it comes back unchanged")
}

func TestDuplicateKeyIsToldFromOtherErrors(t *testing.T) {
	t.Parallel()
	things := mongotest.Database(t).Collection("things")
	_, err := things.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}})
	require.NoError(t, err)
	_, err = things.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}})
	require.True(t, mongodb.IsDuplicateKey(err))
	require.False(t, mongodb.IsDuplicateKey(errors.New("another")))
}

// find reads as the lists do, by a command built by hand.
func find(ctx context.Context, db *mongo.Database, hint any) error {
	command := bson.D{{Key: "find", Value: "things"}, {Key: "filter", Value: bson.D{{Key: "n", Value: 1}}}}
	if hint != nil {
		command = append(command, bson.E{Key: "hint", Value: hint})
	}
	cursor, err := db.RunCommandCursor(ctx, command)
	if err != nil {
		return err
	}
	return cursor.Close(ctx)
}

// slow asks for more work than maxTimeMS allows: every pair of rows.
func slow(ctx context.Context, db *mongo.Database, maxTimeMS int) error {
	join := bson.D{{Key: "$lookup", Value: bson.D{
		{Key: "from", Value: "things"},
		{Key: "as", Value: "pairs"},
		{Key: "let", Value: bson.D{{Key: "n", Value: "$n"}}},
		{Key: "pipeline", Value: bson.A{bson.D{{Key: "$match", Value: bson.D{{Key: "$expr", Value: bson.D{
			{Key: "$lt", Value: bson.A{bson.D{{Key: "$mod", Value: bson.A{"$n", 7}}}, "$$n"}},
		}}}}}, bson.D{{Key: "$count", Value: "n"}}}},
	}}}
	_, err := db.RunCommandCursor(ctx, bson.D{
		{Key: "aggregate", Value: "things"},
		{Key: "pipeline", Value: bson.A{join}},
		{Key: "cursor", Value: bson.D{}},
		{Key: "maxTimeMS", Value: maxTimeMS},
	})
	return err
}

func open(t *testing.T, o mongodb.Options) *mongodb.Client {
	t.Helper()
	o.Database = mongotest.Name()
	client, err := mongodb.Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) }) // some tests leave it an operation to cut off
	return client
}

// closedPort is the address of a port that was free a moment ago.
func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return "mongodb://" + listener.Addr().String() + "/?directConnection=true"
}

func requireCode(t *testing.T, code problem.Code, err error) {
	t.Helper()
	p, ok := errors.AsType[*problem.Problem](err)
	require.True(t, ok, "no problem but %v", err)
	require.Equal(t, code, p.Code, "%v", err)
	if p.Status() == 503 {
		require.Positive(t, p.RetryAfter)
	}
}
