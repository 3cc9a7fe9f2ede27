package groups

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/bench/dataset"
	"catalogue/bench/measure"
	"catalogue/bench/report"
	"catalogue/pagination"
)

// wholeReadRows is the largest size at which something is timed that reads a whole list: beyond, that takes seconds.
const wholeReadRows = 100_000

// hints says how hints are compared.
type hints struct {
	cases         []hintCase
	limit, window int
	// rounds are as many as fit into budget, fewest at least.
	warmup, fewest, rounds int
	budget                 time.Duration
}

// Hints times pages under filters with each index that could be named for them.
func Hints(ctx context.Context, e *Env) (report.Section, error) {
	return hints{cases: hintCases(), limit: pageLimit, window: 20, warmup: 2, fewest: 6, rounds: 30, budget: 90 * time.Second}.run(ctx, e)
}

// hinted are pages at one place of one case, read in each of the ways.
type hinted struct {
	hintCase
	at      place
	matches int
	ways    []hintWay
	samples []measure.Samples // one a way
	changed int               // pages that are not the planner's; one of each place is compared
	ruled   string            // the way that the catalogue chooses
}

func (h hints) run(ctx context.Context, e *Env) (report.Section, error) {
	size := largestUpTo(e.Rows, wholeReadRows)
	data, err := e.Dataset(ctx, size)
	if err != nil {
		return report.Section{}, err
	}
	var found []hinted
	var subjects []measure.Subject
	for _, c := range h.cases {
		for _, at := range []place{first(), {first().phase, deep}} {
			pages, one, err := h.prepare(ctx, data, c, at)
			if err != nil {
				return report.Section{}, fmt.Errorf("%s by %s: %w", c.name, c.sort, err)
			}
			if len(pages) == 0 {
				continue
			}
			found, subjects = append(found, one), append(subjects, pages...)
		}
	}
	samples, err := h.time(ctx, e.counter(h.warmup+h.rounds), subjects)
	if err != nil {
		return report.Section{}, err
	}
	for i := range found {
		n := len(found[i].ways)
		found[i].samples, samples = samples[:n], samples[n:]
	}
	return h.section(size, found), nil
}

// time times the subjects. Some of them read a whole list, so that how many rounds fit is seen from the first ones.
func (h hints) time(ctx context.Context, step func(), subjects []measure.Subject) ([]measure.Samples, error) {
	began := time.Now()
	samples, err := measure.Interleave(ctx, h.warmup, h.fewest, step, subjects...)
	if err != nil {
		return nil, err
	}
	round := time.Since(began) / time.Duration(h.warmup+h.fewest)
	fit := min(h.rounds-h.fewest, int((h.budget-time.Since(began))/max(round, 1)))
	if fit <= 0 {
		return samples, nil
	}
	more, err := measure.Interleave(ctx, 0, fit, step, subjects...)
	if err != nil {
		return nil, err
	}
	for i := range samples {
		samples[i].Times = append(samples[i].Times, more[i].Times...)
	}
	return samples, nil
}

// largestUpTo is the largest of the sizes that is not above most, or the smallest of all.
func largestUpTo(sizes []int, most int) int {
	size := sizes[0]
	for _, rows := range sizes {
		if rows <= most {
			size = rows
		}
	}
	return size
}

// prepare finds the pages of a case at a place, and makes a subject of each way to read them. There are none where too
// few rows match for a page in the depth.
func (h hints) prepare(
	ctx context.Context, data *dataset.Dataset, c hintCase, at place,
) ([]measure.Subject, hinted, error) {
	l, filter, err := c.list()
	if err != nil {
		return nil, hinted{}, err
	}
	out := hinted{hintCase: c, at: at, ways: c.ways(l), ruled: ruled(l, filter)}
	if out.matches, err = count(ctx, data.Database, bson.D{{Key: "filter", Value: l.filter}}); err != nil {
		return nil, hinted{}, err
	}
	from, err := l.positions(ctx, data.Database, at, h.limit, h.window)
	if err != nil {
		return nil, hinted{}, err
	}
	if len(from) == 0 {
		if at != first() {
			return nil, hinted{}, nil
		}
		from = append(from, pagination.RowPosition{Phase: at.phase}) // a first page is there however few rows match
	}
	var subjects []measure.Subject
	var served [][]bson.ObjectID
	for _, way := range out.ways {
		l.hint = way.hint
		p := pages{db: data.Database, limit: h.limit, taken: &taken{}}
		for _, position := range from {
			p.reads, p.passed = append(p.reads, l.reads(position, h.limit)), append(p.passed, position.Passed)
		}
		ids, err := idsOf(ctx, data.Database, p.reads[0], h.limit+1+p.passed[0])
		if err != nil {
			return nil, hinted{}, fmt.Errorf("with the %s: %w", way.name, err)
		}
		if served = append(served, ids); !slices.Equal(ids, served[0]) {
			out.changed++
		}
		subjects = append(subjects, p.byDriver(c.name+", "+way.name, map[string]string{
			"sort": c.sort, "filter": c.name, "place": at.String(), "index": way.name,
		}))
	}
	return subjects, out, nil
}

// idsOf reads a page and tells which rows it has.
func idsOf(ctx context.Context, db *mongo.Database, reads []bson.D, n int) ([]bson.ObjectID, error) {
	rows, _, err := readPage(ctx, db, reads, n)
	if err != nil {
		return nil, err
	}
	ids := make([]bson.ObjectID, len(rows))
	for i, row := range rows {
		ids[i] = row.Lookup("_id").ObjectID()
	}
	return ids, nil
}
