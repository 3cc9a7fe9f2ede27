package pagination

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"catalogue/internal/mongodb"
)

// TotalKind says how far a total can be trusted.
type TotalKind string

// The kinds of totals.
const (
	TotalExact     TotalKind = "exact"     // counted
	TotalCached    TotalKind = "cached"    // counted a moment ago
	TotalEstimated TotalKind = "estimated" // from the collection's metadata
	TotalUnknown   TotalKind = "unknown"   // not counted within the deadline
)

// Total is the length of a whole list under its filter. Count is nil where the kind is unknown.
type Total struct {
	Count *int64
	Kind  TotalKind
	AsOf  *time.Time // when a cached total was counted, in UTC; nil for the other kinds
}

// ExactTotal is a total that was counted.
func ExactTotal(n int64) Total { return Total{Count: &n, Kind: TotalExact} }

// CachedTotal is a total that was counted at that moment.
func CachedTotal(n int64, asOf time.Time) Total {
	return Total{Count: &n, Kind: TotalCached, AsOf: new(asOf.UTC())}
}

// atLeast lifts an estimate that metadata left behind the rows that were just seen. A count of a moment ago that they
// contradict is no longer one.
func (t Total) atLeast(n int) Total {
	switch {
	case t.Count == nil || *t.Count >= int64(n):
	case t.Kind == TotalEstimated:
		t.Count = new(int64(n))
	case t.Kind == TotalCached:
		return Total{Kind: TotalUnknown}
	}
	return t
}

// Counter counts lists. A count that fails costs the total and not the page: OnError is told, the total is unknown.
type Counter struct {
	Timeout time.Duration // of one count with a filter
	OnError func(ctx context.Context, err error)
}

// Count counts the documents of coll that match filter: an estimate at no cost without a filter, a real count with
// one, unknown where that takes longer than the timeout. hint names an index for the real one; it is empty where the
// choice is the planner's, and is dropped where the database does not take it.
func (c Counter) Count(ctx context.Context, coll *mongo.Collection, filter bson.D, hint string) Total {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	kind := TotalExact
	count := func() (int64, error) { return countDocuments(ctx, coll, filter, hint) }
	if len(filter) == 0 {
		kind = TotalEstimated
		count = func() (int64, error) { return coll.EstimatedDocumentCount(ctx) }
	}
	n, err := count()
	if err != nil {
		if c.OnError != nil && ctx.Err() == nil && !mongo.IsTimeout(err) {
			c.OnError(ctx, err)
		}
		return Total{Kind: TotalUnknown}
	}
	return Total{Count: &n, Kind: kind}
}

func countDocuments(ctx context.Context, coll *mongo.Collection, filter bson.D, hint string) (int64, error) {
	if hint == "" {
		return coll.CountDocuments(ctx, filter)
	}
	n, err := coll.CountDocuments(ctx, filter, options.Count().SetHint(hint))
	if mongodb.IsBadValue(err) {
		return coll.CountDocuments(ctx, filter)
	}
	return n, err
}
