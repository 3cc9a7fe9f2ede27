// Package migrations changes stored data step by step, when a new version is deployed: numbered migrations that are
// recorded, the lock under which one process at a time runs them, and the look for stored values that do not fit.
package migrations

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"catalogue/internal/mongodb"
)

// Collection holds one document: the lock, and the records of the migrations. They are one so that a single update,
// which every engine does as a whole, both proves that the lock is held and writes what its holder has to write.
const Collection = "migrations"

const (
	// DefaultLease is how long a holder that is not heard of keeps the lock, by the database's clock.
	DefaultLease = 30 * time.Second
	// DefaultWait is how long one waits for another to end.
	DefaultWait = 5 * time.Minute

	// tellInterval is how often one who waits is told for whom.
	tellInterval = 5 * time.Second
	// maxPoll and pollsPerLease say how often one who waits looks again.
	maxPoll       = time.Second
	pollsPerLease = 10
)

// ErrLost says that the lease has ended before its holder was done: another one may hold the lock by now.
var ErrLost = errors.New("the lock was lost: its lease has ended")

// Holder says who takes the lock, for people.
type Holder struct {
	Host    string `bson:"host"`
	Version string `bson:"version"` // of the program
	ID      string `bson:"id"`      // tells the processes of a host apart
}

// Holding says who holds the lock. The times are of the database's clock.
type Holding struct {
	Holder

	Since, Until time.Time // Until: when the lease ends, unless the holder renews it
}

// LockedError says that another one held the lock all the time.
type LockedError struct{ Holding Holding }

func (e *LockedError) Error() string {
	return fmt.Sprintf("version %s on %s (%s) has held the lock since %s", e.Holding.Version, e.Holding.Host,
		e.Holding.ID, e.Holding.Since.UTC().Format(time.RFC3339))
}

// Lock lets one process at a time change the database. Whether it is free is for the database to say, and by its clock
// alone: clocks of hosts are never compared with it, and what a host measures are durations.
type Lock struct {
	coll  *mongo.Collection
	who   Holder
	lease time.Duration
}

// NewLock returns the lock of a database. The lease is in whole milliseconds; DefaultLease unless a test needs another.
func NewLock(db *mongo.Database, who Holder, lease time.Duration) *Lock {
	return &Lock{coll: document(db), who: who, lease: lease}
}

// document is the collection as the lock needs it: what was acknowledged survives a failover, and is read back.
func document(db *mongo.Database) *mongo.Collection {
	return db.Collection(Collection, options.Collection().
		SetWriteConcern(writeconcern.Majority()).SetReadPreference(readpref.Primary()))
}

// Take waits until the lock is free and takes it, or fails with a LockedError when the wait is over; without a wait it
// tries once. onWait is told for whom it waits: at once, when that changes, and every few seconds.
//
// The context that it returns is for the work under the lock. It ends with the cause ErrLost where the lease does; the
// lease is renewed in the background until Release, which the caller owes.
func (l *Lock) Take(ctx context.Context, wait time.Duration, onWait func(Holding)) (*Held, context.Context, error) {
	over, poll := time.NewTimer(wait), time.NewTicker(min(maxPoll, l.lease/pollsPerLease))
	tell := time.NewTicker(tellInterval)
	defer func() { over.Stop(); poll.Stop(); tell.Stop() }()
	var told int64
	for {
		held, working, other, err := l.try(ctx)
		if err != nil {
			return nil, nil, fmt.Errorf("take the lock: %w", err)
		}
		if held != nil {
			return held, working, nil
		}
		if wait <= 0 {
			return nil, nil, &LockedError{Holding: other.holding()}
		}
		if due(tell) || told != other.Token {
			told = other.Token
			onWait(other.holding())
		}
		select {
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		case <-over.C:
			return nil, nil, &LockedError{Holding: other.holding()}
		case <-poll.C:
		}
	}
}

// due reports whether a ticker has ticked since it was last asked.
func due(t *time.Ticker) bool {
	select {
	case <-t.C:
		return true
	default:
		return false
	}
}

// try takes the lock where it is free. Where it is not, it returns what the document says of its holder.
func (l *Lock) try(ctx context.Context) (*Held, context.Context, state, error) {
	mark := bson.NewObjectID() // of this attempt: so an answer that was lost and asked for again is known as ours
	working, lose := context.WithCancelCause(ctx)
	// It runs from before the database begins to count, so it ends first.
	expiry := time.AfterFunc(l.lease, func() { lose(ErrLost) })
	found, err := l.claim(ctx, mark)
	// Several have made the document at once, which engines tell in different ways. Now it is there.
	if mongo.IsDuplicateKeyError(err) || errors.Is(err, mongo.ErrNoDocuments) {
		found, err = l.claim(ctx, mark)
	}
	if err != nil || found.Holder.Mark != mark {
		expiry.Stop()
		lose(nil)
		return nil, nil, found, err
	}
	h := &Held{coll: l.coll, who: l.who, lease: l.lease, token: found.Token, kept: make(chan struct{})}
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx)) // work that was stopped still holds until Release
	h.stop = func() { stop(); lose(context.Canceled) }
	go h.keep(keeping, lose, expiry)
	return h, working, found, nil
}

// claim is one update: where the lease has ended or there is none, the lock is ours and its token one higher.
func (l *Lock) claim(ctx context.Context, mark bson.ObjectID) (state, error) {
	holder := bson.D{
		{Key: "mark", Value: mark},
		{Key: "host", Value: literal(l.who.Host)},
		{Key: "version", Value: literal(l.who.Version)},
		{Key: "id", Value: literal(l.who.ID)},
		{Key: "since", Value: "$$NOW"},
	}
	ours := bson.D{
		{Key: fieldToken, Value: op("$add", bson.A{op("$ifNull", bson.A{"$" + fieldToken, int64(0)}), int64(1)})},
		{Key: fieldUntil, Value: leaseEnd(l.lease)},
		{Key: fieldWrites, Value: int64(0)},
		// Merging would keep fields of the holder before.
		{Key: fieldHolder, Value: holder},
	}
	ctx, cancel := context.WithTimeout(ctx, l.lease) // what is answered later has ended already
	defer cancel()
	var found state
	err := l.coll.FindOneAndUpdate(ctx, bson.D{{Key: "_id", Value: documentID}},
		bson.A{changeIf(op("$not", bson.A{alive()}), ours)},
		options.FindOneAndUpdate().SetUpsert(true).SetReturnDocument(options.After).
			SetProjection(bson.D{{Key: fieldRecords, Value: int32(0)}})).Decode(&found)
	return found, err
}

// Holding tells who holds the lock now. It reports false where nobody does, which includes one whose lease has ended.
func (l *Lock) Holding(ctx context.Context) (Holding, bool, error) {
	found, live, err := look(ctx, l.coll.Database())
	return found.holding(), live, err
}

// look reads the document, and reports whether the lock is held. The clock is asked after the document was read: a
// holder that it calls alive was so for the whole time.
func look(ctx context.Context, db *mongo.Database) (found state, live bool, err error) {
	err = document(db).FindOne(ctx, bson.D{{Key: "_id", Value: documentID}}).Decode(&found)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return state{}, false, nil
	}
	if err != nil {
		return state{}, false, fmt.Errorf("read the lock and the records of migrations: %w", err)
	}
	now, err := mongodb.ServerTime(ctx, db)
	if err != nil {
		return state{}, false, fmt.Errorf("ask the database for its time: %w", err)
	}
	return found, found.Until.After(now), nil
}
