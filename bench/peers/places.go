package peers

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Window is a stretch of a list: places to page from and, for each, what the page has to be.
type Window struct {
	Places []Place
	ids    []bson.ObjectID // of the rows; the first place is behind the first of them
}

// ReadWindow reads the stretch of places behind the row that comes after before others, with limit rows behind the
// last place. The order of the list has to be that of the database: descending, where there are rows without a value.
func ReadWindow(ctx context.Context, list List, before, places, limit int) (Window, error) {
	list.Projection = bson.D{{Key: list.Order.Field, Value: int32(1)}}
	docs, err := list.find(ctx, question{sort: list.sort(), skip: before, limit: places + limit, hinted: true})
	if err != nil {
		return Window{}, err
	}
	if len(docs) < places+limit {
		return Window{}, fmt.Errorf("the list has %d rows behind %d others, not %d", len(docs), before, places+limit)
	}
	keys, err := list.keys(docs)
	if err != nil {
		return Window{}, err
	}
	w := Window{Places: make([]Place, places), ids: ids(keys)}
	for i := range w.Places {
		w.Places[i] = Place{Rows: before + i + 1, Last: keys[i], LeftOut: keys[i+1]}
	}
	return w, nil
}

// Page is the ids of the page of limit rows behind a place.
func (w Window) Page(place, limit int) []bson.ObjectID { return w.ids[place+1 : place+1+limit] }
