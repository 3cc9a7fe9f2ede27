// Package pagination reads lists page by page at a cost that does not depend on the depth of the page.
//
// A list is ordered by one field and _id, backed by a compound index on both. A page is one or two plain range reads
// behind the last row of the page before, which a signed, opaque cursor names. See phases.go for the order and
// keyset.go for the reads.
package pagination

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Limits of a page.
const (
	DefaultLimit = 50
	MaxLimit     = 200
)

// Query is what KeysetPage needs to know of a page.
type Query struct {
	Fixed      bson.D // equalities that the list always has; the leading fields of its index
	Filter     bson.D // the user's filter, or nil
	Projection bson.D // nil for whole documents; must keep the sort field
	Order      Order
	From       RowPosition
	Limit      int
	Hint       string // name of the index to use, or empty to leave the choice to the planner
}

// Page is one page of a list. Next is nil on the last one.
type Page[T any] struct {
	Items []T
	Next  *RowPosition
}

// CountHeadStart is how long a first page may take before a real count starts beside it. Most pages are quicker, and a
// page that turns out to hold the whole list needs no count at all. An estimate costs next to nothing and needs none.
const CountHeadStart = 10 * time.Millisecond

// First reads a list's first page with its total. The count begins when the page has had its head start, or after a
// page that was quicker, unless that one held the whole list: then its length is the total.
func First[T any](
	ctx context.Context, page func(context.Context) (Page[T], error), count func(context.Context) Total, headStart time.Duration,
) (Page[T], Total, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends a count that nobody needs any more
	counting := &counting{count: count, done: make(chan struct{})}
	beside := time.AfterFunc(headStart, func() { counting.run(ctx) })
	p, err := page(ctx)
	notBegun := beside.Stop()
	switch {
	case err != nil:
		return Page[T]{}, Total{}, err
	case p.Next == nil:
		return p, ExactTotal(int64(len(p.Items))), nil
	case notBegun:
		counting.run(ctx)
	}
	return p, counting.total().atLeast(len(p.Items) + 1), nil
}

// counting is a count that may run in a goroutine of its own.
type counting struct {
	count    func(context.Context) Total
	done     chan struct{}
	result   Total
	panicked any
}

// run keeps a panic for the one who wants the total: in a goroutine of its own it would end the process.
func (c *counting) run(ctx context.Context) {
	defer close(c.done)
	defer func() { c.panicked = recover() }()
	c.result = c.count(ctx)
}

func (c *counting) total() Total {
	<-c.done
	if c.panicked != nil {
		panic(c.panicked)
	}
	return c.result
}
