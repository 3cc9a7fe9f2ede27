package race

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// patchEvery makes every eighth write of a writer a patch of the object that it has just created. The other objects are
// written once: a lost state that a later one covers is no loss in a feed of states, and would not be seen.
const patchEvery = 8

// writeTimeout bounds one write, beside the time that it is held open.
const writeTimeout = 30 * time.Second

// Write is a write that was acknowledged.
type Write struct {
	Version
	Slow  bool      // it held its transaction open
	Acked time.Time // when its writer had the answer, by this process's clock
	// Late is how long after its stamp it was acknowledged, by the database's clock: at least as long as the commit
	// took. It may be off by the uncertainty of the clocks.
	Late time.Duration
}

// writeAll lets every writer write until the time is up or there are enough. A write that has begun is completed, also
// where ctx ends: the server would go on with a command that was left alone, and make the collection anew after whoever
// cleans up has dropped it.
func writeAll(ctx context.Context, plan Plan, w Writer) ([]Write, error) {
	group, ctx := errgroup.WithContext(ctx)
	var begun atomic.Int64
	end := time.Now().Add(plan.Duration)
	more := func() bool {
		return ctx.Err() == nil && time.Now().Before(end) && (plan.Writes == 0 || begun.Add(1) <= int64(plan.Writes))
	}
	each := make([][]Write, plan.Writers)
	for n := range plan.Writers {
		group.Go(func() error {
			p := pen{writer: w, plan: plan, owed: float64(n) / float64(plan.Writers)}
			for more() {
				if err := p.write(ctx); err != nil {
					return fmt.Errorf("write: %w", err)
				}
			}
			each[n] = p.made
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(each...), nil
}

// pen is one writer at work.
type pen struct {
	writer Writer
	plan   Plan
	// owed adds up to one for every slow write that is due. Each writer starts with another fraction: if all were slow
	// at once, nothing would overtake them.
	owed float64
	made []Write
}

func (p *pen) write(ctx context.Context) error {
	var hold Hold
	if p.owed += p.plan.SlowShare; p.owed >= 1 {
		p.owed--
		hold = func(context.Context) error { return wait(ctx, p.plan.SlowTime) } // a race that ends lets go at once
	}
	writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout+p.plan.SlowTime)
	defer cancel()
	version, err := p.next(writing, hold)
	if err != nil {
		return err
	}
	p.made = append(p.made, Write{Version: version, Slow: hold != nil, Acked: time.Now()})
	return nil
}

func (p *pen) next(ctx context.Context, hold Hold) (Version, error) {
	if n := len(p.made); n%patchEvery == patchEvery-1 {
		return p.writer.Patch(ctx, p.made[n-1].ID, hold)
	}
	return p.writer.Create(ctx, hold)
}

// wait returns after d, or with the error of ctx.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
