package groups

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/creatives"
	"catalogue/feed"
	"catalogue/indexes"
	"catalogue/internal/mongodb"
)

// What an entry of a WiredTiger index takes besides the bytes of its values, for the estimate.
const (
	entryEnd      = 1    // byte that ends the key
	entryRecord   = 5    // bytes of the record's number, of collections of some hundred million rows
	entryCell     = 4    // bytes of the cells of key and value
	entryPageFill = 0.75 // of a page, after inserts in no order
	// sampledRows is how many documents the values are looked at of.
	sampledRows = 2000
)

// indexSize is what an index takes a row.
type indexSize struct {
	index indexes.Index
	// here is as measured on this engine, in bytes; 0 where it does not tell.
	here float64
	// estimate is that of a WiredTiger index in memory, in bytes: on disk neighbouring keys share their beginnings.
	estimate float64
}

// edge reports that new entries come at one end of the index, so that its other pages need not be in memory for writes.
func (s indexSize) edge() bool {
	leading := s.index.Keys[0].Key
	if leading == feedField {
		leading = s.index.Keys[1].Key
	}
	return slices.Contains([]string{"_id", "created_at", "updated_at", feed.SortField}, leading)
}

// feedField is the equality that leads the index of a feed.
const feedField = "feed"

// sizes are those of a collection and its declared indexes, a row.
type sizes struct {
	document float64 // bytes of BSON
	indexes  []indexSize
	told     bool // whether the engine tells the sizes of its indexes
}

// indexBytes sums the estimates, of all indexes or of those that wanted picks.
func (s sizes) indexBytes(wanted func(indexSize) bool) float64 {
	sum := 0.0
	for _, i := range s.indexes {
		if wanted == nil || wanted(i) {
			sum += i.estimate
		}
	}
	return sum
}

// sizesOf asks the engine for its sizes and looks at documents for the estimate.
func sizesOf(ctx context.Context, db *mongo.Database) (sizes, error) {
	var stats struct {
		Count      float64            `bson:"count"`
		IndexSizes map[string]float64 `bson:"indexSizes"`
	}
	if err := db.RunCommand(ctx, bson.D{{Key: "collStats", Value: creatives.Collection}}).Decode(&stats); err != nil {
		return sizes{}, fmt.Errorf("ask for the sizes of a collection: %w", err)
	}
	rows, err := mongodb.Find(ctx, db, bson.D{
		{Key: "find", Value: creatives.Collection},
		{Key: "limit", Value: int64(sampledRows)},
		{Key: "batchSize", Value: int64(sampledRows)},
	})
	if err != nil {
		return sizes{}, fmt.Errorf("read documents: %w", err)
	}
	if len(rows) == 0 {
		return sizes{}, fmt.Errorf("%s has no rows", db.Name())
	}
	out := sizes{}
	for _, row := range rows {
		out.document += float64(len(row)) / float64(len(rows))
	}
	ids := indexes.Index{Collection: creatives.Collection, Keys: bson.D{{Key: "_id", Value: int32(1)}}}
	declared := append([]indexes.Index{ids}, indexes.Distinct(creatives.Indexes(), feed.Indexes(creatives.Collection))...)
	for _, i := range declared {
		size := indexSize{index: i, estimate: estimate(i, rows)}
		if bytes, ok := stats.IndexSizes[nameOf(i)]; ok && stats.Count > 0 {
			size.here, out.told = bytes/stats.Count, true
		}
		out.indexes = append(out.indexes, size)
	}
	return out, nil
}

// nameOf is the name of an index in the engine's statistics. That of _id has one of its own.
func nameOf(i indexes.Index) string {
	if len(i.Keys) == 1 && i.Keys[0].Key == "_id" {
		return "_id_"
	}
	return i.Name()
}

// estimate is how many bytes an index takes in memory for a row, on the average of rows.
func estimate(i indexes.Index, rows []bson.Raw) float64 {
	sum := 0
	for _, row := range rows {
		if len(i.Partial) > 0 && row.Lookup(strings.Split(i.Partial[0].Key, ".")...).Type == 0 {
			continue
		}
		entries, bytes := 1, entryEnd+entryRecord+entryCell
		for _, key := range i.Keys {
			value := row.Lookup(strings.Split(key.Key, ".")...)
			if items, ok := value.ArrayOK(); ok { // an entry for each item
				values, err := items.Values()
				if err == nil && len(values) > 0 {
					entries, value = len(values), values[0]
				}
			}
			bytes += keyBytes(value)
		}
		sum += entries * bytes
	}
	return float64(sum) / float64(len(rows)) / entryPageFill
}

// keyBytes is how long a value is in a key: its type and what tells it from others.
func keyBytes(v bson.RawValue) int {
	const kind = 1
	switch v.Type {
	case bson.TypeString:
		return kind + len(v.StringValue()) + 1
	case bson.TypeInt32, bson.TypeInt64:
		return kind + (bits.Len64(uint64(max(v.AsInt64(), -v.AsInt64())))+8)/8 //nolint:gosec // a magnitude
	case bson.TypeObjectID:
		return kind + len(bson.ObjectID{})
	case bson.TypeDouble, bson.TypeDateTime:
		return kind + 8
	default:
		return kind // null and missing
	}
}
