package groups

import (
	"context"
	"fmt"

	"catalogue/bench/measure"
	"catalogue/bench/report"
	"catalogue/creatives"
	"catalogue/pagination"
)

// overheadLimit is × the same reads by the driver alone.
const overheadLimit = 1.25

const overheadText = `A page of %d through HTTP against the very reads that it takes, run by the driver in the process of the benchmark: the
same find commands with the same deadline and hint, their documents fetched and not decoded. Both are one client on one
connection, at %s rows, interleaved. GET /healthz reads nothing: what it takes is the price of a request as such, and the
least that any service can add.`

// overhead says how pages are compared with their reads.
type overhead struct {
	limit, window  int
	warmup, rounds int
}

// Overhead times pages against their reads by the driver alone.
func Overhead(ctx context.Context, e *Env) (report.Section, error) {
	return overhead{limit: pageLimit, window: pageWindow, warmup: 100, rounds: 2000}.run(ctx, e)
}

// pair is a page and its reads.
type pair struct {
	name         string
	http, driver measure.Samples
}

func (o overhead) run(ctx context.Context, e *Env) (report.Section, error) {
	rows := e.smallest()
	data, server, err := e.served(ctx, rows)
	if err != nil {
		return report.Section{}, err
	}
	whole, err := newList(creatives.List(), "-created_at")
	if err != nil {
		return report.Section{}, err
	}
	gallery, err := newList(creatives.Gallery(), "-created_at")
	if err != nil {
		return report.Section{}, err
	}
	subjects := []measure.Subject{{
		Name: "GET /healthz", Run: func(ctx context.Context) error { _, err := server.Page(ctx, "/healthz"); return err },
	}}
	var pairs []pair
	for _, l := range []list{whole, gallery} {
		for _, at := range []place{first(), {pagination.Values, deep}} {
			found, err := l.pages(ctx, data.Database, at, o.limit, o.window)
			if err != nil {
				return report.Section{}, err
			}
			if found.none() {
				return report.Section{}, fmt.Errorf("%d rows are too few for a page at %s", rows, at)
			}
			name := fmt.Sprintf("%s, %s", l.path, at)
			labels := map[string]string{"list": l.path, "place": at.String()}
			subjects = append(subjects, found.overHTTP(server, name, labels), found.byDriver(name+", driver alone", labels))
			pairs = append(pairs, pair{name: name})
		}
	}
	samples, err := measure.Interleave(ctx, o.warmup, o.rounds, e.counter(o.warmup+o.rounds), subjects...)
	if err != nil {
		return report.Section{}, err
	}
	for i := range pairs {
		pairs[i].http, pairs[i].driver = samples[1+2*i], samples[2+2*i]
	}
	return o.section(rows, samples[0], pairs), nil
}

func (o overhead) section(rows int, floor measure.Samples, pairs []pair) report.Section {
	out := report.Section{
		ID: "overhead", Title: "What the catalogue adds to the database", Text: fmt.Sprintf(overheadText, o.limit, number(rows)),
		Measurements: []report.Measurement{floor.Summary()},
		Tables: []report.Table{{
			Title:   fmt.Sprintf("A page and its reads, %s rows", number(rows)),
			Columns: []string{"Page", "HTTP: p50 / p95 / p99, ms", "Driver alone: p50 / p95 / p99, ms", "× at p50", "× at p99"},
		}},
	}
	table := &out.Tables[0]
	for _, p := range pairs {
		out.Measurements = append(out.Measurements, p.http.Summary(), p.driver.Summary())
		table.Rows = append(table.Rows, []string{
			p.name, percentiles(p.http), percentiles(p.driver),
			times(measure.Ratio(p.http, p.driver, 0.5)), times(measure.Ratio(p.http, p.driver, 0.99)),
		})
	}
	table.Rows = append(table.Rows, []string{floor.Subject.Name, percentiles(floor), "–", "–", "–"})
	for _, q := range []float64{0.5, 0.99} {
		out.Goals = append(out.Goals, overheadGoal(pairs, floor, q))
	}
	return out
}

// overheadGoal is judged by the page with the greatest ratio at the quantile q.
func overheadGoal(pairs []pair, floor measure.Samples, q float64) report.Goal {
	worst, ratio := pairs[0], report.Interval{}
	for _, p := range pairs {
		if r := measure.Ratio(p.http, p.driver, q); r.Value > ratio.Value {
			worst, ratio = p, r
		}
	}
	out := report.Goal{
		Text: fmt.Sprintf("A page through HTTP takes at most %v × its reads by the driver alone (p%.0f); the worst is %s",
			overheadLimit, 100*q, worst.name),
		Value: ratio, Unit: "×", Limit: overheadLimit,
	}
	if !out.Met() {
		http, driver := worst.http.Quantile(q).Value, worst.driver.Quantile(q).Value
		out.Reason = fmt.Sprintf("%s ms through HTTP, %s ms by the driver alone; a request that reads nothing takes %s ms",
			millis(http), millis(driver), millis(floor.Quantile(q).Value))
	}
	return out
}
