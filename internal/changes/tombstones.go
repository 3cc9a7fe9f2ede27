package changes

import (
	"context"
	"fmt"
	"maps"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// latestTombstones takes a value from the last tombstone with such a value of each source of a system, by source.id.
func latestTombstones[V any](
	ctx context.Context, coll *mongo.Collection, entity, system string, ids []string, take func(bson.Raw) (V, bool),
) (map[string]V, error) {
	projection := bson.D{{Key: "id", Value: 1}, {Key: fieldSource, Value: 1}, {Key: fieldPosition, Value: 1}}
	base := bson.D{{Key: "entity", Value: entity}}
	out, latest := map[string]V{}, map[string]float64{}
	err := findBySource(ctx, coll, base, system, ids, projection, func(id string, stone bson.Raw) {
		at, _ := stone.Lookup(fieldPosition).AsFloat64OK()
		value, has := take(stone)
		if before, again := latest[id]; !has || again && before > at {
			return
		}
		out[id], latest[id] = value, at
	})
	if err != nil {
		return nil, fmt.Errorf("find what was deleted: %w", err)
	}
	return out, nil
}

// deletedDigests are the digests of the rows from which deleted objects were imported last, by source.id. Objects that
// were never imported have none.
func (c *chunk) deletedDigests(ctx context.Context, items []int) (map[string]string, error) {
	out := map[string]string{}
	for system, ids := range c.bySystem(items) {
		found, err := latestTombstones(ctx, c.db.Collection(tombstoneCollection), c.kind.Entity, system, ids, digestOf)
		if err != nil {
			return nil, err
		}
		maps.Copy(out, found)
	}
	return out, nil
}

// digestOf is the digest of the row that a stored object, or what is left of it, was last imported from.
func digestOf(doc bson.Raw) (string, bool) {
	digest, ok := doc.Lookup(fieldSource, "digest").StringValueOK()
	return digest, ok && digest != ""
}

// deleted are those of the ids that have tombstones.
func (c *chunk) deleted(ctx context.Context, ids []bson.ObjectID) (map[bson.ObjectID]bool, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	filter := bson.D{{Key: "id", Value: op("$in", ids)}}
	cursor, err := c.db.Collection(tombstoneCollection).Find(ctx, filter, options.Find().SetProjection(bson.D{{Key: "id", Value: 1}}))
	if err != nil {
		return nil, fmt.Errorf("find deleted %s: %w", c.kind.Parent, err)
	}
	var stones []bson.Raw
	if err := cursor.All(ctx, &stones); err != nil {
		return nil, fmt.Errorf("find deleted %s: %w", c.kind.Parent, err)
	}
	out := make(map[bson.ObjectID]bool, len(stones))
	for _, stone := range stones {
		out[stone.Lookup("id").ObjectID()] = true // it was found by one
	}
	return out, nil
}
