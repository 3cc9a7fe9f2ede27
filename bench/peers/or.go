package peers

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/pagination"
)

// or is the predicate that most hand-written keyset lists have.
type or struct {
	list   List
	hinted bool
}

// Or pages by the last row, with one predicate for all that comes behind it: a value beyond its own, or the same value
// and an _id beyond its own. It knows nothing of rows without a value, as is usual.
func Or(list List, hinted bool) Peer { return or{list: list, hinted: hinted} }

func (o or) Name() string { return named("one $or", o.hinted) }

func (or) Position(at Place) (Position, error) { return at.position(), nil }

func (o or) Fetch(ctx context.Context, at Position, limit int) (Answer, error) {
	docs, err := o.list.find(ctx, question{filter: o.behind(at.Last), sort: o.list.sort(), limit: limit, hinted: o.hinted})
	if err != nil {
		return nil, err
	}
	return func() (Page, error) {
		rows, err := o.list.keys(docs)
		page := Page{IDs: ids(rows)}
		if len(rows) == limit {
			page.Next = &Position{Last: &rows[limit-1]}
		}
		return page, err
	}, nil
}

func (o or) behind(last *pagination.RowKey) bson.D {
	if last == nil {
		return nil
	}
	field, beyond := o.list.Order.Field, o.list.beyond()
	return bson.D{{Key: "$or", Value: bson.A{
		bson.D{{Key: field, Value: bson.D{{Key: beyond, Value: last.Value}}}},
		bson.D{{Key: field, Value: last.Value}, {Key: "_id", Value: bson.D{{Key: beyond, Value: bson.ObjectID(last.ID)}}}},
	}}}
}
