package groups

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"catalogue/bench/dataset"
	"catalogue/bench/measure"
	"catalogue/bench/report"
	"catalogue/bench/service"
	"catalogue/creatives"
	"catalogue/pagination"
)

const (
	// writesLimit is × the p99 of pages while nobody writes.
	writesLimit = 2
	// writesDatabase is of this group alone: what is written changes the size of indexes and the order of lists.
	writesDatabase = "bench_writes"
	dropTimeout    = 30 * time.Second
)

// writes says how pages are timed while others write.
type writes struct {
	database      string
	limit, window int
	writers       int
	blocks        int // quiet and busy ones together
	block         time.Duration
}

// Writes times pages while others write.
func Writes(ctx context.Context, e *Env) (report.Section, error) {
	return writes{
		database: writesDatabase, limit: pageLimit, window: pageWindow, writers: 8, blocks: 8, block: 3 * time.Second,
	}.run(ctx, e)
}

// traffic is what was seen in blocks of one kind.
type traffic struct {
	pages  measure.Samples
	writes int64
	took   time.Duration
}

func (w writes) run(ctx context.Context, e *Env) (_ report.Section, err error) {
	rows := e.smallest()
	step := e.counter(w.blocks + 1) // the data is one
	db := e.Client.Database(w.database)
	defer func() {
		dropping, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropTimeout)
		defer cancel()
		err = errors.Join(err, db.Drop(dropping))
	}()
	if err := db.Drop(ctx); err != nil { // a killed run leaves changed data behind that looks whole
		return report.Section{}, fmt.Errorf("drop what an earlier run has left: %w", err)
	}
	data, err := dataset.PrepareIn(ctx, db, rows, func(int) {})
	if err != nil {
		return report.Section{}, err
	}
	server, stop, err := e.own(ctx, w.database)
	if err != nil {
		return report.Section{}, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	step()
	targets, err := w.targets(ctx, data)
	if err != nil {
		return report.Section{}, err
	}
	ids, err := written(ctx, data)
	if err != nil {
		return report.Section{}, err
	}
	write, way := byDriver(data, ids), writtenByDriver
	if e.Capabilities.Transactions {
		client := newWriteClient(w.writers)
		defer client.CloseIdleConnections()
		write, way = overAPI(client, server, ids), writtenOverAPI
	}
	quiet, busy, err := w.alternate(ctx, server, targets, write, step)
	if err != nil {
		return report.Section{}, err
	}
	return w.section(rows, way, quiet, busy), nil
}

// alternate times pages in quiet and busy blocks in turn, after each page was read once.
func (w writes) alternate(
	ctx context.Context, s *service.Service, targets []string, write change, step func(),
) (quiet, busy traffic, err error) {
	for _, target := range targets {
		if _, err := s.Page(ctx, target); err != nil {
			return quiet, busy, err
		}
	}
	quiet.pages.Subject.Name, busy.pages.Subject.Name = "page, nobody writes", fmt.Sprintf("page, %d writers write", w.writers)
	for block := range w.blocks {
		if block%2 == 0 {
			err = w.read(ctx, s, targets, &quiet)
		} else {
			err = w.beside(ctx, write, &busy, func() error { return w.read(ctx, s, targets, &busy) })
		}
		if err != nil {
			return quiet, busy, err
		}
		step()
	}
	return quiet, busy, nil
}

// read gets pages one after the other for the time of a block.
func (w writes) read(ctx context.Context, s *service.Service, targets []string, into *traffic) error {
	began := time.Now()
	for turn := 0; time.Since(began) < w.block; turn++ {
		asked := time.Now()
		if _, err := s.Page(ctx, targets[turn%len(targets)]); err != nil {
			return err
		}
		into.pages.Times = append(into.pages.Times, measure.Milliseconds(time.Since(asked)))
	}
	into.took += time.Since(began)
	return nil
}

// beside runs read while writers write, each as fast as its writes are answered. Those under way are waited for.
func (w writes) beside(
	ctx context.Context, write change, into *traffic, read func() error,
) error {
	var over atomic.Bool
	var done atomic.Int64
	var group sync.WaitGroup
	failed := make([]error, w.writers)
	for i := range failed {
		choice := dice(uint64(i))
		group.Go(func() {
			for !over.Load() && failed[i] == nil {
				failed[i] = write(ctx, choice)
				done.Add(1)
			}
		})
	}
	err := read()
	into.writes += done.Load()
	over.Store(true)
	group.Wait()
	return errors.Join(err, errors.Join(failed...))
}

// targets are pages in the order that writes change and in one that they do not.
func (w writes) targets(ctx context.Context, data *dataset.Dataset) ([]string, error) {
	var out []string
	for _, sort := range []string{"-created_at", "-metrics.spend"} {
		l, err := newList(creatives.List(), sort)
		if err != nil {
			return nil, err
		}
		found, err := l.pages(ctx, data.Database, place{pagination.Values, 0.5}, w.limit, w.window)
		if err != nil {
			return nil, err
		}
		out = append(out, found.targets...)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%d rows are too few", data.Rows)
	}
	dice(0).Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out, nil
}

const writesText = `One client reads pages of /creatives in the middle of two sorts, one of which the writes change, while %d writers change the figures of
random creatives, each as fast as it is answered; %s rows in a database of their own. Quiet and busy blocks of %s alternate,
%d in all. %s`

func (w writes) section(rows int, way string, quiet, busy traffic) report.Section {
	out := report.Section{
		ID: "writes", Title: "Reads while others write",
		Text:         fmt.Sprintf(writesText, w.writers, number(rows), w.block, w.blocks, way),
		Measurements: []report.Measurement{quiet.pages.Summary(), busy.pages.Summary()},
		Tables: []report.Table{{
			Title: "A page, quiet and beside writers", Columns: []string{"", "p50 / p95 / p99, ms", "Pages a second", "Writes a second"},
		}},
	}
	for _, t := range []traffic{quiet, busy} {
		seconds := t.took.Seconds()
		out.Tables[0].Rows = append(out.Tables[0].Rows, []string{
			t.pages.Subject.Name, percentiles(t.pages),
			fmt.Sprintf("%.0f", float64(len(t.pages.Times))/seconds), fmt.Sprintf("%.0f", float64(t.writes)/seconds),
		})
	}
	goal := report.Goal{
		Text:  fmt.Sprintf("While %d writers write, the p99 of a page is at most %v × that while nobody does", w.writers, writesLimit),
		Value: measure.RatioApart(busy.pages, quiet.pages, 0.99), Unit: "×", Limit: writesLimit,
	}
	if !goal.Met() {
		goal.Reason = fmt.Sprintf("%s ms against %s ms, at %.0f writes a second beside the reader on one machine",
			millis(busy.pages.Quantile(0.99).Value), millis(quiet.pages.Quantile(0.99).Value), float64(busy.writes)/busy.took.Seconds())
	}
	out.Goals = []report.Goal{goal}
	return out
}
