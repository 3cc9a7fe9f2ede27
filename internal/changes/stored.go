package changes

import (
	"context"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// find reads the open items' objects, by source.id, as far as an update looks at them.
func (c *chunk) find(ctx context.Context) (map[string]bson.Raw, error) {
	projection := bson.D{{Key: fieldSource, Value: 1}, {Key: fieldRev, Value: 1}}
	for _, name := range topLevel(c.items[0].Fields) {
		projection = append(projection, bson.E{Key: name, Value: 1})
	}
	out := map[string]bson.Raw{}
	for system, ids := range c.bySystem(c.open) {
		err := findBySource(ctx, c.coll, bson.D{}, system, ids, projection, func(id string, doc bson.Raw) {
			out[id] = slices.Clone(doc) // the cursor reuses its memory
		})
		if err != nil {
			return nil, fmt.Errorf("find what is stored: %w", err)
		}
	}
	return out, nil
}

// bySystem are the source.ids of items by their system, of which there is one in all.
func (c *chunk) bySystem(items []int) map[string][]string {
	out := map[string][]string{}
	for _, i := range items {
		source := c.items[i].Source
		out[source.System] = append(out[source.System], source.ID)
	}
	return out
}

// parents locks what the items stand below, where there are transactions, and tells the modes that they take from
// there, by id. What is missing has gone.
func (c *chunk) parents(ctx context.Context, items []int) (map[bson.ObjectID]string, error) {
	if c.kind.Parent == "" || len(items) == 0 {
		return nil, nil
	}
	ids := make([]bson.ObjectID, 0, len(items))
	for _, i := range items {
		ids = append(ids, c.parentOf(i))
	}
	slices.SortFunc(ids, compareIDs)
	ids = slices.Compact(ids)
	if c.whole {
		if _, err := inMajority(c.db, c.kind.Parent).UpdateMany(ctx, anyOf(ids), lock(c.newID())); err != nil {
			return nil, fmt.Errorf("lock the %s: %w", c.kind.Parent, err)
		}
	}
	return modesBelow(ctx, c.db.Collection(c.kind.Parent), ids)
}

func compareIDs(a, b bson.ObjectID) int { return slices.Compare(a[:], b[:]) }

func anyOf(ids []bson.ObjectID) bson.D { return bson.D{{Key: fieldID, Value: op("$in", ids)}} }

// modesBelow are the modes of what stands below the objects of coll that exist, by their ids: see modeBelow.
func modesBelow(ctx context.Context, coll *mongo.Collection, ids []bson.ObjectID) (map[bson.ObjectID]string, error) {
	out := make(map[bson.ObjectID]string, len(ids))
	cursor, err := coll.Find(ctx, anyOf(ids), options.Find().SetProjection(bson.D{{Key: fieldMode, Value: 1}}))
	if err != nil {
		return nil, fmt.Errorf("read the modes of %s: %w", coll.Name(), err)
	}
	var docs []bson.Raw
	if err := cursor.All(ctx, &docs); err != nil {
		return nil, fmt.Errorf("read the modes of %s: %w", coll.Name(), err)
	}
	for _, doc := range docs {
		if id, ok := doc.Lookup(fieldID).ObjectIDOK(); ok {
			out[id] = modeBelow(doc)
		}
	}
	return out, nil
}

// findBySource calls each with every object that base finds of a system and has one of the ids.
func findBySource(
	ctx context.Context, coll *mongo.Collection, base bson.D, system string, ids []string, projection bson.D,
	each func(id string, doc bson.Raw),
) error {
	filter := append(slices.Clip(base),
		bson.E{Key: "source.system", Value: op("$eq", system)}, bson.E{Key: "source.id", Value: op("$in", ids)})
	cursor, err := coll.Find(ctx, filter, options.Find().SetProjection(projection))
	if err != nil {
		return err
	}
	defer closeCursor(ctx, cursor)
	for cursor.Next(ctx) {
		if id, ok := cursor.Current.Lookup("source", "id").StringValueOK(); ok {
			each(id, cursor.Current)
		}
	}
	return cursor.Err()
}
