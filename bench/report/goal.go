package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Goal is one promise with its figure. It stays in the table whether it is met or not.
type Goal struct {
	Text  string   `json:"text"`  // what is promised, the limit among it
	Value Interval `json:"value"` // what was measured
	Unit  string   `json:"unit"`  // "×", "MB", "errors"
	Limit float64  `json:"limit"`
	// AtLeast: the value has to reach the limit; otherwise it must not exceed it.
	AtLeast bool `json:"at_least"`
	// NotMeasured: the run has no figure for it, for the reason given.
	NotMeasured bool   `json:"not_measured,omitempty"`
	Reason      string `json:"reason,omitempty"` // why it is not met, made of measured figures
}

// Met compares the estimate with the limit. An interval that lies on both sides of it does not excuse a miss. What was
// not measured is not met.
func (g Goal) Met() bool {
	if g.NotMeasured {
		return false
	}
	if g.AtLeast {
		return g.Value.Value >= g.Limit
	}
	return g.Value.Value <= g.Limit
}

// Result is "met", "not met" or "not measured".
func (g Goal) Result() string {
	switch {
	case g.NotMeasured:
		return "not measured"
	case g.Met():
		return "met"
	default:
		return "not met"
	}
}

// Figure is the value with its unit, or a dash.
func (g Goal) Figure() string {
	if g.NotMeasured {
		return "–"
	}
	return strings.TrimSpace(g.Value.String() + " " + g.Unit)
}

// Goals are those of all sections, in their order.
func (r Report) Goals() []Goal {
	var all []Goal
	for _, s := range r.Sections {
		all = append(all, s.Goals...)
	}
	return all
}

// WriteGoals writes the table of goals for a terminal.
func (r Report) WriteGoals(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	// tabwriter keeps what is written until Flush, whose error is all there can be.
	_, _ = fmt.Fprint(table, "RESULT\tMEASURED\tGOAL\n")
	for _, g := range r.Goals() {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", g.Result(), g.Figure(), oneLine(g.Text))
		if g.Reason != "" {
			_, _ = fmt.Fprintf(table, "\t\t  %s\n", oneLine(g.Reason))
		}
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("write the goals: %w", err)
	}
	return nil
}

// oneLine is text without breaks and tabs, which tables have none of.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
