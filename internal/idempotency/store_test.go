package idempotency_test

import (
	"context"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"golang.org/x/sync/errgroup"

	"catalogue/indexes"
	"catalogue/internal/idempotency"
	"catalogue/internal/mongotest"
	"catalogue/internal/problem"
)

func TestMain(m *testing.M) { os.Exit(mongotest.Main(m)) }

const (
	patience = 20 * time.Second // longer than a busy machine needs
	long     = time.Hour        // a lease that does not end
	short    = 100 * time.Millisecond
)

var request = idempotency.Request{Caller: "ann", Route: "POST /creatives", Key: "k-1", Digest: "d"}

var answer = idempotency.Answer{
	Status: http.StatusCreated, Header: http.Header{"Location": {"/creatives/1"}, "Etag": {`"1"`}, "X": {"$digest"}}, Body: []byte(`{"data":{"name":"$$ROOT"}}`),
}

// database is one with the collection's indexes.
func database(t *testing.T) *mongo.Database {
	t.Helper()
	db := mongotest.Database(t)
	require.NoError(t, indexes.Apply(t.Context(), db, idempotency.Indexes(), func(indexes.Standing) {}))
	return db
}

// within is a context that ends after a while.
func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// claim takes a key that is free, or becomes so.
func claim(t testing.TB, s *idempotency.Store, r idempotency.Request) *idempotency.Claim {
	t.Helper()
	c, replay, err := s.Claim(within(t, patience), r)
	require.NoError(t, err)
	require.Nil(t, replay)
	require.NotNil(t, c)
	return c
}

// replay expects a kept answer.
func replay(t testing.TB, s *idempotency.Store, r idempotency.Request) idempotency.Answer {
	t.Helper()
	c, replay, err := s.Claim(within(t, patience), r)
	require.NoError(t, err)
	require.Nil(t, c)
	require.NotNil(t, replay)
	return *replay
}

func requireCode(t testing.TB, code problem.Code, err error) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, code, problem.Of(err).Code, err)
}

// requireHeld expects that somebody holds the key for longer than one waits.
func requireHeld(t testing.TB, s *idempotency.Store, r idempotency.Request) {
	t.Helper()
	_, _, err := s.Claim(within(t, time.Second), r)
	requireCode(t, problem.KeyInUse, err)
	require.Equal(t, http.StatusConflict, problem.Of(err).Status())
	require.Equal(t, time.Second, problem.Of(err).RetryAfter)
}

func row(t testing.TB, db *mongo.Database) bson.M {
	t.Helper()
	var out bson.M
	require.NoError(t, db.Collection(idempotency.Collection).FindOne(t.Context(), bson.D{}).Decode(&out))
	return out
}

func count(t testing.TB, db *mongo.Database) int {
	t.Helper()
	n, err := db.Collection(idempotency.Collection).CountDocuments(t.Context(), bson.D{})
	require.NoError(t, err)
	return int(n)
}

// set changes the only row by hand.
func set(t testing.TB, db *mongo.Database, field string, value any) {
	t.Helper()
	result, err := db.Collection(idempotency.Collection).UpdateOne(t.Context(), bson.D{},
		mongo.Pipeline{{{Key: "$set", Value: bson.D{{Key: field, Value: value}}}}})
	require.NoError(t, err)
	require.EqualValues(t, 1, result.MatchedCount)
}

func ago(d time.Duration) bson.D {
	return bson.D{{Key: "$dateAdd", Value: bson.D{
		{Key: "startDate", Value: "$$NOW"}, {Key: "unit", Value: "millisecond"}, {Key: "amount", Value: -d.Milliseconds()},
	}}}
}

func TestCheckKey(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"a", "!", "~", `"quoted"`, "8e03978e-40d5-43e8-bc93-6894a57f9324", strings.Repeat("x", 255)} {
		require.NoError(t, idempotency.CheckKey(key), key)
	}
	for _, key := range []string{"", " ", "a b", "a\t", "é", "\x7f", "\x00", "\xff", strings.Repeat("x", 256)} {
		err := idempotency.CheckKey(key)
		requireCode(t, problem.KeyMalformed, err)
		require.Equal(t, http.StatusBadRequest, problem.Of(err).Status())
		_, _, err = idempotency.NewStore(nilDatabase(t), long).Claim(t.Context(), idempotency.Request{Key: key})
		requireCode(t, problem.KeyMalformed, err)
	}
}

// nilDatabase is a database that is not asked for anything.
func nilDatabase(t *testing.T) *mongo.Database {
	t.Helper()
	client, err := mongo.Connect()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Disconnect(context.Background())) })
	return client.Database("none")
}

func TestAnAnswerIsGivenAgain(t *testing.T) {
	t.Parallel()
	s := idempotency.NewStore(database(t), long)
	require.NoError(t, claim(t, s, request).Finish(t.Context(), answer))
	require.Equal(t, answer, replay(t, s, request))
	require.Equal(t, answer, replay(t, s, request))

	bare := idempotency.Request{Caller: "ann", Route: "POST /creatives", Key: "k-2"}
	require.NoError(t, claim(t, s, bare).Finish(t.Context(), idempotency.Answer{Status: http.StatusNoContent}))
	require.Equal(t, idempotency.Answer{Status: http.StatusNoContent}, replay(t, s, bare))
}

