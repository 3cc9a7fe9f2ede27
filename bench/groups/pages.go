package groups

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/bench/dataset"
	"catalogue/bench/measure"
	"catalogue/bench/service"
	"catalogue/internal/mongodb"
)

const (
	// pageLimit is how many items a page has wherever one is timed.
	pageLimit = 50
	// pageWindow is how many different pages are drawn around a place.
	pageWindow = 100
	// readTimeout bounds the reads of a page, as the catalogue's default CATALOGUE_REQUEST_TIMEOUT does: both send it to
	// the server.
	readTimeout = 10 * time.Second
)

// pages are pages about one place of a list, each as a request and as the reads that it takes.
type pages struct {
	db      *mongo.Database
	limit   int
	targets []string
	reads   [][]bson.D
	passed  []int // rows that the first read of each begins with and that are not the page's
	taken   *taken
}

// taken counts the pages that the driver read, and how many reads they took.
type taken struct{ pages, reads int }

// each is the reads a page.
func (t *taken) each() float64 { return float64(t.reads) / float64(max(t.pages, 1)) }

// pages finds at most n pages at a place. There are none where the phase is too short.
func (l list) pages(ctx context.Context, db *mongo.Database, at place, limit, n int) (pages, error) {
	out := pages{db: db, limit: limit, taken: &taken{}}
	found, err := l.positions(ctx, db, at, limit, n)
	if err != nil {
		return out, fmt.Errorf("find pages of %s at %s: %w", l.order, at, err)
	}
	for _, position := range found {
		cursor, err := l.mint(position)
		if err != nil {
			return out, fmt.Errorf("make a cursor of %s at %s: %w", l.order, at, err)
		}
		out.targets = append(out.targets, l.target(limit, cursor))
		out.reads = append(out.reads, l.reads(position, limit))
		out.passed = append(out.passed, position.Passed)
	}
	return out, nil
}

// none reports that the phase was too short.
func (p pages) none() bool { return len(p.targets) == 0 }

// overHTTP is the subject that asks the catalogue for one of the pages after the other.
func (p pages) overHTTP(s *service.Service, name string, labels map[string]string) measure.Subject {
	turn := 0
	return measure.Subject{Name: name, Labels: labels, Run: func(ctx context.Context) error {
		turn++
		_, err := s.Page(ctx, p.targets[turn%len(p.targets)])
		return err
	}}
}

// byDriver is the subject that reads the same pages with the driver alone, in this process. The documents are fetched
// and not decoded.
func (p pages) byDriver(name string, labels map[string]string) measure.Subject {
	turn := 0
	return measure.Subject{Name: name, Labels: labels, Run: func(ctx context.Context) error {
		turn++
		which := turn % len(p.reads)
		_, reads, err := readPage(ctx, p.db, p.reads[which], p.limit+1+p.passed[which])
		p.taken.pages++
		p.taken.reads += reads
		return err
	}}
}

// readPage runs the reads of a page until it has n rows, as the catalogue does, and tells how many it ran.
func readPage(ctx context.Context, db *mongo.Database, reads []bson.D, n int) (rows []bson.Raw, ran int, err error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	for i, read := range reads {
		if missing := int64(n - len(rows)); len(rows) > 0 {
			read = with(with(read, "limit", missing), "batchSize", missing)
		}
		found, err := mongodb.Find(ctx, db, read)
		if err != nil {
			return nil, i, fmt.Errorf("read a page with the driver: %w", err)
		}
		if rows = append(rows, found...); len(rows) >= n {
			return rows, i + 1, nil
		}
	}
	return rows, len(reads), nil
}

// counter moves the bar by one step of total each time it is called.
func (e *Env) counter(total int) func() {
	done := 0
	e.Progress(0, total)
	return func() {
		done++
		e.Progress(done, total)
	}
}

// smallest is the size at which what does not depend on it is measured.
func (e *Env) smallest() int { return e.Rows[0] }

// served is the data of a size and a catalogue on it.
func (e *Env) served(ctx context.Context, rows int) (*dataset.Dataset, *service.Service, error) {
	data, err := e.Dataset(ctx, rows)
	if err != nil {
		return nil, nil, err
	}
	server, err := e.Service(ctx, rows)
	return data, server, err
}
