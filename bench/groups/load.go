package groups

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"catalogue/bench/measure"
	"catalogue/bench/report"
	"catalogue/bench/service"
	"catalogue/creatives"
)

const (
	// idleLimit is the memory of a catalogue that has just started, in megabytes.
	idleLimit = 60
	// memoryLook is how often the catalogue's memory is looked at under load.
	memoryLook = 100 * time.Millisecond
	// manyErrors of one client end its walk: a service that is away would be asked as fast as it can refuse.
	manyErrors = 100
	// stepTime is how long each number of clients but the greatest walks.
	stepTime = 5 * time.Second
)

const loadText = `Clients walk /creatives at once, from the first page to the last and again from the first, with all sorts and directions
dealt out among them; each asks for its next page as soon as it has one (a closed loop). %s rows, pages of %d. Times are those that the
clients see, so with more clients than the machine has processors they are mostly time spent waiting for a turn. The benchmark, the catalogue and the
database share the machine. Memory is what the kernel counts as resident: just after the start, before any page; the most
seen while clients walk; and right after the last of them. A megabyte is a million bytes.`

// load says how many clients walk and for how long.
type load struct {
	limit         int
	clients       []int // ascending
	step, longest time.Duration
}

// Load lets more and more clients walk lists at once.
func Load(ctx context.Context, e *Env) (report.Section, error) {
	return load{limit: pageLimit, clients: []int{1, 10, 50, 200}, step: stepTime, longest: e.LoadTime}.run(ctx, e)
}

// stage is what a number of clients saw.
type stage struct {
	clients int
	took    time.Duration
	pages   measure.Samples
	errors  int
	first   error // of the errors
	peak    int64 // bytes that the catalogue had at most
	cpu     time.Duration
}

// rate is pages a second.
func (s stage) rate() float64 { return float64(len(s.pages.Times)) / s.took.Seconds() }

func (l load) run(ctx context.Context, e *Env) (_ report.Section, err error) {
	rows := e.smallest()
	data, err := e.Dataset(ctx, rows)
	if err != nil {
		return report.Section{}, err
	}
	server, stop, err := e.own(ctx, data.Database.Name())
	if err != nil {
		return report.Section{}, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	idle, err := server.ResidentBytes()
	if err != nil {
		return report.Section{}, err
	}
	step := e.counter(len(l.clients))
	stages := make([]stage, 0, len(l.clients))
	for i, clients := range l.clients {
		duration := l.step
		if i == len(l.clients)-1 {
			duration = l.longest
		}
		s, err := l.stage(ctx, server, clients, duration)
		if err != nil {
			return report.Section{}, err
		}
		stages = append(stages, s)
		step()
	}
	after, err := server.ResidentBytes()
	if err != nil {
		return report.Section{}, err
	}
	return l.section(rows, idle, after, stages), nil
}

// own starts a catalogue of a group's own, for what a shared one would blur. stop ends it.
func (e *Env) own(ctx context.Context, database string) (s *service.Service, stop func() error, err error) {
	folder, err := os.MkdirTemp("", "catalogue-bench-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a folder for the log of the catalogue: %w", err)
	}
	s, err = service.Start(ctx, service.Options{
		Binary: e.Binary, URI: e.URI, Database: database, RedisURL: e.RedisURL, CursorKey: CursorKey,
		Log: filepath.Join(folder, "catalogue.log"),
	})
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(folder))
	}
	return s, func() error { return errors.Join(s.Stop(), os.RemoveAll(folder)) }, nil
}

// stage lets clients walk until the time is over. Requests under way then are waited for.
func (l load) stage(ctx context.Context, s *service.Service, clients int, duration time.Duration) (stage, error) {
	before, err := s.CPUTime()
	if err != nil {
		return stage{}, err
	}
	watching, done := context.WithCancel(ctx)
	peak := watchMemory(watching, s)
	began := time.Now()
	walkers := make([]walker, clients)
	var group sync.WaitGroup
	orders := creatives.List().Sorts.Allowed()
	for i := range walkers {
		w := &walkers[i]
		w.limit, w.sort, w.end = l.limit, orders[i%len(orders)], began.Add(duration)
		group.Go(func() { w.walk(ctx, s) })
	}
	group.Wait()
	out := stage{clients: clients, took: time.Since(began)}
	done()
	out.peak = <-peak
	out.pages.Subject = measure.Subject{Name: fmt.Sprintf("%d clients", clients)}
	for _, w := range walkers {
		out.pages.Times = append(out.pages.Times, w.times...)
		if out.errors += w.errors; out.first == nil {
			out.first = w.first
		}
	}
	after, err := s.CPUTime()
	out.cpu = after - before
	return out, errors.Join(err, ctx.Err())
}

// watchMemory looks at the memory of the catalogue until ctx is over, and then sends the most that it saw.
func watchMemory(ctx context.Context, s *service.Service) <-chan int64 {
	peak := make(chan int64, 1)
	go func() {
		look := time.NewTicker(memoryLook)
		defer look.Stop()
		most := int64(0)
		for {
			if now, err := s.ResidentBytes(); err == nil { // a process that is gone shows in the clients' errors
				most = max(most, now)
			}
			select {
			case <-ctx.Done():
				peak <- most
				return
			case <-look.C:
			}
		}
	}()
	return peak
}

// walker is one client.
type walker struct {
	limit  int
	sort   string
	end    time.Time
	times  []float64 // of its pages, in milliseconds
	errors int
	first  error
}

func (w *walker) walk(ctx context.Context, s *service.Service) {
	l, err := newList(creatives.List(), w.sort)
	cursor := ""
	for err == nil && w.errors < manyErrors && ctx.Err() == nil && time.Now().Before(w.end) {
		if cursor, err = w.page(ctx, s, l.target(w.limit, cursor)); err != nil {
			w.note(err)
			cursor, err = "", nil
		}
	}
	if err != nil {
		w.note(err)
	}
}

// page gets a page and finds where the next one begins.
func (w *walker) page(ctx context.Context, s *service.Service, target string) (cursor string, err error) {
	began := time.Now()
	page, err := s.Page(ctx, target)
	if err != nil {
		return "", err
	}
	w.times = append(w.times, measure.Milliseconds(time.Since(began)))
	return page.NextCursor()
}

func (w *walker) note(err error) {
	if w.errors++; w.first == nil {
		w.first = err
	}
}
