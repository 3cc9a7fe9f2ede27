package groups

import (
	"context"
	"fmt"
	"strconv"

	"catalogue/bench/measure"
	"catalogue/bench/report"
	"catalogue/creatives"
	"catalogue/pagination"
)

// The promises of the depth.
const (
	depthLimit  = 1.1 // × the first page
	growthLimit = 1.3 // × the smallest of the standard sizes
	deep        = 0.9 // of a phase, where promises are judged
)

// standardSizes are the numbers of rows that the promises name.
func standardSizes() []int { return []int{10_000, 100_000, 1_000_000} }

// depth says how a page is timed at many depths.
type depth struct {
	sorts          []string // a nearly unique one and a heavily tied one among them
	limit, window  int
	warmup, rounds int
}

// Depth times the same page at many depths of lists of all sizes.
func Depth(ctx context.Context, e *Env) (report.Section, error) {
	return depth{
		sorts: []string{"-created_at", "-metrics.spend", "media.width", "name"},
		limit: pageLimit, window: pageWindow, warmup: 20, rounds: 300,
	}.run(ctx, e)
}

// places are the depths that are measured, the first page first.
func (depth) places() []place {
	return []place{
		first(),
		{pagination.Values, 0.1},
		{pagination.Values, 0.5},
		{pagination.Values, deep},
		{pagination.Values, 0.99},
		{pagination.Nulls, 0},
		{pagination.Nulls, 0.1},
		{pagination.Nulls, 0.5},
		{pagination.Nulls, deep},
		{pagination.Nulls, 0.99},
	}
}

// arm is one page of one list: through the catalogue and by the driver alone.
type arm struct {
	rows         int
	at           place
	again        bool // the first page a second time
	reads        *taken
	http, driver measure.Samples
}

// curve is what was measured of one sort: every place of every size, the first page of a size first.
type curve struct {
	sort string
	arms []arm
}

func (d depth) run(ctx context.Context, e *Env) (report.Section, error) {
	step := e.counter(len(d.sorts) * (d.warmup + d.rounds))
	curves := make([]curve, 0, len(d.sorts))
	for _, sort := range d.sorts {
		c, err := d.measure(ctx, e, sort, step)
		if err != nil {
			return report.Section{}, fmt.Errorf("sort %s: %w", sort, err)
		}
		curves = append(curves, c)
	}
	return d.section(e, curves), nil
}

// measure times all places of all sizes in one sort, interleaved.
func (d depth) measure(ctx context.Context, e *Env, sort string, step func()) (curve, error) {
	l, err := newList(creatives.List(), sort)
	if err != nil {
		return curve{}, err
	}
	out := curve{sort: sort}
	var subjects []measure.Subject
	for _, rows := range e.Rows {
		data, server, err := e.served(ctx, rows)
		if err != nil {
			return curve{}, err
		}
		add := func(at place, again bool) error {
			found, err := l.pages(ctx, data.Database, at, d.limit, d.window)
			if err != nil || found.none() {
				return err
			}
			name := fmt.Sprintf("%s, %s rows, %s", sort, number(rows), at)
			labels := map[string]string{"sort": sort, "rows": strconv.Itoa(rows), "place": at.String()}
			if again {
				name += ", again"
			}
			subjects = append(subjects, found.overHTTP(server, name, labels), found.byDriver(name+", driver alone", labels))
			out.arms = append(out.arms, arm{rows: rows, at: at, again: again, reads: found.taken})
			return nil
		}
		for _, at := range d.places() {
			if err := add(at, false); err != nil {
				return curve{}, err
			}
		}
		if err := add(first(), true); err != nil {
			return curve{}, err
		}
	}
	samples, err := measure.Interleave(ctx, d.warmup, d.rounds, step, subjects...)
	if err != nil {
		return curve{}, err
	}
	for i := range out.arms {
		out.arms[i].http, out.arms[i].driver = samples[2*i], samples[2*i+1]
	}
	return out, nil
}

// first is the first page of a size.
func (c curve) first(rows int) (arm, bool) { return c.find(rows, first()) }

func (c curve) find(rows int, at place) (arm, bool) {
	for _, a := range c.arms {
		if a.rows == rows && a.at == at && !a.again {
			return a, true
		}
	}
	return arm{}, false
}
