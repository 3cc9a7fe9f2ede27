// Package report shows people how far an import is, and what came of it.
package report

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"catalogue/internal/importing"
)

// lineInterval is how often progress is a line of its own, where it is no bar.
const lineInterval = 2 * time.Second

// Progress shows how far a run is: a bar on a terminal, plain lines elsewhere.
type Progress struct {
	out      io.Writer
	terminal bool
	now      func() time.Time
	phase    importing.Phase
	bar      *progressbar.ProgressBar
	shown    time.Time // when the last line was written
}

// NewProgress shows progress on out. now is the clock of the lines.
func NewProgress(out io.Writer, terminal bool, now func() time.Time) *Progress {
	return &Progress{out: out, terminal: terminal, now: now, shown: now()}
}

// IsTerminal reports whether out is one.
func IsTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Show is called at the end of each batch.
func (p *Progress) Show(step importing.Progress) {
	if !p.terminal {
		p.line(step)
		return
	}
	if p.phase != step.Phase {
		p.Done()
		p.phase = step.Phase
		p.bar = progressbar.NewOptions64(max(step.Total, 1), // a bar of nothing never ends
			progressbar.OptionSetWriter(p.out),
			progressbar.OptionSetDescription(fmt.Sprintf("%-9s", step.Phase)),
			progressbar.OptionShowBytes(true),
			progressbar.OptionFullWidth(),
			progressbar.OptionThrottle(100*time.Millisecond),
		)
	}
	_ = p.bar.Set64(step.Bytes) // a bar that cannot be drawn is no reason to stop an import
}

// Done ends the bar's line.
func (p *Progress) Done() {
	if p.bar != nil {
		_ = p.bar.Exit()
		_, _ = fmt.Fprintln(p.out)
		p.bar = nil
	}
}

func (p *Progress) line(step importing.Progress) {
	if now := p.now(); now.Sub(p.shown) >= lineInterval {
		p.shown = now
		percent := 100 * float64(step.Bytes) / float64(max(step.Total, 1))
		_, _ = fmt.Fprintf(p.out, "%-9s  %3.0f %%  %d rows, %d rejected\n", step.Phase, percent, step.Rows, step.Rejected)
	}
}

// where shows the first lines of a kind of warnings, of which there are total.
func where(lines []int64, total int64) string {
	if len(lines) == 0 {
		return ""
	}
	shown := make([]string, len(lines))
	for i, line := range lines {
		shown[i] = strconv.FormatInt(line, 10)
	}
	out := ": line "
	if total > 1 {
		out = ": lines "
	}
	out += strings.Join(shown, ", ")
	if total > int64(len(lines)) {
		out += " …"
	}
	return out
}

// Summary prints what became of the rows.
func Summary(out io.Writer, s importing.Summary) error {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, line := range []struct {
		name  string
		value int64
	}{
		{"read", s.Read},
		{"inserted", s.Inserted},
		{"updated", s.Updated},
		{"unchanged", s.Unchanged},
		{"duplicates", s.Duplicates},
		{"superseded", s.Superseded},
		{"rejected", s.Rejected},
	} {
		_, _ = fmt.Fprintf(table, "%s\t%d\n", line.name, line.value)
	}
	for _, kind := range slices.Sorted(maps.Keys(s.Warnings)) {
		_, _ = fmt.Fprintf(table, "warning\t%d\t%s%s\n", s.Warnings[kind], kind, where(s.WarningLines[kind], s.Warnings[kind]))
	}
	for _, column := range s.Unseen {
		_, _ = fmt.Fprintf(table, "warning\t\t%s: %q\n", importing.WarnColumnNeverPresent, column)
	}
	_, _ = fmt.Fprintf(table, "rate\t%.0f\trows a second, %.1f s\n", s.Rate(), s.Elapsed.Seconds())
	if err := table.Flush(); err != nil {
		return err
	}
	if s.Rejects != "" {
		fmt.Fprintf(&text, "The rejected rows are in %s.\n", s.Rejects)
	}
	if !s.Changed() {
		text.WriteString("Nothing has changed.\n")
	}
	_, err := io.WriteString(out, text.String())
	return err
}
