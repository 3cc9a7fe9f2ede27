// Package peers pages through a list in the ways that users would pick instead of the catalogue's, and in the
// catalogue's own. Every peer serves the same rows with the same fields, so that speed and correctness are those of
// the way alone.
package peers

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/mongodb"
	"catalogue/pagination"
)

// ErrUnsuitable says that a peer has no way to page through a list.
var ErrUnsuitable = errors.New("the peer cannot page through such a list")

// List is what peers page through: a collection in an order, which a compound index on the field and _id serves.
type List struct {
	Collection *mongo.Collection
	Order      pagination.Order
	Projection bson.D // the fields that a row shows, the sort field among them; nil for all
	Index      string // name of the index
}

// Peer is a way to page through one list.
type Peer interface {
	Name() string
	// Position is where the page behind a place of the list begins.
	Position(at Place) (Position, error)
	// Fetch reads the page of at most limit rows that begins at a position. What is timed is this: it ends when the
	// last byte is here, and nothing is looked into yet.
	Fetch(ctx context.Context, at Position, limit int) (Answer, error)
}

// Answer looks into what was fetched.
type Answer func() (Page, error)

// Page is an answer that was looked into.
type Page struct {
	IDs  []bson.ObjectID // of its rows
	Next *Position       // nil where the peer takes it for the last one
}

// Position is where a page begins; the zero value is the beginning of the list. Each peer reads the part that it pages
// by, and leaves out the others.
type Position struct {
	Rows   int                    // that come before
	Last   *pagination.RowKey     // of them
	Keyset pagination.RowPosition // as the catalogue has it
	Token  string                 // as a server hands it out
}

// Place is a place between two rows of a list.
type Place struct {
	Rows          int // that come before
	Last, LeftOut pagination.RowKey
}

// position is that of the peers which hold theirs in this process.
func (p Place) position() Position {
	behind := pagination.PositionBehind([]pagination.RowKey{p.Last}, p.LeftOut, func(k pagination.RowKey) pagination.RowKey { return k })
	return Position{Rows: p.Rows, Last: &p.Last, Keyset: behind}
}

// question is what differs between the finds of the peers that use the driver.
type question struct {
	filter bson.D
	sort   bson.D
	skip   int
	limit  int
	hinted bool
}

// find runs a find in the same manner as the catalogue: all rows in one batch, the deadline on the server too.
func (l List) find(ctx context.Context, q question) ([]bson.Raw, error) {
	if q.filter == nil {
		q.filter = bson.D{}
	}
	command := bson.D{
		{Key: "find", Value: l.Collection.Name()},
		{Key: "filter", Value: q.filter},
		{Key: "sort", Value: q.sort},
		{Key: "skip", Value: int64(q.skip)},
		{Key: "limit", Value: int64(q.limit)},
		{Key: "batchSize", Value: int64(q.limit)},
	}
	if len(l.Projection) > 0 {
		command = append(command, bson.E{Key: "projection", Value: l.Projection})
	}
	if q.hinted {
		command = append(command, bson.E{Key: "hint", Value: l.Index})
	}
	docs, err := mongodb.Find(ctx, l.Collection.Database(), command)
	if err != nil {
		return nil, fmt.Errorf("find in %s: %w", l.Collection.Name(), err)
	}
	return docs, nil
}

// sort is the order by the field and _id, as the database has it.
func (l List) sort() bson.D {
	direction := l.direction()
	return bson.D{{Key: l.Order.Field, Value: direction}, {Key: "_id", Value: direction}}
}

func (l List) direction() int32 {
	if l.Order.Descending {
		return -1
	}
	return 1
}

// beyond is the operator for what comes later in the list.
func (l List) beyond() string {
	if l.Order.Descending {
		return "$lt"
	}
	return "$gt"
}

// key is the place of a row. A missing field is null, as the database compares them.
func (l List) key(doc bson.Raw) (pagination.RowKey, error) {
	id, ok := doc.Lookup("_id").ObjectIDOK()
	if !ok {
		return pagination.RowKey{}, errors.New("a row without an ObjectID as _id")
	}
	value := doc.Lookup(strings.Split(l.Order.Field, ".")...)
	if value.IsZero() || value.Type == bson.TypeNull {
		return pagination.RowKey{Phase: pagination.Nulls, ID: id, Value: bson.RawValue{Type: bson.TypeNull}}, nil
	}
	return pagination.RowKey{Phase: pagination.Values, ID: id, Value: value}, nil
}

// keys are those of rows.
func (l List) keys(docs []bson.Raw) ([]pagination.RowKey, error) {
	keys := make([]pagination.RowKey, len(docs))
	for i, doc := range docs {
		key, err := l.key(doc)
		if err != nil {
			return nil, err
		}
		keys[i] = key
	}
	return keys, nil
}

func ids(keys []pagination.RowKey) []bson.ObjectID {
	out := make([]bson.ObjectID, len(keys))
	for i, key := range keys {
		out[i] = key.ID
	}
	return out
}

// named adds to a peer's name that it names its index.
func named(name string, hinted bool) string {
	if hinted {
		return name + ", hinted"
	}
	return name
}
