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
	probed atomic.Pointer[mongodb.Capabilities] // nil until the database has answered
	opened chan struct{}                        // closed then
}

// gatePatience is how long a request waits for the database's first answer: that is on its way when a server starts.
const gatePatience = time.Second

func newGate() *gate { return &gate{opened: make(chan struct{})} }

// probe asks the database what it can do, until it answers, and logs that.
func (g *gate) probe(ctx context.Context, db *mongo.Database, log *slog.Logger) {
	for {
		can, err := mongodb.Probe(ctx, db)
		switch {
		case err == nil:
			has, lacks := can.Describe()
			log.InfoContext(ctx, "database", slog.Any("can", has), slog.Any("cannot", lacks))
			if !can.Transactions {
				log.WarnContext(ctx, "writes and the feed are not served: the database has no transactions")
			}
			g.probed.Store(&can)
			close(g.opened)
			return
		case ctx.Err() != nil:
			return
		}
		log.WarnContext(ctx, "the database does not tell yet what it can do", slog.Any("error", err))
		select {
		case <-ctx.Done():
			return
		case <-time.After(prepareRetry):
		}
	}
}

// refusal is why the gate is shut, or nil.
func (g *gate) refusal(ctx context.Context) error {
	if g.probed.Load() == nil {
		timer := time.NewTimer(gatePatience)
		defer timer.Stop()
		select {
		case <-g.opened:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	switch can := g.probed.Load(); {
	case can == nil:
		return &problem.Problem{
			Code: problem.NotReady, Cause: errors.New("the database has not been asked yet"), RetryAfter: prepareRetry,
			Detail: "The server does not know yet whether its database has transactions. Try again shortly.",
		}
	case !can.Transactions:
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
