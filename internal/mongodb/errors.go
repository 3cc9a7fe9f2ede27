package mongodb

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"catalogue/internal/problem"
)

// How long clients are asked to wait before they try again: an election takes a few seconds, a busy moment less.
const (
	retryAfterUnavailable = 2 * time.Second
	retryAfterTimeout     = time.Second
)

// Codes of the server, under the names it gives them.
const (
	codeBadValue                           = 2
	codeHostUnreachable                    = 6
	codeHostNotFound                       = 7
	codeCursorNotFound                     = 43
	codeMaxTimeMSExpired                   = 50
	codeNetworkTimeout                     = 89
	codeShutdownInProgress                 = 91
	codeWriteConflict                      = 112
	codeFailedToSatisfyReadPreference      = 133
	codeReadConcernMajorityNotAvailableYet = 134
	codeQueryPlanKilled                    = 175
	codePrimarySteppedDown                 = 189
	codeExceededTimeLimit                  = 262
	codeSocketException                    = 9001
	codeLegacyNotPrimary                   = 10058
	codeBSONObjectTooLarge                 = 10334
	codeNotWritablePrimary                 = 10107
	codeInterruptedAtShutdown              = 11600
	codeInterruptedDueToReplStateChange    = 11602
	codeNotPrimaryNoSecondaryOk            = 13435
	codeNotPrimaryOrSecondary              = 13436
	codeUpdatedTooLarge                    = 17419 // these two have no names; newer servers say 10334
	codeUpsertedTooLarge                   = 17420
)

// Convert is the one place where errors of the driver become problems: a database that is away or has no free
// connection, a query that took too long, a client that left, an object that has grown too large. Other errors come back
// unchanged and are internal.
//
// A deadline that passes while no server was reached is an unavailable database, not a slow query: the order of the
// cases matters, since the driver wraps context.DeadlineExceeded in both.
func Convert(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*problem.Problem](err); ok {
		return err
	}
	switch {
	case errors.Is(err, context.Canceled):
		return &problem.Problem{
			Code: problem.ClientClosedRequest, Detail: "The client left before the answer.", Cause: err,
		}
	case isUnreached(err):
		return unavailable(err)
	case isTimeout(err):
		return &problem.Problem{
			Code:   problem.QueryTimeout,
			Detail: "The database took too long to answer. Try again, with fewer rows or a narrower filter if it goes on.",
			Cause:  err, RetryAfter: retryAfterTimeout,
		}
	case isDisconnected(err):
		return unavailable(err)
	case hasCode(err, codeBSONObjectTooLarge, codeUpdatedTooLarge, codeUpsertedTooLarge):
		return &problem.Problem{
			Code: problem.BodyTooLarge, Detail: "The object would be larger than the database can store.", Cause: err,
		}
	}
	return err
}

func unavailable(err error) error {
	return &problem.Problem{
		Code: problem.DatabaseUnavailable, Detail: "The database does not answer at the moment. Try again shortly.",
		Cause: err, RetryAfter: retryAfterUnavailable,
	}
}

// IsTransient reports whether a read that failed so may be right if it is repeated once: the connection broke, or
// the server's state changed under it. Where the time is up or the client is gone there is nothing to repeat.
// The driver repeats its own reads; commands built by hand it does not.
func IsTransient(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) || isTimeout(err) {
		return false
	}
	if _, ok := errors.AsType[topology.ServerSelectionError](err); ok {
		return false // it has waited as long as it may
	}
	return isDisconnected(err) || isUnreached(err) || hasCode(err, codeCursorNotFound, codeQueryPlanKilled)
}

// IsBadValue reports whether the server refused a value in the command: among others a hint that names an index
// which is missing, hidden or still being built.
func IsBadValue(err error) bool { return hasCode(err, codeBadValue) }

// IsDuplicateKey reports whether a write broke a unique index.
func IsDuplicateKey(err error) bool { return mongo.IsDuplicateKeyError(err) }

// IsWriteConflict reports whether a write met another one of the same document, and was not done.
func IsWriteConflict(err error) bool { return hasCode(err, codeWriteConflict) }

// Reason says in a few words why a server could not be reached. The driver's own text is that of its state machine.
func Reason(err error) string {
	if selection, ok := errors.AsType[topology.ServerSelectionError](err); ok {
		for _, server := range selection.Desc.Servers {
			if server.LastError != nil {
				return server.LastError.Error()
			}
		}
		return "it did not answer in time"
	}
	return err.Error()
}

// poolCleared is what a pool answers after a connection broke and before the server was seen alive again.
type poolCleared interface {
	error
	driver.RetryablePoolError
}

// isUnreached reports whether the command never got to a server: none could be selected, the pool gave no connection
// in time, or the handshake failed. The types are of the driver's x packages, for want of public ones; a test with
// real outages watches that they still mean this.
func isUnreached(err error) bool {
	if _, ok := errors.AsType[topology.ServerSelectionError](err); ok {
		return true
	}
	if _, ok := errors.AsType[topology.WaitQueueTimeoutError](err); ok {
		return true
	}
	if cleared, ok := errors.AsType[poolCleared](err); ok && cleared.Retryable() {
		return true
	}
	return hasLabel(err, driver.ErrSystemOverloadedError) || // also on every failed handshake
		errors.Is(err, mongo.ErrClientDisconnected) || errors.Is(err, topology.ErrPoolClosed)
}

func isTimeout(err error) bool {
	return mongo.IsTimeout(err) || hasCode(err, codeMaxTimeMSExpired, codeExceededTimeLimit)
}

// isDisconnected reports whether the connection broke or the server is no longer one that answers.
func isDisconnected(err error) bool {
	if mongo.IsNetworkError(err) {
		return true
	}
	if _, ok := errors.AsType[topology.ConnectionError](err); ok {
		return true
	}
	return hasCode(err,
		codeHostUnreachable, codeHostNotFound, codeNetworkTimeout, codeShutdownInProgress,
		codeFailedToSatisfyReadPreference, codeReadConcernMajorityNotAvailableYet, codePrimarySteppedDown,
		codeSocketException, codeLegacyNotPrimary, codeNotWritablePrimary, codeInterruptedAtShutdown,
		codeInterruptedDueToReplStateChange, codeNotPrimaryNoSecondaryOk, codeNotPrimaryOrSecondary)
}

func hasCode(err error, codes ...int) bool {
	server, ok := errors.AsType[mongo.ServerError](err)
	return ok && slices.ContainsFunc(codes, server.HasErrorCode)
}

func hasLabel(err error, label string) bool {
	labeled, ok := errors.AsType[mongo.LabeledError](err)
	return ok && labeled.HasErrorLabel(label)
}
