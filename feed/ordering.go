package feed

import (
	"context"
	"math"
	"time"
)

// Walk is what an ordering has to know of a request.
type Walk struct {
	Descending bool
	First      bool // without an offset
}

// Ordering decides how near to the present the feed may be read. Rows become visible when their writes commit, which is
// not the order of their timestamps.
type Ordering interface {
	// Horizon is the largest public_modified that a page may show, in Unix seconds, infinite where there is no bound. It is
	// asked before the page is read. Errors are those of mongodb.Convert.
	Horizon(ctx context.Context, w Walk) (float64, error)
}

// Clock reads the time of the database, which also stamps the rows.
type Clock func(ctx context.Context) (time.Time, error)

func noHorizon() float64 { return math.Inf(1) }
