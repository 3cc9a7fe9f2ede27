package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"catalogue/internal/importing/report"
)

// migrateLineInterval is how often progress is a line of its own, where it is no bar. Builds can take hours.
const migrateLineInterval = 10 * time.Second

// workStep is how far one piece of work is.
type workStep struct {
	work        string // what is done: "build creatives {name: 1, _id: 1}"
	detail      string // how far it is, in words
	done, total int64  // without total nobody knows how much there is
}

// migrateProgress shows what goes on: a bar on a terminal, a line now and then elsewhere.
type migrateProgress struct {
	out      io.Writer
	terminal bool
	now      func() time.Time

	bar   *progressbar.ProgressBar // nil unless one is drawn
	drawn workStep                 // what the bar was made for
	shown time.Time                // when the last line was written
}

func newMigrateProgress(out io.Writer, now func() time.Time) *migrateProgress {
	return &migrateProgress{out: out, terminal: report.IsTerminal(out), now: now, shown: now()}
}

func (p *migrateProgress) show(s workStep) {
	if p.terminal {
		p.draw(s)
		return
	}
	now := p.now()
	if now.Sub(p.shown) < migrateLineInterval {
		return
	}
	p.shown = now
	text := s.work + ": " + s.detail
	if s.total > 0 {
		text += fmt.Sprintf(" %d %%", 100*s.done/s.total)
	}
	_, _ = fmt.Fprintln(p.out, text) // the work goes on without a reader
}

// draw moves the bar, or begins another one where the work or its phase is another.
func (p *migrateProgress) draw(s workStep) {
	if p.bar == nil || s.work != p.drawn.work || s.total != p.drawn.total {
		p.clear()
		p.drawn = s
		length := s.total
		if length <= 0 {
			length = -1
		}
		p.bar = progressbar.NewOptions64(length, progressbar.OptionSetWriter(p.out), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetSpinnerChangeInterval(0)) // else a goroutine of it stays behind
	}
	// A bar that cannot be drawn is no reason to stop.
	p.bar.Describe(s.work + " " + s.detail)
	_ = p.bar.Set64(s.done)
}

// clear takes the bar away, so that a line can be written in its place.
func (p *migrateProgress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
}
