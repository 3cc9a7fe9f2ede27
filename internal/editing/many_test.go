package editing

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/idempotency"
	"catalogue/internal/problem"
)

const late = `{"status":503,"error":{"code":"query_timeout","detail":"The time did not suffice; send the item again."}}`

// told is what an item of the tests asks to be done: "ok", or the kind of failure.
func told(i Item) string {
	word, _ := i.Value.Text()
	return word
}

// fine is the outcome of an item that wrote nothing.
var fine = Outcome{Status: http.StatusOK, ID: bson.ObjectID{11: 1}}

func TestAnInternalErrorIsItsItemsOwn(t *testing.T) {
	t.Parallel()
	s := serveMany(t, 10*time.Second, func(_ context.Context, i Item) (Outcome, error) {
		if told(i) == "bug" {
			return Outcome{}, errors.New("dial tcp 10.1.2.3: refused")
		}
		return fine, nil
	})
	status, body, _, err := s.post(t.Context(), `["ok", "bug", "ok"]`)
	require.NoError(t, err)
	require.Equal(t, 207, status)
	require.Regexp(t, `^\{"data":\[\{"status":200,.*\},\{"status":500,"error":\{"code":"internal",.*\},\{"status":200,.*\}\]\}\n$`, body)
	require.NotContains(t, body, "10.1.2.3")
	require.Contains(t, s.log.String(), "10.1.2.3", "the log has the cause")
}

func TestManyStopWhereTheDatabaseIsAwayAndTheKeyGoesOn(t *testing.T) {
	t.Parallel()
	var away atomic.Bool
	var calls atomic.Int32
	away.Store(true)
	s := serveMany(t, 10*time.Second, func(_ context.Context, i Item) (Outcome, error) {
		calls.Add(1)
		if told(i) == "away" && away.Load() {
			return Outcome{}, problem.New(problem.DatabaseUnavailable, "away")
		}
		return fine, nil
	})
	const items = `["ok", "away", "ok"]`
	done := `{"status":200,"id":"` + fine.ID.Hex() + `"}`
	status, body, _, err := s.post(t.Context(), items)
	require.NoError(t, err)
	require.Equal(t, 207, status)
	require.Equal(t, `{"data":[`+done+`,`+late+`,`+late+`]}`+"\n", body)
	require.Equal(t, int32(2), calls.Load(), "the last one was not tried")

	status, _, _, err = s.post(t.Context(), `["ok", "other", "ok"]`)
	require.NoError(t, err)
	require.Equal(t, 422, status, "what was begun with one body does not go on with another")

	away.Store(false)
	status, body, header, err := s.post(t.Context(), items)
	require.NoError(t, err)
	require.Equal(t, 200, status)
	require.Equal(t, `{"data":[`+done+`,`+done+`,`+done+`]}`+"\n", body)
	require.Empty(t, header.Get(replayedHeader))
	require.Equal(t, int32(4), calls.Load(), "the first one was not done again")

	_, again, header, err := s.post(t.Context(), items)
	require.NoError(t, err)
	require.Equal(t, body, again)
	require.Equal(t, "true", header.Get(replayedHeader))
	require.Equal(t, int32(4), calls.Load())
}

func TestNoItemBeginsInTheLastMoment(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	s := serveMany(t, 2*time.Second, func(ctx context.Context, _ Item) (Outcome, error) {
		calls.Add(1)
		end, _ := ctx.Deadline()
		timer := time.NewTimer(time.Until(end) - lastMoment + 10*time.Millisecond)
		defer timer.Stop()
		<-timer.C
		return fine, nil
	})
	status, body, _, err := s.post(t.Context(), `["ok", "ok"]`)
	require.NoError(t, err)
	require.Equal(t, 207, status)
	require.Contains(t, body, late)
	require.Equal(t, int32(1), calls.Load())
}

func TestAnItemThatIsCutOffIsLateAndNotRecorded(t *testing.T) {
	t.Parallel()
	s := serveMany(t, time.Second, func(ctx context.Context, _ Item) (Outcome, error) {
		<-ctx.Done()
		return Outcome{}, problem.New(problem.Contended, "others kept writing") // as its time was up
	})
	status, body, _, err := s.post(t.Context(), `["ok"]`)
	require.NoError(t, err)
	require.Equal(t, 207, status)
	require.JSONEq(t, `{"data": [`+late+`]}`, body)
	require.Zero(t, s.keys(t), "the key is free")
}

func TestAPanicFreesTheKey(t *testing.T) {
	t.Parallel()
	s := serveMany(t, 10*time.Second, func(_ context.Context, i Item) (Outcome, error) {
		if told(i) == "panic" {
			panic("a bug")
		}
		return fine, nil
	})
	status, _, _, err := s.post(t.Context(), `["panic"]`)
	require.NoError(t, err)
	require.Equal(t, 500, status)
	require.Zero(t, s.keys(t))
	status, _, _, err = s.post(t.Context(), `["ok"]`)
	require.NoError(t, err)
	require.Equal(t, 200, status, "with whatever body")
	require.Equal(t, int64(1), s.keys(t))
}

func TestAClientThatLeavesFreesTheKey(t *testing.T) {
	t.Parallel()
	began := make(chan struct{})
	s := serveMany(t, 10*time.Second, func(ctx context.Context, i Item) (Outcome, error) {
		if told(i) == "wait" {
			close(began)
			<-ctx.Done()
			return Outcome{}, ctx.Err()
		}
		return fine, nil
	})
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-began
		leave()
	}()
	_, _, _, err := s.post(ctx, `["wait"]`)
	require.ErrorIs(t, err, context.Canceled)
	require.Eventually(t, func() bool { return s.keys(t) == 0 }, 5*time.Second, 10*time.Millisecond)
}

func TestAHolderThatLostItsKeyStops(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	var s *service
	s = serveMany(t, 10*time.Second, func(ctx context.Context, i Item) (Outcome, error) {
		if calls.Add(1) == 2 { // while it was paused its lease ended, and another took over
			_, err := s.db.Collection(idempotency.Collection).UpdateOne(ctx, bson.D{},
				bson.D{{Key: "$set", Value: bson.D{{Key: "token", Value: bson.NewObjectID()}}}})
			if err != nil {
				return Outcome{}, err
			}
		}
		written := fine
		written.Changed = true
		return written, i.keep(ctx, written)
	})
	status, body, header, err := s.post(t.Context(), `["ok", "ok", "ok"]`)
	require.NoError(t, err)
	require.Equal(t, 409, status)
	require.Contains(t, body, `"code":"idempotency_key_in_use"`)
	require.Equal(t, "1", header.Get("Retry-After"))
	require.Equal(t, int32(2), calls.Load())
	require.Equal(t, int64(1), s.keys(t), "and leaves the other's claim alone")
}
