// Package race shows what a feed loses to the order of its commits: writers write, followers read the feed under each
// ordering, and what they saw is compared with what was written.
//
// A stamp is taken when a write starts, not when it commits. A follower that reads in between a later stamp's commit
// and an earlier one's goes past the earlier row, and never sees it.
package race

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/instant"
)

// The bounds of a plan.
const (
	MaxWriters  = 64
	MinDuration = 100 * time.Millisecond
	MaxDuration = 10 * time.Minute
	MinDelay    = 10 * time.Millisecond
	MaxDelay    = 30 * time.Second
	// MaxSlowTime leaves a server's own limit on transactions, 60 s, well alone.
	MaxSlowTime = 30 * time.Second
)

// Version is one state of an object: its id, and the stamp that the write gave it (dateModified, by the database's
// clock), which grows with every write of the object.
type Version struct {
	ID    bson.ObjectID
	Stamp instant.Instant
}

// Hold runs in a write's transaction right before its commit, and puts it off. It may run more than once.
type Hold func(ctx context.Context) error

// Writer makes the writes of a race. It is used by many goroutines at once.
type Writer interface {
	// Create stores a new object that the feed shows. hold is nil where the write is to commit at once.
	Create(ctx context.Context, hold Hold) (Version, error)
	// Patch changes an object that Create has stored. hold is as of Create.
	Patch(ctx context.Context, id bson.ObjectID, hold Hold) (Version, error)
}

// Ordering is one way to order the feed, as a server that serves it.
type Ordering struct {
	Name     string
	Lossless bool         // it promises to lose no write that is acknowledged within the delay
	Handler  http.Handler // serves FeedPath
}

// FeedPath is the feed that followers read.
const FeedPath = "/api/v1/creatives"

// Plan is how a race is run. Every ordering is followed at once, over the same writes.
type Plan struct {
	Duration  time.Duration // of the writing; the followers go on until they have caught up
	Writes    int           // ends the writing before Duration, where it is not zero
	Writers   int
	SlowShare float64       // of the writes, 0 to 1: they hold their transaction open
	SlowTime  time.Duration // how long they do
	Delay     time.Duration // what an ordering holds back: the bound of its promise
}

// Check reports everything that is out of bounds.
func (p Plan) Check() error {
	var wrong []error
	within := func(name string, ok bool, from, to any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf("%s must be from %v to %v", name, from, to))
		}
	}
	within("duration", p.Duration >= MinDuration && p.Duration <= MaxDuration, MinDuration, MaxDuration)
	within("writers", p.Writers >= 1 && p.Writers <= MaxWriters, 1, MaxWriters)
	within("slow-share", p.SlowShare >= 0 && p.SlowShare <= 1, 0, 1)
	within("slow-time", p.SlowTime >= 0 && p.SlowTime <= MaxSlowTime, time.Duration(0), MaxSlowTime)
	within("delay", p.Delay >= MinDelay && p.Delay <= MaxDelay, MinDelay, MaxDelay)
	return errors.Join(wrong...)
}
