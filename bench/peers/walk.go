package peers

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// sparePages are the pages that a walk may take beyond twice those that the list has, before it is cut off as one that
// does not end.
const sparePages = 10

// Outcome is how a walk through a list went.
type Outcome struct {
	Lost    int  // rows that were there all along and never served
	Doubled int  // servings of a row beyond its first
	Endless bool // the walk was cut off; the other two are not counted then
}

// Walk reads a list of the given rows page by page until the peer takes a page for the last. served is called after
// each page, before the next one; it may be nil.
func Walk(
	ctx context.Context, p Peer, rows []bson.ObjectID, limit int, served func(ctx context.Context, page []bson.ObjectID) error,
) (Outcome, error) {
	counts := make(map[bson.ObjectID]int, len(rows))
	for at, pages := new(Position), 0; at != nil; pages++ {
		if pages > 2*(len(rows)/limit+1)+sparePages {
			return Outcome{Endless: true}, nil
		}
		answer, err := p.Fetch(ctx, *at, limit)
		if err != nil {
			return Outcome{}, err
		}
		page, err := answer()
		if err != nil {
			return Outcome{}, err
		}
		for _, id := range page.IDs {
			counts[id]++
		}
		if served != nil {
			if err := served(ctx, page.IDs); err != nil {
				return Outcome{}, err
			}
		}
		at = page.Next
	}
	var out Outcome
	for _, id := range rows {
		if n := counts[id]; n == 0 {
			out.Lost++
		} else {
			out.Doubled += n - 1
		}
	}
	return out, nil
}
