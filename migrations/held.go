package migrations

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

const (
	// renewalsPerLease leaves time for a renewal that fails to be tried again.
	renewalsPerLease = 3
	// releaseTimeout bounds Release. A lock that is not released is free when its lease ends.
	releaseTimeout = 5 * time.Second
)

// Held is a lock that was taken. It is safe for concurrent use.
type Held struct {
	coll   *mongo.Collection
	who    Holder
	lease  time.Duration
	token  int64
	writes atomic.Int64
	stop   func()        // ends the renewals and the context of the work
	kept   chan struct{} // closed when the renewals have ended
}

// Token is the fencing token: it grows each time that the lock is taken, by whomever.
func (h *Held) Token() int64 { return h.token }

// Check proves that the lock is still held, and renews the lease. It fails with ErrLost where it is not. Work under
// the lock calls it right before it writes where the lock's own document cannot guard the write.
func (h *Held) Check(ctx context.Context) error { return h.write(ctx, nil) }

// Release ends the renewals and frees the lock, also where ctx has ended. Where the lock was lost it writes nothing and
// fails with ErrLost. It is called once.
func (h *Held) Release(ctx context.Context) error {
	h.stop()
	<-h.kept
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	return h.update(ctx, bson.D{{Key: fieldUntil, Value: nil}, {Key: fieldHolder, Value: nil}})
}

// write sets fields of the document to expressions, and renews the lease.
func (h *Held) write(ctx context.Context, fields bson.D) error {
	return h.update(ctx, append(bson.D{{Key: fieldUntil, Value: leaseEnd(h.lease)}}, fields...))
}

// update is the only way in which a holder writes: one update of the one document, that looks at the token and at the
// database's clock itself. One that was paused for longer than its lease changes nothing, whether or not another has
// taken the lock meanwhile.
func (h *Held) update(ctx context.Context, fields bson.D) error {
	number := h.writes.Add(1)
	fields = append(fields, bson.E{Key: fieldWrites, Value: number})
	var after state
	err := h.coll.FindOneAndUpdate(ctx,
		bson.D{{Key: "_id", Value: documentID}, {Key: fieldToken, Value: h.token}},
		bson.A{changeIf(alive(), fields)},
		options.FindOneAndUpdate().SetReturnDocument(options.After).
			SetProjection(bson.D{{Key: fieldWrites, Value: int32(1)}})).Decode(&after)
	switch {
	case errors.Is(err, mongo.ErrNoDocuments):
		return ErrLost
	case err != nil && errors.Is(context.Cause(ctx), ErrLost):
		return ErrLost
	case err != nil:
		return err
	case after.Writes != number:
		return ErrLost
	}
	return nil
}

// keep renews the lease until ctx ends. The work is told when the lease is lost: when a renewal finds that it is, or
// when none has come through for as long as the lease. expiry was started before the lease was.
func (h *Held) keep(ctx context.Context, lose context.CancelCauseFunc, expiry *time.Timer) {
	defer close(h.kept)
	defer func() { expiry.Stop() }()
	interval := h.lease / renewalsPerLease
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		next := time.AfterFunc(h.lease, func() { lose(ErrLost) })
		err := h.renew(ctx, interval)
		if err == nil {
			expiry.Stop()
			expiry = next
			continue
		}
		next.Stop()
		if errors.Is(err, ErrLost) {
			lose(ErrLost)
			return
		}
	}
}

// renew gives up in time for the next try.
func (h *Held) renew(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return h.Check(ctx)
}
