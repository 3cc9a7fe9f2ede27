// Package counting counts filtered lists once for all who ask at the same time, and keeps the counts for a while.
package counting

import (
	"context"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/pagination"
)

const (
	// patience is how many times longer than its waiters a count may take: what it finds is there for the next ones.
	patience = 5
	// maxRunning bounds the counts that run at once, since they may outlive their requests. Others wait for a place
	// within their own deadline.
	maxRunning = 16
)

// Request is a list to be counted.
type Request struct {
	Collection *mongo.Collection
	Fixed      bson.D // equalities that the list always has
	Filter     bson.D // the user's filter, compiled
	Hint       string // name of the index to count on; empty where the choice is the planner's
	// Digest is that of the user's filter in its canonical form. Without one the count is neither shared nor kept.
	Digest string
	// Now is the moment that a relative filter was compiled for, and zero for any other filter.
	Now time.Time
}

// Cache keeps values for a while. One that fails holds nothing.
type Cache interface {
	Get(ctx context.Context, key string) (value []byte, found bool)
	Set(ctx context.Context, key string, value []byte, ttl time.Duration)
	// Reject is told of a value that could not be used.
	Reject(ctx context.Context, reason error)
}

// Options say how to count and where to keep counts.
type Options struct {
	// Counter is how a count is taken. Its timeout is how long each caller waits.
	Counter pagination.Counter
	Cache   Cache         // nil keeps nothing
	TTL     time.Duration // how long a count is kept
	// Hold is how long a count that was taken is also shared without the cache: a rush goes on for longer than a count,
	// and the cache may be late just then. Zero does not hold it.
	Hold time.Duration
	Now  func() time.Time
}

// Counts counts lists. Make it with New; it must not be used after Close.
type Counts struct {
	counter, patient pagination.Counter
	cache            Cache
	ttl, hold        time.Duration
	now              func() time.Time
	places           chan struct{} // one for each count that runs

	mu      sync.Mutex
	flights map[string]*flight
	closed  bool
	running sync.WaitGroup
}

// New makes a Counts.
func New(o Options) *Counts {
	patient := o.Counter
	patient.Timeout *= patience
	return &Counts{
		counter: o.Counter, patient: patient, cache: o.Cache, ttl: o.TTL, hold: o.Hold, now: o.Now,
		places: make(chan struct{}, maxRunning), flights: map[string]*flight{},
	}
}

// Close ends the counts that still run and returns when they have.
func (c *Counts) Close() {
	c.mu.Lock()
	c.closed = true
	for _, f := range c.flights {
		f.cancel()
	}
	c.mu.Unlock()
	c.running.Wait()
}

// Count counts the documents of a list: from the cache, or by a count that all share who ask for the same one
// meanwhile. The caller waits no longer than the counter's timeout and its own context; the count goes on without it.
// It is unknown where that was too short, and where the count failed.
func (c *Counts) Count(ctx context.Context, r Request) pagination.Total {
	filter := r.filter()
	key, shared := r.key()
	if !shared {
		return c.counter.Count(ctx, r.Collection, filter, r.Hint)
	}
	ctx, cancel := context.WithTimeout(ctx, c.counter.Timeout)
	defer cancel()
	f, late := c.join(ctx, key, func(ctx context.Context) pagination.Total {
		return c.patient.Count(ctx, r.Collection, filter, r.Hint)
	})
	if f == nil {
		return pagination.Total{Kind: pagination.TotalUnknown}
	}
	defer c.leave(f)
	select {
	case <-f.done:
		if late {
			return pagination.CachedTotal(*f.total.Count, f.taken)
		}
		return f.total
	case <-ctx.Done():
		return pagination.Total{Kind: pagination.TotalUnknown}
	}
}

// filter is all that a document must match.
func (r Request) filter() bson.D {
	switch {
	case len(r.Fixed) == 0:
		return r.Filter
	case len(r.Filter) == 0:
		return r.Fixed
	default:
		return bson.D{{Key: "$and", Value: bson.A{r.Fixed, r.Filter}}}
	}
}
