package pagination

import (
	"context"
	"log/slog"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/mongodb"
	"catalogue/internal/strictbson"
)

// Decoder makes an item of a stored document. It cannot fail: what does not fit is left out of the item and named by
// its path in misfits.
type Decoder[T any] func(doc bson.Raw) (item T, misfits []string)

// Repository reads the pages of one list.
type Repository[T any] struct {
	coll   *mongo.Collection
	decode Decoder[T]
	log    *slog.Logger
	// refused is told of a hint that the database did not take, so that indexes are looked at again.
	refused func(index string)
}

// NewRepository makes a repository over a collection. hintRefused is called with the name of an index that
// the database would not use; it may be nil.
func NewRepository[T any](
	coll *mongo.Collection, decode Decoder[T], log *slog.Logger, hintRefused func(index string),
) *Repository[T] {
	if hintRefused == nil {
		hintRefused = func(string) {}
	}
	return &Repository[T]{coll: coll, decode: decode, log: log, refused: hintRefused}
}

// Collection is the collection that the pages are read from.
func (r *Repository[T]) Collection() *mongo.Collection { return r.coll }

// row is a document with its place in the list.
type row struct {
	doc bson.Raw
	key RowKey
}

// KeysetPage reads the page that begins at q.From: at most q.Limit items and the position behind the last of them.
// Errors are those of mongodb.Convert. The work is bounded by the deadline of ctx, on the server too.
//
// Documents with an array on the path of the sort field, and those whose _id is no ObjectID, have no place in the
// order and may be missing; no other document is lost or served twice, whatever is stored in it.
func (r *Repository[T]) KeysetPage(ctx context.Context, q Query) (Page[T], error) {
	from, err := r.lengthen(ctx, q.Order, q.From)
	if err != nil {
		return Page[T]{}, err
	}
	rows, err := r.rows(ctx, q, from, q.Limit+1)
	if err != nil {
		return Page[T]{}, err
	}
	end := min(q.Limit, len(rows))
	page := Page[T]{Items: make([]T, end)}
	for i, row := range rows[:end] {
		page.Items[i] = r.item(ctx, row)
	}
	if end < len(rows) {
		page.Next = new(shorten(PositionBehind(rows[:end], rows[end], func(r row) RowKey { return r.key })))
	}
	return page, nil
}

func (r *Repository[T]) item(ctx context.Context, row row) T {
	item, misfits := r.decode(row.doc)
	strictbson.Warn(ctx, r.log, r.coll.Name(), row.key.ID, misfits)
	return item
}

// rows reads n rows from a position on.
func (r *Repository[T]) rows(ctx context.Context, q Query, from RowPosition, n int) ([]row, error) {
	return Collect(from, n, func(read Read[bson.RawValue], limit int) ([]row, error) {
		found, err := r.placed(ctx, q, read, limit+read.Passed)
		if err != nil || read.Kind != ReadFrom {
			return found, err
		}
		return Behind(read, found, limit, func(found row) Side { return q.Order.side(read, found.key) })
	})
}

// placed runs one range read and leaves out the rows that have no place in the order.
func (r *Repository[T]) placed(ctx context.Context, q Query, read Read[bson.RawValue], limit int) ([]row, error) {
	found, all, err := r.read(ctx, findCommand(r.coll.Name(), q, read, limit, false), q, read)
	if err != nil || all {
		return found, err
	}
	// A row without a place would end the page at a position that does not exist, and a walk might never end.
	// Leaving such rows out costs the index its tight range, so it is done only where one was met.
	found, _, err = r.read(ctx, findCommand(r.coll.Name(), q, read, limit, true), q, read)
	return found, err
}

// read runs one range read. placed reports that every row had a place in the order; the others are left out.
func (r *Repository[T]) read(
	ctx context.Context, cmd command, q Query, read Read[bson.RawValue],
) (rows []row, placed bool, err error) {
	docs, err := r.find(ctx, cmd)
	if err != nil {
		return nil, false, mongodb.Convert(err)
	}
	rows, placed = make([]row, 0, len(docs)), true
	for _, doc := range docs {
		key, ok := keyOf(doc, q.Order, read.Phase())
		if !ok {
			placed = false
			continue
		}
		rows = append(rows, row{doc: doc, key: key})
	}
	return rows, placed, nil
}

// keyOf finds a row's place. The phase is that of the read that found the row. It reports false for rows that
// are outside the order.
func keyOf(doc bson.Raw, order Order, phase Phase) (RowKey, bool) {
	id, ok := doc.Lookup("_id").ObjectIDOK()
	if !ok {
		return RowKey{}, false
	}
	key := RowKey{Phase: phase, ID: id}
	if phase == Strays {
		return key, true // by _id alone: whatever the value is, it does not matter
	}
	value, array := lookup(doc, order.Field)
	if array {
		return RowKey{}, false
	}
	if phase == Values {
		key.Value = value
		return key, order.Kind.holds(value.Type)
	}
	return key, true
}

// find runs a find command, and once more without its hint where the database does not take that: the index was
// dropped or hidden since the last look.
func (r *Repository[T]) find(ctx context.Context, cmd command) ([]bson.Raw, error) {
	docs, err := mongodb.Find(ctx, r.coll.Database(), cmd.document())
	if err != nil && cmd.hint != "" && mongodb.IsBadValue(err) {
		r.refused(cmd.hint)
		cmd.hint = ""
		docs, err = mongodb.Find(ctx, r.coll.Database(), cmd.document())
	}
	return docs, err
}
