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

// countHeadStart is how long a first page may take before its count starts beside it. Most pages are quicker, and a
// page that turns out to hold the whole list needs no count at all.
const countHeadStart = 10 * time.Millisecond

// First reads a list's first page with its total. The count runs beside a slow page, or after a quick one unless that
// one held the whole list: then its length is the total.
func First[T any](
	ctx context.Context, page func(context.Context) (Page[T], error), count func(context.Context) Total,
) (Page[T], Total, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends a count that nobody needs any more

	type result struct {
		page Page[T]
		err  error
	}
	pages := make(chan result, 1)
	go func() {
		p, err := page(ctx)
		pages <- result{p, err}
	}()
	wait := time.NewTimer(countHeadStart)
	defer wait.Stop()
	var totals chan Total
	startCount := func() {
		totals = make(chan Total, 1)
		go func() { totals <- count(ctx) }()
	}

	var got result
	select {
	case got = <-pages:
	case <-wait.C:
		startCount()
		got = <-pages
	}
	if got.err != nil {
		return Page[T]{}, Total{}, got.err
	}
	if got.page.Next == nil {
		return got.page, ExactTotal(int64(len(got.page.Items))), nil
	}
	if totals == nil {
		startCount()
	}
	return got.page, (<-totals).atLeast(len(got.page.Items) + 1), nil
}
