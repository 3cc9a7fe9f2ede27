package counting

import (
	"context"
	"time"

	"catalogue/pagination"
)

// flight is one count with all who wait for it.
type flight struct {
	key    string
	cancel context.CancelFunc
	done   chan struct{} // closed when total is there
	total  pagination.Total
	taken  time.Time // when it was counted, where it was

	// under the lock of Counts
	waiting int
	counts  bool // the database is at it
	landed  bool
}

// join takes part in the count of that key, and starts it where there is none. late says that it was over already. It
// returns nil after Close.
func (c *Counts) join(
	ctx context.Context, key string, count func(context.Context) pagination.Total,
) (joined *flight, late bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, false
	}
	f := c.flights[key]
	if f == nil {
		// The values of the first caller's context go along, for logs; its end does not.
		ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		f = &flight{key: key, cancel: cancel, done: make(chan struct{})}
		c.flights[key] = f
		c.running.Go(func() { c.fly(ctx, f, count) })
	}
	f.waiting++
	return f, f.landed
}

// leave ends a count that nobody waits for any more and that has not begun. One that has goes on: the next who ask
// profit from it.
func (c *Counts) leave(f *flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.waiting--
	if f.waiting == 0 && !f.counts {
		f.cancel()
		c.forget(f) // who comes next must not join it
	}
}

// fly looks into the cache, counts, and keeps what it found. It can be joined until that is done and for the hold
// after it: who comes later finds it in the cache, so that no moment is left in which a second count would start. What
// is not kept is for those alone who waited for it.
func (c *Counts) fly(ctx context.Context, f *flight, count func(context.Context) pagination.Total) {
	defer f.cancel()
	if kept, found := c.kept(ctx, f.key); found {
		c.land(f, kept.total(), false)
		return
	}
	if !c.begin(ctx, f) {
		c.land(f, pagination.Total{Kind: pagination.TotalUnknown}, false)
		return
	}
	f.taken = c.now() // before the count: it knows everything that was written until then
	total := count(ctx)
	<-c.places
	if total.Kind != pagination.TotalExact || c.cache == nil {
		c.land(f, total, false)
		return
	}
	c.land(f, total, true) // before the cache is told, which nobody needs to wait for
	c.keep(ctx, f.key, stored{count: *total.Count, taken: f.taken})
	linger(ctx, c.hold)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(f)
}

// linger waits, at most until ctx is done.
func linger(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// land tells all who wait.
func (c *Counts) land(f *flight, total pagination.Total, joinable bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.total, f.landed = total, true
	if !joinable {
		c.forget(f)
	}
	close(f.done)
}

// forget needs the lock.
func (c *Counts) forget(f *flight) {
	if c.flights[f.key] == f {
		delete(c.flights, f.key)
	}
}

// begin waits for a place among the counts that run. It reports false where nobody waits for this one any more.
func (c *Counts) begin(ctx context.Context, f *flight) bool {
	select {
	case c.places <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() != nil {
		<-c.places
		return false
	}
	f.counts = true
	return true
}
