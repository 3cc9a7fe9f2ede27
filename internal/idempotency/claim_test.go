package idempotency_test

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/idempotency"
	"catalogue/internal/mongotest"
	"catalogue/internal/problem"
)

// A process that was paused for longer than its lease can do nothing any more to the one that took over.
func TestALostClaimCanDoNothing(t *testing.T) {
	t.Parallel()
	db := database(t)
	old := claim(t, idempotency.NewStore(db, short), request)
	s := idempotency.NewStore(db, long)
	next := claim(t, s, request) // waits for the end of the lease

	requireCode(t, problem.KeyInUse, old.Record(t.Context(), 0, []byte("old")))
	requireCode(t, problem.KeyInUse, old.Finish(t.Context(), idempotency.Answer{Status: 500}))
	require.NoError(t, old.Release(t.Context()))
	requireHeld(t, s, request)

	require.NoError(t, next.Record(t.Context(), 0, []byte("next")))
	require.NoError(t, old.Release(t.Context()))
	requireHeld(t, s, request)
	require.NoError(t, next.Finish(t.Context(), answer))

	requireCode(t, problem.KeyInUse, old.Finish(t.Context(), idempotency.Answer{Status: 500}))
	require.NoError(t, old.Release(t.Context()))
	require.Equal(t, answer, replay(t, s, request))
}

func TestAFinishedClaimIsNotReleased(t *testing.T) {
	t.Parallel()
	s := idempotency.NewStore(database(t), long)
	c := claim(t, s, request)
	require.NoError(t, c.Finish(t.Context(), answer))
	require.NoError(t, c.Release(t.Context()))
	require.Equal(t, answer, replay(t, s, request))
	requireCode(t, problem.KeyInUse, c.Finish(t.Context(), idempotency.Answer{Status: 500}))
	requireCode(t, problem.KeyInUse, c.Record(t.Context(), 0, nil))
	require.Equal(t, answer, replay(t, s, request))
}

func TestAKeyThatIsReleasedUnusedIsFree(t *testing.T) {
	t.Parallel()
	db := database(t)
	s := idempotency.NewStore(db, long)
	ctx, cancel := context.WithCancel(t.Context())
	c := claim(t, s, request)
	cancel() // the handler's client has left
	require.NoError(t, c.Release(ctx))
	require.Zero(t, count(t, db))
	requireCode(t, problem.KeyInUse, c.Finish(t.Context(), answer))
	requireCode(t, problem.KeyInUse, c.Record(t.Context(), 0, nil))

	corrected := request
	corrected.Digest = "e"
	claim(t, s, corrected)
}

func TestWhatWasRecordedOutlivesARelease(t *testing.T) {
	t.Parallel()
	s := idempotency.NewStore(database(t), long)
	first := claim(t, s, request)
	require.Empty(t, first.Results())
	require.NoError(t, first.Record(t.Context(), 0, []byte("zero")))
	require.NoError(t, first.Record(t.Context(), 1, []byte("$$NOW")))
	require.NoError(t, first.Release(t.Context()))
	requireCode(t, problem.KeyInUse, first.Record(t.Context(), 2, []byte("two")))
	requireCode(t, problem.KeyInUse, first.Finish(t.Context(), answer))

	other := request
	other.Digest = "e"
	_, _, err := s.Claim(within(t, patience), other)
	requireCode(t, problem.KeyReused, err)

	second := claim(t, s, request)
	require.Equal(t, [][]byte{[]byte("zero"), []byte("$$NOW")}, second.Results())
	for _, index := range []int{0, 1, 3, -1} {
		requireCode(t, problem.KeyInUse, second.Record(t.Context(), index, []byte("not the next one")))
	}
	require.NoError(t, second.Record(t.Context(), 2, nil))
	require.NoError(t, second.Release(t.Context()))

	third := claim(t, s, request)
	require.Equal(t, []string{"zero", "$$NOW", ""}, texts(third.Results()))
	require.NoError(t, third.Finish(t.Context(), answer))
	require.Equal(t, answer, replay(t, s, request))
}

