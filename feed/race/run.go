package race

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

// readHeaderTimeout bounds what a connection of the loopback server may hang. Only followers know it.
const readHeaderTimeout = 10 * time.Second

// Result is what came of a race.
type Result struct {
	Plan        Plan
	Began       time.Time     // the writing, by the database's clock
	Elapsed     time.Duration // of the writing
	Uncertainty time.Duration // of every Write.Late
	Writes      []Write
	Outcomes    []Outcome // in the order of the orderings
}

// Rate is the acknowledged writes a second.
func (r Result) Rate() float64 { return float64(len(r.Writes)) / max(r.Elapsed.Seconds(), 0.001) }

// Broken is an error where an ordering lost a write that it promises not to lose.
func (r Result) Broken() error {
	var broken []error
	for _, o := range r.Outcomes {
		if o.Broken() {
			broken = append(broken, fmt.Errorf("the ordering %s lost %d rows that were acknowledged within the delay of %s",
				o.Ordering, o.Within, r.Plan.Delay))
		}
	}
	return errors.Join(broken...)
}

// Run races the orderings. The database that the writer writes to, and that the handlers read, must hold no rows of the
// feed yet.
func Run(ctx context.Context, plan Plan, w Writer, clock Clock, orderings ...Ordering) (Result, error) {
	before, err := reckon(ctx, clock)
	if err != nil {
		return Result{}, err
	}
	out := Result{Plan: plan}
	began := time.Now()
	sightings := make([]Sightings, len(orderings))
	end := &finish{ended: make(chan struct{})}
	group, running := errgroup.WithContext(ctx)
	for i, o := range orderings {
		group.Go(func() (err error) {
			sightings[i], err = followOrdering(running, o, end)
			return err
		})
	}
	group.Go(func() (err error) {
		if out.Writes, err = writeAll(running, plan, w); err != nil {
			return err
		}
		out.Elapsed = time.Since(began)
		end.announce(time.Now().Add(plan.Delay + settle))
		return nil
	})
	if err := group.Wait(); err != nil {
		return Result{}, err
	}
	after, err := reckon(ctx, clock)
	if err != nil {
		return Result{}, err
	}
	out.judge(before.widen(after), began, orderings, sightings)
	return out, nil
}

// judge completes a result, once everything is written and read.
func (r *Result) judge(clock reckoning, began time.Time, orderings []Ordering, sightings []Sightings) {
	r.Began, r.Uncertainty = clock.at(began), clock.uncertainty
	for i := range r.Writes {
		w := &r.Writes[i]
		w.Late = clock.at(w.Acked).Sub(w.Stamp.Time())
	}
	for i, o := range orderings {
		outcome := compare(r.Writes, sightings[i], r.Plan.Delay, r.Uncertainty)
		outcome.Ordering, outcome.Lossless = o.Name, o.Lossless
		r.Outcomes = append(r.Outcomes, outcome)
	}
}

// followOrdering serves an ordering's feed on a port of its own for as long as its follower reads.
func followOrdering(ctx context.Context, o Ordering, end *finish) (Sightings, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the followers: %w", err)
	}
	server := &http.Server{Handler: o.Handler, ReadHeaderTimeout: readHeaderTimeout}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // it ends with Close; if it ended before, the follower would tell
	}()
	transport := &http.Transport{}
	defer func() {
		transport.CloseIdleConnections()
		_ = server.Close() // nobody reads any more
		<-served
	}()
	f := follower{client: &http.Client{Transport: transport}, feed: "http://" + listener.Addr().String() + FeedPath}
	seen, err := f.follow(ctx, end)
	if err != nil {
		return nil, fmt.Errorf("ordering %s: %w", o.Name, err)
	}
	return seen, nil
}
