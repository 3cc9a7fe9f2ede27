package peers

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/pagination"
)

// offset is the list of openprocurement.api.
type offset struct {
	list   List
	hinted bool
}

// Offset pages as the lists of openprocurement.api do, whose offset is the last row's value: rows with a value beyond
// it, sorted by the field alone. What it does not have is a tie-break. An offset that counts as false in Python (none,
// or zero) is no offset there: the list begins anew. Its offsets are numbers or dates; it has no lists of strings. A
// client ends with the first page that is empty.
//
// Its equalities (public or not, test or not) are left out: it has partial indexes that answer them.
func Offset(list List, hinted bool) Peer { return offset{list: list, hinted: hinted} }

func (o offset) Name() string { return named("offset (openprocurement)", o.hinted) }

func (offset) Position(at Place) (Position, error) { return at.position(), nil }

func (o offset) Fetch(ctx context.Context, at Position, limit int) (Answer, error) {
	if o.list.Order.Kind == pagination.String {
		return nil, ErrUnsuitable
	}
	var filter bson.D
	if at.Last != nil && !isFalse(at.Last.Value) {
		filter = bson.D{{Key: o.list.Order.Field, Value: bson.D{{Key: o.list.beyond(), Value: at.Last.Value}}}}
	}
	docs, err := o.list.find(ctx, question{filter: filter, sort: o.list.sort()[:1], limit: limit, hinted: o.hinted})
	if err != nil {
		return nil, err
	}
	return func() (Page, error) {
		rows, err := o.list.keys(docs)
		page := Page{IDs: ids(rows)}
		if len(rows) > 0 {
			page.Next = &Position{Last: &rows[len(rows)-1]}
		}
		return page, err
	}, nil
}

// isFalse reports whether Python takes the value for false.
func isFalse(value bson.RawValue) bool {
	if value.Type == bson.TypeNull {
		return true
	}
	number, ok := value.AsFloat64OK()
	return ok && number == 0
}