func TestAKeyBelongsToItsCallerAndRoute(t *testing.T) {
	t.Parallel()
	db := database(t)
	s := idempotency.NewStore(db, long)
	others := []idempotency.Request{
		request,
		{Caller: "bob", Route: "POST /creatives", Key: "k-1", Digest: "d"},
		{Caller: "ann", Route: "POST /tasks", Key: "k-1", Digest: "d"},
		{Caller: "ann", Route: "POST /creatives", Key: "K-1", Digest: "d"},
		{Caller: "annP", Route: "OST /creatives", Key: "k-1", Digest: "d"}, // the same characters one after the other
		{Caller: "$name", Route: "$$ROOT", Key: "$$NOW", Digest: "$digest"},
	}
	for _, r := range others {
		claim(t, s, r)
	}
	require.Equal(t, len(others), count(t, db))
}

func TestTheKeyItselfIsNotStored(t *testing.T) {
	t.Parallel()
	db := database(t)
	r := request
	r.Key = "a-secret-of-the-client"
	c := claim(t, idempotency.NewStore(db, long), r)
	require.NoError(t, c.Record(t.Context(), 0, []byte("x")))
	raw, err := db.Collection(idempotency.Collection).FindOne(t.Context(), bson.D{}).Raw()
	require.NoError(t, err)
	require.NotContains(t, string(raw), r.Key)
}

func TestAnotherBodyIsRefused(t *testing.T) {
	t.Parallel()
	db := database(t)
	s := idempotency.NewStore(db, long)
	other := request
	other.Digest = "e"
	c := claim(t, s, request)
	_, _, err := s.Claim(within(t, patience), other)
	requireCode(t, problem.KeyReused, err) // while the first is worked on
	require.Equal(t, http.StatusUnprocessableEntity, problem.Of(err).Status())

	require.NoError(t, c.Record(t.Context(), 0, []byte("x")))
	set(t, db, "leased_until", ago(time.Second))
	_, _, err = s.Claim(within(t, patience), other)
	requireCode(t, problem.KeyReused, err) // what a dead holder has begun is not another body's to go on with

	set(t, db, "leased_until", ago(-time.Minute))
	require.NoError(t, c.Finish(t.Context(), answer))
	_, _, err = s.Claim(within(t, patience), other)
	requireCode(t, problem.KeyReused, err)
	require.Equal(t, answer, replay(t, s, request))
}

// A key under which a dead holder has done nothing is as free as a new one.
func TestAnotherBodyMayTakeAKeyThatWasAbandonedUnused(t *testing.T) {
	t.Parallel()
	db := database(t)
	s := idempotency.NewStore(db, long)
	dead := claim(t, s, request)
	set(t, db, "leased_until", ago(time.Second))
	other := request
	other.Digest = "e"
	require.NoError(t, claim(t, s, other).Finish(t.Context(), answer))
	requireCode(t, problem.KeyInUse, dead.Finish(t.Context(), answer))
	_, _, err := s.Claim(within(t, patience), request)
	requireCode(t, problem.KeyReused, err)
}

func TestOfTwentyAtOnceOneHoldsAndTheOthersGetItsAnswer(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.NowInFind) // without it some of many upserts at once are refused for theirs
	db := database(t)
	var mu sync.Mutex
	held, replayed := 0, 0
	start := make(chan struct{})
	var g errgroup.Group
	for range 20 {
		s := idempotency.NewStore(db, long) // of a process of its own
		g.Go(func() error {
			<-start
			c, replay, err := s.Claim(within(t, patience), request)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if c != nil {
				held++
				return c.Finish(t.Context(), answer)
			}
			replayed++
			require.Equal(t, answer, *replay)
			return nil
		})
	}
	close(start)
	require.NoError(t, g.Wait())
	require.Equal(t, 1, held)
	require.Equal(t, 19, replayed)
}

func TestAWaitEndsShortlyBeforeItsDeadline(t *testing.T) {
	t.Parallel()
	s := idempotency.NewStore(database(t), long)
	claim(t, s, request)
	ctx := within(t, time.Second)
	_, _, err := s.Claim(ctx, request)
	requireCode(t, problem.KeyInUse, err)
	require.NoError(t, ctx.Err(), "there is time to answer")
}

func TestAWaiterWhoLeavesIsNotHeldUp(t *testing.T) {
	t.Parallel()
	s := idempotency.NewStore(database(t), long)
	claim(t, s, request)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, _, err := s.Claim(ctx, request)
		failed <- err
	}()
	cancel()
	requireCode(t, problem.ClientClosedRequest, <-failed)
}

func TestAnAnswerExpiresAfterADay(t *testing.T) {
	t.Parallel()
	db := database(t)
	s := idempotency.NewStore(db, long)
	require.NoError(t, claim(t, s, request).Finish(t.Context(), answer))
	stored, ok := row(t, db)["expires_at"].(bson.DateTime)
	require.True(t, ok)
	require.WithinDuration(t, time.Now().Add(24*time.Hour), stored.Time(), time.Minute)

	other := request
	other.Digest = "another body"
	set(t, db, "expires_at", ago(0)) // the database may not have removed it yet
	require.Empty(t, claim(t, s, other).Results())
	requireHeld(t, s, other)
	require.NotContains(t, row(t, db), "answer")
}

func TestAnAbandonedRequestExpiresAfterADay(t *testing.T) {
	t.Parallel()
	db := database(t)
	s := idempotency.NewStore(db, long)
	old := claim(t, s, request)
	require.NoError(t, old.Record(t.Context(), 0, []byte("zero")))
	set(t, db, "expires_at", ago(time.Minute))
	require.Empty(t, claim(t, s, request).Results(), "what it did is forgotten")
	requireCode(t, problem.KeyInUse, old.Record(t.Context(), 1, []byte("one")))
}
