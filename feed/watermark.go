package feed

import (
	"context"
	"time"
)

// Watermark holds back rows younger than a delay by the database's clock. No reader loses a row whose write committed
// within the delay; one that took longer may be lost.
type Watermark struct {
	clock Clock
	delay time.Duration
}

// NewWatermark makes a watermark. delay is a whole number of milliseconds, and longer than a commit takes and a failover
// sets the clock back.
func NewWatermark(clock Clock, delay time.Duration) Watermark {
	return Watermark{clock: clock, delay: delay}
}

// Horizon implements Ordering. Rows are held back from every forward page, and from the first descending one, whose
// prev_page begins a forward walk. A descending page with an offset has nothing young to show that its walk has not passed.
func (w Watermark) Horizon(ctx context.Context, walk Walk) (float64, error) {
	if walk.Descending && !walk.First {
		return noHorizon(), nil
	}
	now, err := w.clock(ctx)
	if err != nil {
		return 0, err
	}
	return float64(now.UnixMilli()-w.delay.Milliseconds()) / millisPerSecond, nil
}
