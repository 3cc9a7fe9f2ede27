package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"catalogue/bench/groups"
	importreport "catalogue/internal/importing/report"
)

const (
	// progressLine is how often progress is a line of its own, where it is no bar.
	progressLine = 15 * time.Second
	redraw       = 100 * time.Millisecond
	barWidth     = 30
	// stepsOfGroup are those of the bar for each group, whatever it counts itself.
	stepsOfGroup = 1000
)

// progress shows what goes on: a bar over all groups on a terminal; elsewhere a line for each group, and one now and
// then. Its methods may be called from many goroutines.
type progress struct {
	out   io.Writer
	now   func() time.Time
	count int // of groups

	mu    sync.Mutex
	bar   *progressbar.ProgressBar // nil unless one is drawn
	index int                      // of the present group
	name  string                   // of the present group, with its number
	shown time.Time                // when the last line was written
}

func newProgress(out io.Writer, count int) *progress {
	p := &progress{out: out, now: time.Now, count: count}
	if importreport.IsTerminal(out) {
		p.bar = newBar(out, count)
	}
	return p
}

func newBar(out io.Writer, count int) *progressbar.ProgressBar {
	return progressbar.NewOptions(count*stepsOfGroup, progressbar.OptionSetWriter(out), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(true), progressbar.OptionThrottle(redraw),
		progressbar.OptionSetWidth(barWidth), progressbar.OptionSetSpinnerChangeInterval(0)) // else a goroutine of it stays behind
}

// begin shows that a group begins; index counts from zero.
func (p *progress) begin(index int, g groups.Group) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.index, p.name = index, fmt.Sprintf("%d/%d %s", index+1, p.count, g.ID)
	p.draw(p.name, 0)
	if p.bar == nil {
		p.line(p.name + ": " + g.Title)
	}
}

// at shows how far the present group is.
func (p *progress) at(done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	part := min(max(float64(done)/float64(max(total, 1)), 0), 1)
	p.draw(p.name, part)
	p.lineNowAndThen(fmt.Sprintf("%s: %.0f %%", p.name, 100*part))
}

// loading shows how far the data of a size is. The bar stays where it is.
func (p *progress) loading(done, rows int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := fmt.Sprintf("%s: %.0f %% of %d creatives are ready", p.name, 100*float64(done)/float64(max(rows, 1)), rows)
	if p.bar != nil {
		p.bar.Describe(text)
	}
	p.lineNowAndThen(text)
}

// say writes a line that stays.
func (p *progress) say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	p.line(text)
}

// finish takes the bar away.
func (p *progress) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

// draw moves the bar. One that cannot be drawn is no reason to stop.
func (p *progress) draw(text string, part float64) {
	if p.bar != nil {
		p.bar.Describe(text)
		_ = p.bar.Set(p.index*stepsOfGroup + int(part*stepsOfGroup))
	}
}

func (p *progress) lineNowAndThen(text string) {
	if p.bar == nil && p.now().Sub(p.shown) >= progressLine {
		p.line(text)
	}
}

// line writes a line; the work goes on without a reader.
func (p *progress) line(text string) {
	p.shown = p.now()
	_, _ = fmt.Fprintln(p.out, text)
}
