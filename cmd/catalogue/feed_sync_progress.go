package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	follower "catalogue/feed/sync"
	"catalogue/internal/importing/report"
)

// syncLineInterval is how often progress is a line of its own, where it is no bar.
const syncLineInterval = 2 * time.Second

// syncProgress shows a counter on a terminal, or a bar where it is told what to expect, and a line now and then elsewhere.
// Its methods may be called at once.
type syncProgress struct {
	out      io.Writer
	resource string
	now      func() time.Time

	mu    sync.Mutex
	bar   *progressbar.ProgressBar // nil where out is no terminal
	total int                      // rows that are expected; 0 where nobody knows
	rows  int
	shown time.Time // when the last line was written
}

func newSyncProgress(out io.Writer, resource string, now func() time.Time) *syncProgress {
	p := &syncProgress{out: out, resource: resource, now: now, shown: now()}
	if report.IsTerminal(out) {
		p.bar = newSyncCounter(out, resource)
	}
	return p
}

// newSyncCounter is a bar whose end is not known. It is drawn with each page, and not by a clock of its own, which
// would go on behind done.
func newSyncCounter(out io.Writer, resource string) *progressbar.ProgressBar {
	return progressbar.NewOptions(-1, progressbar.OptionSetWriter(out), progressbar.OptionSetDescription(resource),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetSpinnerChangeInterval(0))
}

// expect says how many rows will come, more or less. It is called before the first does.
func (p *syncProgress) expect(rows int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total = rows
	if p.bar != nil && rows > 0 {
		p.bar.ChangeMax(rows)
	}
}

// reach moves the end of the bar where fewer rows come than were expected, or more.
func (p *syncProgress) reach(ended bool) {
	switch {
	case p.total == 0:
	case ended:
		p.bar.ChangeMax(max(p.rows, 1))
	case p.rows >= p.total: // a full bar would be an end
		p.bar.ChangeMax(p.rows + 1)
	}
}

func (p *syncProgress) show(step follower.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rows += step.Rows
	state := fmt.Sprintf("%s: %d objects", p.resource, step.Entries)
	if step.CaughtUp {
		state += ", caught up"
	}
	if p.bar != nil { // a counter that cannot be drawn is no reason to stop
		p.bar.Describe(state)
		p.reach(step.CaughtUp)
		_ = p.bar.Add(step.Rows)
		return
	}
	if now := p.now(); step.Rows > 0 && now.Sub(p.shown) >= syncLineInterval {
		p.shown = now
		total := ""
		if p.total > 0 {
			total = fmt.Sprintf(" of about %d", p.total)
		}
		_, _ = fmt.Fprintf(p.out, "%s; %d rows%s read\n", state, p.rows, total)
	}
}

// note writes a line of its own.
func (p *syncProgress) note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	_, _ = fmt.Fprintf(p.out, "%s: %s\n", p.resource, text)
}

// done ends the counter's line.
func (p *syncProgress) done() {
	if p.bar != nil {
		_ = p.bar.Exit()
		_, _ = fmt.Fprintln(p.out)
	}
}
