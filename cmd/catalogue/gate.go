package main

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/mongodb"
	"catalogue/internal/problem"
)

// gate stands before the writes and the feed. It is open once the database has shown that it can do what they need:
// the server answers from its first moment on, and the database may be away then.
type gate struct {
	transactions atomic.Pointer[bool] // whether the database has them; nil until it has answered
	opened       chan struct{}        // closed then
}

// gatePatience is how long a request waits for the database's first answer: that is on its way when a server starts.
const gatePatience = time.Second

func newGate() *gate { return &gate{opened: make(chan struct{})} }

// probe asks the database whether it has transactions, until it answers, and then logs all that it can do.
func (g *gate) probe(ctx context.Context, db *mongo.Database, log *slog.Logger) {
	for {
		has, err := mongodb.HasTransactions(ctx, db)
		switch {
		case err == nil:
			if !has {
				log.WarnContext(ctx, "writes and the feed are not served: the database has no transactions")
			}
			g.transactions.Store(&has)
			close(g.opened)
			logCapabilities(ctx, db, has, log)
			return
		case ctx.Err() != nil:
			return
		}
		log.WarnContext(ctx, "the database does not tell yet whether it has transactions", slog.Any("error", err))
		select {
		case <-ctx.Done():
			return
		case <-time.After(prepareRetry):
		}
	}
}

// logCapabilities is for people: nothing waits for it.
func logCapabilities(ctx context.Context, db *mongo.Database, transactions bool, log *slog.Logger) {
	can, err := mongodb.ProbeBeside(ctx, db, transactions)
	if err != nil {
		log.WarnContext(ctx, "the database does not tell all that it can do", slog.Any("error", err))
		return
	}
	has, lacks := can.Describe()
	log.InfoContext(ctx, "database", slog.Any("can", has), slog.Any("cannot", lacks))
}

// refusal is why the gate is shut, or nil.
func (g *gate) refusal(ctx context.Context) error {
	if g.transactions.Load() == nil {
		timer := time.NewTimer(gatePatience)
		defer timer.Stop()
		select {
		case <-g.opened:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	switch has := g.transactions.Load(); {
	case has == nil:
		return &problem.Problem{
			Code: problem.NotReady, Cause: errors.New("the database has not been asked yet"), RetryAfter: prepareRetry,
			Detail: "The server does not know yet whether its database has transactions. Try again shortly.",
		}
	case !*has:
		return problem.New(problem.NotSupported,
			"The server's database has no transactions, so writes and the feed are not served. A replica set of MongoDB has them.")
	default:
		return nil
	}
}

// guard answers in the place of the handlers behind it while the gate is shut.
func (g *gate) guard(answer func(c *gin.Context, err error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := g.refusal(c.Request.Context()); err != nil {
			answer(c, err)
			c.Abort()
		}
	}
}