func texts(results [][]byte) []string {
	out := make([]string, len(results))
	for i, r := range results {
		out[i] = string(r)
	}
	return out
}

// A holder that died is taken over behind the last result that it recorded.
func TestATakeOverGoesOnBehindTheLastResult(t *testing.T) {
	t.Parallel()
	db := database(t)
	const died = 3
	dead := claim(t, idempotency.NewStore(db, short), request)
	for i := range died {
		require.NoError(t, dead.Record(t.Context(), i, []byte(strconv.Itoa(i))))
	}
	next := claim(t, idempotency.NewStore(db, long), request)
	require.Equal(t, []string{"0", "1", "2"}, texts(next.Results()))
	require.NoError(t, next.Record(t.Context(), died, []byte("3")))
	requireCode(t, problem.KeyInUse, dead.Record(t.Context(), died+1, []byte("late")))
}

func TestARecordRenewsTheLease(t *testing.T) {
	t.Parallel()
	db := database(t)
	s := idempotency.NewStore(db, long)
	c := claim(t, s, request)
	set(t, db, "leased_until", ago(0)) // ended, but nobody has come for it
	require.NoError(t, c.Record(t.Context(), 0, []byte("zero")))
	requireHeld(t, s, request)
}

var errUndone = errors.New("the write is undone")

// inTransaction runs a write that ends with the error given.
func inTransaction(t *testing.T, db *mongo.Database, end error, write func(ctx context.Context) error) {
	t.Helper()
	err := db.Client().UseSession(t.Context(), func(ctx context.Context) error {
		_, err := mongo.SessionFromContext(ctx).WithTransaction(ctx, func(ctx context.Context) (any, error) {
			if err := write(ctx); err != nil {
				return nil, err
			}
			return nil, end
		})
		return err
	})
	require.ErrorIs(t, err, end)
}

func TestATransactionThatIsUndoneLeavesNothing(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions)
	db := database(t)
	s := idempotency.NewStore(db, long)
	c := claim(t, s, request)
	inTransaction(t, db, errUndone, func(ctx context.Context) error { return c.Record(ctx, 0, []byte("undone")) })
	inTransaction(t, db, errUndone, func(ctx context.Context) error { return c.Finish(ctx, answer) })
	requireHeld(t, s, request)

	inTransaction(t, db, nil, func(ctx context.Context) error { return c.Record(ctx, 0, []byte("kept")) })
	require.Equal(t, bson.A{bson.Binary{Data: []byte("kept")}}, row(t, db)["results"])
	inTransaction(t, db, nil, func(ctx context.Context) error { return c.Finish(ctx, answer) })
	require.Equal(t, answer, replay(t, s, request))
}

// What a paused holder does in a transaction is undone with the record that it may not make.
func TestALostClaimUndoesItsWrite(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions)
	db := database(t)
	old := claim(t, idempotency.NewStore(db, short), request)
	next := claim(t, idempotency.NewStore(db, long), request)
	_, err := db.Collection("things").InsertOne(t.Context(), bson.D{{Key: "by", Value: "next"}})
	require.NoError(t, err)
	require.NoError(t, next.Finish(t.Context(), answer))

	err = db.Client().UseSession(t.Context(), func(ctx context.Context) error {
		_, err := mongo.SessionFromContext(ctx).WithTransaction(ctx, func(ctx context.Context) (any, error) {
			if _, err := db.Collection("things").InsertOne(ctx, bson.D{{Key: "by", Value: "old"}}); err != nil {
				return nil, err
			}
			return nil, old.Finish(ctx, idempotency.Answer{Status: 500})
		})
		return err
	})
	requireCode(t, problem.KeyInUse, err)
	n, err := db.Collection("things").CountDocuments(t.Context(), bson.D{})
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
}
