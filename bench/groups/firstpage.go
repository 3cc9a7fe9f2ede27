package groups

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"catalogue/bench/measure"
	"catalogue/bench/report"
	"catalogue/bench/service"
	"catalogue/creatives"
	"catalogue/pagination"
)

const (
	// firstPageLimit is × the same page without its total.
	firstPageLimit = 1.1
	// cacheTimeout bounds the wait until a count is kept, and cacheLook is how often that is looked at.
	cacheTimeout = 30 * time.Second
	cacheLook    = 50 * time.Millisecond
)

const firstPageText = `The first page of /creatives with its total against the same page without one, at %s rows, interleaved. A page without
total is asked for with a cursor to the start of the list, which the catalogue takes and only the benchmark makes. Without a filter the total is the collection's estimate; with one (status=active) it is a count that is
kept in Redis, and the page without it is the first page under the same filter. The page at half the depth shows whether
the first page without total costs what others do; *again* is the noise.`

// firstPage says how first pages are compared.
type firstPage struct {
	limit, window  int
	warmup, rounds int
}

// FirstPage times first pages with and without their totals.
func FirstPage(ctx context.Context, e *Env) (report.Section, error) {
	return firstPage{limit: pageLimit, window: pageWindow, warmup: 50, rounds: 1000}.run(ctx, e)
}

// totals are what was measured of first pages. The last two are empty where no Redis keeps counts.
type totals struct {
	estimated, bare, again, half measure.Samples
	cached, filtered             measure.Samples
}

func (f firstPage) run(ctx context.Context, e *Env) (report.Section, error) {
	rows := e.smallest()
	data, server, err := e.served(ctx, rows)
	if err != nil {
		return report.Section{}, err
	}
	l, err := newList(creatives.List(), "-created_at")
	if err != nil {
		return report.Section{}, err
	}
	start, err := l.pages(ctx, data.Database, first(), f.limit, 1)
	if err != nil {
		return report.Section{}, err
	}
	half, err := l.pages(ctx, data.Database, place{pagination.Values, 0.5}, f.limit, f.window)
	if err != nil {
		return report.Section{}, err
	}
	if start.none() || half.none() {
		return report.Section{}, fmt.Errorf("%d rows are too few", rows)
	}
	subjects := []measure.Subject{
		f.request(server, l, "first page with estimated total"),
		start.overHTTP(server, "first page without total", nil),
		start.overHTTP(server, "first page without total, again", nil),
		half.overHTTP(server, "page at half the depth", nil),
	}
	if e.RedisURL != "" {
		active, err := l.filtered("status", creatives.StatusActive)
		if err != nil {
			return report.Section{}, err
		}
		startOfActive, err := active.pages(ctx, data.Database, first(), f.limit, 1)
		if err != nil {
			return report.Section{}, err
		}
		if err := awaitCached(ctx, server, active.target(f.limit, "")); err != nil {
			return report.Section{}, err
		}
		subjects = append(subjects, f.request(server, active, "first page under a filter with cached total"),
			startOfActive.overHTTP(server, "first page under a filter without total", nil))
	}
	samples, err := measure.Interleave(ctx, f.warmup, f.rounds, e.counter(f.warmup+f.rounds), subjects...)
	if err != nil {
		return report.Section{}, err
	}
	t := totals{estimated: samples[0], bare: samples[1], again: samples[2], half: samples[3]}
	if e.RedisURL != "" {
		t.cached, t.filtered = samples[4], samples[5]
	}
	return t.section(rows), nil
}

// request is the subject that asks for the first page without a cursor, and so with its total.
func (f firstPage) request(s *service.Service, l list, name string) measure.Subject {
	target := l.target(f.limit, "")
	return measure.Subject{Name: name, Run: func(ctx context.Context) error { _, err := s.Page(ctx, target); return err }}
}

// awaitCached asks for a page until its total is one that was kept.
func awaitCached(ctx context.Context, s *service.Service, target string) error {
	ctx, cancel := context.WithTimeout(ctx, cacheTimeout)
	defer cancel()
	look := time.NewTicker(cacheLook)
	defer look.Stop()
	for {
		page, err := s.Page(ctx, target)
		if err != nil {
			return err
		}
		if bytes.Contains(page.Body, []byte(`"total_kind":"`+string(pagination.TotalCached)+`"`)) {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.New("the total of a filter is not kept: is the Redis there?")
		case <-look.C:
		}
	}
}

func (t totals) section(rows int) report.Section {
	out := report.Section{
		ID: "firstpage", Title: "First pages and their totals", Text: fmt.Sprintf(firstPageText, number(rows)),
		Tables: []report.Table{{
			Title:   fmt.Sprintf("First pages, %s rows", number(rows)),
			Columns: []string{"Page", "p50 / p95 / p99, ms", "compared with", "× at p50"},
		}},
	}
	add := func(s, base measure.Samples) {
		out.Measurements = append(out.Measurements, s.Summary())
		against, ratio := "–", "–"
		if base.Times != nil {
			against, ratio = base.Subject.Name, times(measure.Ratio(s, base, 0.5))
		}
		out.Tables[0].Rows = append(out.Tables[0].Rows, []string{s.Subject.Name, percentiles(s), against, ratio})
	}
	add(t.bare, t.half)
	add(t.again, t.bare)
	add(t.half, measure.Samples{})
	add(t.estimated, t.bare)
	if t.cached.Times != nil {
		add(t.cached, t.filtered)
		add(t.filtered, measure.Samples{})
	}
	out.Goals = []report.Goal{
		firstPageGoal("A first page with estimated total takes at most %v × the same page without (p50)", t.estimated, t.bare),
		firstPageGoal("A first page under a filter with cached total takes at most %v × the same page without (p50)", t.cached, t.filtered),
		firstPageGoal("A first page without total takes at most %v × a page at half the depth (p50)", t.bare, t.half),
	}
	return out
}

func firstPageGoal(format string, s, base measure.Samples) report.Goal {
	text := fmt.Sprintf(format, firstPageLimit)
	if s.Times == nil {
		return unmeasured(text, "×", firstPageLimit, "there is no Redis that keeps counts")
	}
	out := report.Goal{Text: text, Value: measure.Ratio(s, base, 0.5), Unit: "×", Limit: firstPageLimit}
	if !out.Met() {
		out.Reason = fmt.Sprintf("%s ms against %s ms", millis(s.Quantile(0.5).Value), millis(base.Quantile(0.5).Value))
	}
	return out
}
