package pagination

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// command is a find command in the making.
type command struct {
	collection string
	filter     bson.D
	sort       bson.D
	projection bson.D
	limit      int
	hint       string
}

// Find is one of the commands that a page may take, for looking at its plan.
type Find struct {
	Kind    ReadKind
	Command bson.D
}

// Finds lists the commands that the page of q may take, in the order in which they would run.
func Finds(collection string, q Query) []Find {
	reads := q.From.Reads()
	if q.From.Passed > 0 {
		reads = slices.Insert(reads, 1, q.From.careful().Reads()[:2]...) // the two that the first may be replaced by
	}
	out := make([]Find, 0, len(reads))
	for _, read := range reads {
		limit := q.Limit + 1 + read.Passed
		out = append(out, Find{Kind: read.Kind, Command: findCommand(collection, q, read, limit, false).document()})
	}
	return out
}

// findCommand turns one read into a find. With placeable set, rows that have no place in the order are left out by
// the server.
func findCommand(collection string, q Query, read Read[bson.RawValue], limit int, placeable bool) command {
	filter := append(bson.D{}, q.Fixed...)
	filter = append(filter, predicate(q.Order, read)...)
	var and bson.A
	if len(q.Filter) > 0 {
		and = append(and, q.Filter) // ANDed as a whole, so that an $or of the user's survives
	}
	if placeable {
		and = append(and, placeableFilter(q.Order.Field))
	}
	if len(and) > 0 {
		filter = append(filter, bson.E{Key: "$and", Value: and})
	}
	sort := bson.D{{Key: q.Order.Field, Value: q.Order.direction()}, {Key: "_id", Value: q.Order.direction()}}
	if read.Kind == ReadStrays {
		sort = sort[1:] // values of several types have one order only, that of their ids
	}
	return command{
		collection: collection, filter: filter, sort: sort, projection: q.Projection, limit: limit, hint: q.Hint,
	}
}

// predicate is the range of one read. Each is a single range of the index (equality fields…, field, _id): never an
// $or, which no planner walks in order on every engine.
func predicate(order Order, read Read[bson.RawValue]) bson.D {
	beyond := "$gt"
	if order.Descending {
		beyond = "$lt"
	}
	field, lowest := order.Field, order.Kind.lowest()
	out := bson.D{}
	switch read.Kind {
	case ReadTies:
		out = append(out, bson.E{Key: field, Value: bson.D{{Key: "$eq", Value: read.Value}}})
	case ReadValues:
		bounds := bson.D{}
		if read.Bounded {
			bounds = append(bounds, bson.E{Key: beyond, Value: read.Value})
		}
		if !read.Bounded || order.Descending { // `$gt` a value keeps to the value's bracket by itself
			bounds = append(bounds, bson.E{Key: "$gte", Value: lowest})
		}
		out = append(out, bson.E{Key: field, Value: bounds})
	case ReadFrom:
		bounds := bson.D{{Key: beyond + "e", Value: read.Value}}
		if order.Descending {
			bounds = append(bounds, bson.E{Key: "$gte", Value: lowest})
		}
		out = append(out, bson.E{Key: field, Value: bounds})
	case ReadNulls:
		out = append(out, bson.E{Key: field, Value: nil})
	case ReadStrays:
		out = append(out, bson.E{Key: field, Value: bson.D{
			{Key: "$ne", Value: nil}, {Key: "$not", Value: bson.D{{Key: "$gte", Value: lowest}}},
		}})
	}
	if read.Bounded && read.Kind != ReadValues && read.Kind != ReadFrom {
		out = append(out, bson.E{Key: "_id", Value: bson.D{{Key: beyond, Value: bson.ObjectID(read.ID)}}})
	}
	return out
}

// placeableFilter matches the rows that have a place in the order by field: no array on its path, and an ObjectID.
func placeableFilter(field string) bson.D {
	var arrays bson.A
	parts := strings.Split(field, ".")
	for i := range parts {
		path := strings.Join(parts[:i+1], ".")
		arrays = append(arrays, bson.D{{Key: path, Value: bson.D{{Key: "$type", Value: "array"}}}})
	}
	return bson.D{
		{Key: "$nor", Value: arrays},
		{Key: "_id", Value: bson.D{{Key: "$type", Value: "objectId"}}},
	}
}

// document writes the command. The batch is as large as the limit, so that the server closes its cursor at once
// and there is no second round trip. maxTimeMS is not here: the driver adds it to a command from the context's
// deadline, and twice the same key is an error.
func (c command) document() bson.D {
	doc := bson.D{
		{Key: "find", Value: c.collection},
		{Key: "filter", Value: c.filter},
		{Key: "sort", Value: c.sort},
		{Key: "limit", Value: int64(c.limit)},
		{Key: "batchSize", Value: int64(c.limit)},
	}
	if len(c.projection) > 0 {
		doc = append(doc, bson.E{Key: "projection", Value: c.projection})
	}
	if c.hint != "" {
		doc = append(doc, bson.E{Key: "hint", Value: c.hint})
	}
	return doc
}
