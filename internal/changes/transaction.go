package changes

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"catalogue/internal/mongodb"
	"catalogue/internal/problem"
)

const (
	// minPause and maxPause bound how long a write that met another one waits before it looks again.
	minPause = 10 * time.Millisecond
	maxPause = 100 * time.Millisecond
	// cleanUpTimeout bounds what is left to do after a write that has failed, such as to end its transaction. The server
	// does it by itself later.
	cleanUpTimeout = time.Second
	// lateCleanUpTimeout is what the same has where the time of the write is over: somebody is to be answered.
	lateCleanUpTimeout = 100 * time.Millisecond
	// retryAfterContended is what a client is asked to wait where others kept writing the same object.
	retryAfterContended = time.Second
)

// What the server says of an error in a transaction.
const (
	labelTransient     = "TransientTransactionError"      // all of it may be tried again
	labelUnknownCommit = "UnknownTransactionCommitResult" // the commit may be tried again
)

// errStale says that an object is no longer as it was read.
var errStale = errors.New("the object was written by another one since it was read")

// commitError is one of a commit, after which nobody knows whether the transaction has happened.
type commitError struct{ cause error }

func (e *commitError) Error() string { return "commit: " + e.cause.Error() }

func (e *commitError) Unwrap() error { return e.cause }

// persist runs attempt until it meets no other write of the same objects, or ctx ends. Errors are converted.
func persist(ctx context.Context, attempt func(context.Context) error) error {
	for tries := 0; ; tries++ {
		err := attempt(ctx)
		switch {
		case err == nil:
			return nil
		case !isConflict(err) && (tries == 0 || !isCutShort(err)):
			return mongodb.Convert(err)
		case isConflict(err) && pause(ctx, tries):
		case errors.Is(ctx.Err(), context.Canceled):
			return mongodb.Convert(ctx.Err())
		default:
			return contended(err)
		}
	}
}

// isConflict reports whether an attempt has failed, without an effect, for what another write did meanwhile.
func isConflict(err error) bool {
	server, ok := errors.AsType[mongo.ServerError](err)
	return errors.Is(err, errStale) || mongodb.IsWriteConflict(err) || ok && server.HasErrorLabel(labelTransient)
}

// isCutShort reports whether the time was over in the middle of an attempt, which then is without an effect.
func isCutShort(err error) bool {
	_, unsure := errors.AsType[*commitError](err)
	p, ok := errors.AsType[*problem.Problem](mongodb.Convert(err))
	return !unsure && ok && p.Code == problem.QueryTimeout
}

// contended is the end of a write that met others all the time; a server that went away meanwhile is a server that is
// away.
func contended(err error) error {
	converted := mongodb.Convert(err)
	if p, ok := errors.AsType[*problem.Problem](converted); ok && p.Code == problem.DatabaseUnavailable {
		return converted
	}
	return &problem.Problem{
		Code: problem.Contended, Detail: "Others keep writing the same object. Try again shortly.",
		RetryAfter: retryAfterContended, Cause: err,
	}
}

// pause waits longer after each try, and never two writers equally long. It reports false where ctx ended first.
func pause(ctx context.Context, tries int) bool {
	longest := min(maxPause, minPause<<min(tries, 10))
	timer := time.NewTimer(minPause + rand.N(longest)) //nolint:gosec // no secret: writers are to be out of step
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// transact runs fn in one transaction. An error of fn undoes it.
func transact(ctx context.Context, db *mongo.Database, fn func(context.Context) error) error {
	session, err := db.Client().StartSession()
	if err != nil {
		return fmt.Errorf("start a session: %w", err)
	}
	defer endSession(ctx, session)
	settings := options.Transaction().SetReadConcern(readconcern.Snapshot()).SetWriteConcern(writeconcern.Majority())
	if err := session.StartTransaction(settings); err != nil {
		return fmt.Errorf("start a transaction: %w", err)
	}
	if err := fn(mongo.NewSessionContext(ctx, session)); err != nil {
		abort(ctx, session)
		return err
	}
	return commit(ctx, session)
}

// abort lets go of what the transaction holds at once. Where that fails the server does it later.
func abort(ctx context.Context, session *mongo.Session) {
	ctx, cancel := cleaningUp(ctx)
	defer cancel()
	_ = session.AbortTransaction(ctx)
}

// endSession aborts a transaction whose commit was cut short, too.
func endSession(ctx context.Context, session *mongo.Session) {
	ctx, cancel := cleaningUp(ctx)
	defer cancel()
	session.EndSession(ctx)
}

// closeCursor frees a cursor. What that has to say, the cursor's Err has said.
func closeCursor(ctx context.Context, cursor *mongo.Cursor) {
	ctx, cancel := cleaningUp(ctx)
	defer cancel()
	_ = cursor.Close(ctx)
}

// cleaningUp is a context for what is done after a write whether or not the time of ctx is over.
func cleaningUp(ctx context.Context) (context.Context, context.CancelFunc) {
	left := cleanUpTimeout
	if end, bounded := ctx.Deadline(); bounded { // that may be over, and ctx not know it yet
		left = min(left, time.Until(end))
	}
	if ctx.Err() != nil {
		left = 0
	}
	return context.WithTimeout(context.WithoutCancel(ctx), max(left, lateCleanUpTimeout))
}

// commit tries until the server says what became of the transaction.
func commit(ctx context.Context, session *mongo.Session) error {
	for tries := 0; ; tries++ {
		err := session.CommitTransaction(ctx)
		if err == nil {
			return nil
		}
		server, ok := errors.AsType[mongo.ServerError](err)
		if ok && server.HasErrorLabel(labelTransient) {
			return err
		}
		if !ok || !server.HasErrorLabel(labelUnknownCommit) || !pause(ctx, tries) {
			return &commitError{cause: err}
		}
	}
}

// inMajority is a collection whose writes are acknowledged when no failover can undo them.
func inMajority(db *mongo.Database, collection string) *mongo.Collection {
	return db.Collection(collection, options.Collection().SetWriteConcern(writeconcern.Majority()))
}
