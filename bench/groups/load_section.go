package groups

import (
	"fmt"
	"strconv"

	"catalogue/bench/measure"
	"catalogue/bench/report"
)

func (l load) section(rows int, idle, after int64, stages []stage) report.Section {
	last := stages[len(stages)-1]
	out := report.Section{
		ID: "load", Title: "Many clients at once", Text: fmt.Sprintf(loadText, number(rows), l.limit),
		Tables: []report.Table{{
			Title: "Clients that walk at once",
			Columns: []string{
				"Clients", "Seconds", "Pages a second", "p50 / p95 / p99, ms", "Errors", "Catalogue: processor time a page, ms", "Its memory at most, MB",
			},
		}, {
			Title:   "Memory of the catalogue, MB",
			Columns: []string{"Just started", "At most under load", "Right after"},
		}},
	}
	rate := report.Series{Name: "pages a second"}
	p50, p99 := report.Series{Name: "p50"}, report.Series{Name: "p99"}
	peak := int64(0)
	for _, s := range stages {
		m := s.pages.Summary()
		m.Labels = map[string]string{"clients": strconv.Itoa(s.clients)}
		out.Measurements = append(out.Measurements, m)
		out.Tables[0].Rows = append(out.Tables[0].Rows, []string{
			strconv.Itoa(s.clients), fmt.Sprintf("%.0f", s.took.Seconds()), fmt.Sprintf("%.0f", s.rate()), percentiles(s.pages),
			s.failures(), millis(measure.Milliseconds(s.cpu) / max(float64(len(s.pages.Times)), 1)), fmt.Sprintf("%.0f", megabytes(s.peak)),
		})
		x := float64(s.clients)
		rate.Points = append(rate.Points, report.Point{X: x, Y: s.rate(), Low: s.rate(), High: s.rate()})
		p50.Points = append(p50.Points, point(x, m.P50))
		p99.Points = append(p99.Points, point(x, m.P99))
		peak = max(peak, s.peak)
	}
	out.Tables[1].Rows = [][]string{{
		fmt.Sprintf("%.1f", megabytes(idle)), fmt.Sprintf("%.1f", megabytes(peak)), fmt.Sprintf("%.1f", megabytes(after)),
	}}
	out.Charts = []report.Chart{
		{
			File: "load-rate.svg", Title: "Pages a second by clients", X: "clients at once", Y: "pages a second",
			LogX: true, Series: []report.Series{rate},
		},
		{
			File: "load-time.svg", Title: "Time of a page by clients", X: "clients at once", Y: "ms",
			LogX: true, LogY: true, Series: []report.Series{p50, p99},
		},
	}
	out.Goals = []report.Goal{errorGoal(last), idleGoal(idle)}
	return out
}

// failures is the number of errors, with the first.
func (s stage) failures() string {
	if s.first == nil {
		return strconv.Itoa(s.errors)
	}
	return fmt.Sprintf("%d, the first: %s", s.errors, s.first)
}

func errorGoal(s stage) report.Goal {
	out := report.Goal{
		Text:  fmt.Sprintf("%d clients that walk at once for %.0f s get no error", s.clients, s.took.Seconds()),
		Value: exactly(float64(s.errors)), Unit: "errors", Limit: 0,
	}
	if !out.Met() {
		out.Reason = "the first: " + s.first.Error()
	}
	return out
}

func idleGoal(idle int64) report.Goal {
	out := report.Goal{
		Text:  fmt.Sprintf("A catalogue that has just started takes at most %d MB of memory", idleLimit),
		Value: exactly(megabytes(idle)), Unit: "MB", Limit: idleLimit,
	}
	if !out.Met() {
		out.Reason = fmt.Sprintf("the kernel counts %.1f MB as resident", megabytes(idle))
	}
	return out
}

func point(x float64, y report.Interval) report.Point {
	return report.Point{X: x, Y: y.Value, Low: y.Low, High: y.High}
}
