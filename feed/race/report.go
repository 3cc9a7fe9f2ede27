package race

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/instant"
)

// nameWidth is that of the longest name of a line in the table.
const nameWidth = len("  acknowledged within the delay")

// shownRows of the lost ones are listed under the table, for each ordering.
const shownRows = 10

// Report is a result for programs. Times are in milliseconds where the name says so.
type Report struct {
	Began         string            `json:"began"` // RFC 3339, by the database's clock
	Seconds       float64           `json:"seconds"`
	Writers       int               `json:"writers"`
	SlowShare     float64           `json:"slow_share"`
	SlowTimeMS    float64           `json:"slow_time_ms"`
	DelayMS       float64           `json:"delay_ms"`
	ClockErrorMS  float64           `json:"clock_error_ms"` // at most, of every lateness
	Writes        int               `json:"writes"`
	WritesASecond float64           `json:"writes_a_second"`
	Orderings     []OrderingOutcome `json:"orderings"`
	Picture       string            `json:"picture"` // the path; empty where there is none
}

// OrderingOutcome is what came of one ordering.
type OrderingOutcome struct {
	Ordering     string    `json:"ordering"`
	Lossless     bool      `json:"lossless"` // it promises to lose nothing within the delay
	Broken       bool      `json:"broken"`   // it did not keep that
	Lost         int       `json:"lost"`
	LostWithin   int       `json:"lost_within_delay"`
	LostSlower   int       `json:"lost_slower_than_delay"`
	VisibleP50MS float64   `json:"visible_p50_ms"`
	VisibleP99MS float64   `json:"visible_p99_ms"`
	LostRows     []LostRow `json:"lost_rows"`
}

// LostRow is a write that an ordering lost.
type LostRow struct {
	ID           bson.ObjectID   `json:"id"`
	DateModified instant.Instant `json:"dateModified"`
	LateMS       float64         `json:"late_ms"` // acknowledged so long after its stamp
	Slow         bool            `json:"slow"`    // it held its transaction open
}

// Report is the result with the path of its picture, which may be empty.
func (r Result) Report(picture string) Report {
	out := Report{
		Began: r.Began.UTC().Format(instant.Layout), Seconds: r.Elapsed.Seconds(),
		Writers: r.Plan.Writers, SlowShare: r.Plan.SlowShare, SlowTimeMS: millis(r.Plan.SlowTime),
		DelayMS: millis(r.Plan.Delay), ClockErrorMS: millis(r.Uncertainty),
		Writes: len(r.Writes), WritesASecond: r.Rate(), Picture: picture,
	}
	for _, o := range r.Outcomes {
		row := OrderingOutcome{
			Ordering: o.Ordering, Lossless: o.Lossless, Broken: o.Broken(),
			Lost: len(o.Lost), LostWithin: o.Within, LostSlower: o.Slower(),
			VisibleP50MS: millis(o.VisibleP50), VisibleP99MS: millis(o.VisibleP99), LostRows: []LostRow{},
		}
		for _, w := range o.Lost {
			row.LostRows = append(row.LostRows,
				LostRow{ID: w.ID, DateModified: w.Stamp, LateMS: millis(w.Late), Slow: w.Slow})
		}
		out.Orderings = append(out.Orderings, row)
	}
	return out
}

// JSON writes the report as one object.
func (r Report) JSON(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// Table writes the report for people: a column an ordering, then the lost rows.
func (r Report) Table(out io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%d writes by %d writers in %.1f s; %.3g %% of them held open for %s; delay %s; clocks compared to %.1f ms\n\n",
		r.Writes, r.Writers, r.Seconds, 100*r.SlowShare, duration(r.SlowTimeMS), duration(r.DelayMS), r.ClockErrorMS)
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, line := range r.lines() {
		_, _ = fmt.Fprintf(table, "%-*s\t", nameWidth, line.name) // into memory: it cannot fail
		for _, o := range r.Orderings {
			_, _ = io.WriteString(table, line.cell(o)+"\t")
		}
		_, _ = io.WriteString(table, "\n")
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, o := range r.Orderings {
		o.list(&text)
	}
	if r.Picture != "" {
		fmt.Fprintf(&text, "\nThe picture is %s\n", r.Picture)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// line is one of the table: what it is called, and what it says of an ordering.
type line struct {
	name string
	cell func(OrderingOutcome) string
}

func (r Report) lines() []line {
	return []line{
		{"ordering", func(o OrderingOutcome) string { return o.Ordering }},
		{"writes a second", func(OrderingOutcome) string { return fmt.Sprintf("%.0f", r.WritesASecond) }},
		{"rows lost", func(o OrderingOutcome) string { return strconv.Itoa(o.Lost) }},
		{"  acknowledged within the delay", func(o OrderingOutcome) string { return strconv.Itoa(o.LostWithin) }},
		{"  slower than the delay", func(o OrderingOutcome) string { return strconv.Itoa(o.LostSlower) }},
		{"lost rows were late by", lateness},
		{"visible after, p50", func(o OrderingOutcome) string { return fmt.Sprintf("%.0f ms", o.VisibleP50MS) }},
		{"visible after, p99", func(o OrderingOutcome) string { return fmt.Sprintf("%.0f ms", o.VisibleP99MS) }},
	}
}

// lateness is the range of the lost rows' lateness.
func lateness(o OrderingOutcome) string {
	if len(o.LostRows) == 0 {
		return "–"
	}
	least, most := o.LostRows[0].LateMS, o.LostRows[0].LateMS
	for _, row := range o.LostRows {
		least, most = min(least, row.LateMS), max(most, row.LateMS)
	}
	return fmt.Sprintf("%.0f–%.0f ms", least, most)
}

// list writes the first of the lost rows, each with how late it was.
func (o OrderingOutcome) list(out io.Writer) {
	if len(o.LostRows) == 0 {
		return
	}
	_, _ = fmt.Fprintf(out, "\nlost with %s:\n", o.Ordering)
	for _, row := range o.LostRows[:min(len(o.LostRows), shownRows)] {
		_, _ = fmt.Fprintf(out, "  %s  %s  %.0f ms late\n", row.ID.Hex(), row.DateModified, row.LateMS)
	}
	if more := len(o.LostRows) - shownRows; more > 0 {
		_, _ = fmt.Fprintf(out, "  and %d more: --format json lists them all\n", more)
	}
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func duration(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
