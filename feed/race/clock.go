package race

import (
	"context"
	"fmt"
	"time"
)

const (
	// clockSamples are taken to find a fast round trip: the faster it is, the less is left open.
	clockSamples = 20
	// The database's clock is read in whole milliseconds, cut off: the true time is half of one later, give or take
	// as much.
	halfTick = 500 * time.Microsecond
)

// Clock reads the database's clock, by which stamps are made.
type Clock func(ctx context.Context) (time.Time, error)

// reckoning tells the database's time from this process's monotonic clock. What it tells is exact to within
// uncertainty: half of the fastest round trip that was seen, and half a millisecond.
type reckoning struct {
	local, database time.Time // the same moment on both clocks
	uncertainty     time.Duration
}

// reckon compares the clocks.
func reckon(ctx context.Context, read Clock) (reckoning, error) {
	var best reckoning
	for range clockSamples {
		asked := time.Now()
		database, err := read(ctx)
		if err != nil {
			return reckoning{}, fmt.Errorf("read the database's clock: %w", err)
		}
		half := time.Since(asked) / 2
		if uncertainty := half + halfTick; best.local.IsZero() || uncertainty < best.uncertainty {
			best = reckoning{local: asked.Add(half), database: database.Add(halfTick), uncertainty: uncertainty}
		}
	}
	return best, nil
}

// at is the database's time at a moment of this process.
func (r reckoning) at(local time.Time) time.Time { return r.database.Add(local.Sub(r.local)) }

// widen takes a later comparison into account: by as much as the clocks went apart meanwhile, what was told in between
// may be wrong.
func (r reckoning) widen(later reckoning) reckoning {
	drift := later.database.Sub(r.at(later.local)).Abs()
	r.uncertainty = max(r.uncertainty, later.uncertainty) + drift
	return r
}
