package changes

import (
	"context"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// tombstoneCollection holds what is left of deleted objects: their entity and id, when they were deleted, the place in
// the feed that this would have, and the source with the digest of the row that they were last imported from.
const tombstoneCollection = "tombstones"

// burialBatch is how many tombstones are written at once.
const burialBatch = 500

// Delete moves an object out of its collection, with what stands below it, and leaves tombstones.
func (w *Writer[T]) Delete(ctx context.Context, r Removal[T]) error {
	return persist(ctx, func(ctx context.Context) error {
		return transact(ctx, w.db, func(ctx context.Context) error { return w.remove(ctx, r) })
	})
}

// remove takes the object first: what is being created below it conflicts with that.
func (w *Writer[T]) remove(ctx context.Context, r Removal[T]) error {
	doc, err := w.read(ctx, r.ID, r.Check)
	if err != nil {
		return err
	}
	gone, err := inMajority(w.db, w.kind.Collection).DeleteOne(ctx, asRead(doc))
	if err != nil {
		return fmt.Errorf("delete the %s %s: %w", w.kind.Entity, r.ID.Hex(), err)
	}
	if gone.DeletedCount == 0 {
		return errStale
	}
	if err := w.bury(ctx, []mongo.WriteModel{tombstone(w.newID(), w.kind.Entity, doc)}); err != nil {
		return err
	}
	for _, child := range w.kind.Children {
		if err := w.removeBelow(ctx, r.ID, child); err != nil {
			return fmt.Errorf("delete the %s of the %s %s: %w", child.Collection, w.kind.Entity, r.ID.Hex(), err)
		}
	}
	if r.Inside == nil {
		return nil
	}
	return r.Inside(ctx)
}

// removeBelow deletes the rows of a collection that stand below an object.
func (w *Writer[T]) removeBelow(ctx context.Context, id bson.ObjectID, child Child) error {
	coll := inMajority(w.db, child.Collection)
	filter := bson.D{{Key: fieldEntityType, Value: w.kind.Entity}, {Key: fieldEntityID, Value: id}}
	if child.Entity != "" {
		if err := w.buryAll(ctx, coll, filter, child.Entity); err != nil {
			return err
		}
	}
	_, err := coll.DeleteMany(ctx, filter)
	return err
}

// buryAll leaves a tombstone for each row that is about to be deleted.
func (w *Writer[T]) buryAll(ctx context.Context, coll *mongo.Collection, filter bson.D, entity string) error {
	projection := bson.D{{Key: fieldPosition, Value: 1}, {Key: fieldSource, Value: 1}}
	cursor, err := coll.Find(ctx, filter, options.Find().SetProjection(projection))
	if err != nil {
		return err
	}
	defer func() { _ = cursor.Close(ctx) }() // late, it ends with the transaction
	var batch []mongo.WriteModel
	for cursor.Next(ctx) {
		// the cursor reuses its memory
		if batch = append(batch, tombstone(w.newID(), entity, slices.Clone(cursor.Current))); len(batch) == burialBatch {
			if err := w.bury(ctx, batch); err != nil {
				return err
			}
			batch = nil
		}
	}
	if err := cursor.Err(); err != nil {
		return err
	}
	return w.bury(ctx, batch)
}

func (w *Writer[T]) bury(ctx context.Context, batch []mongo.WriteModel) error {
	if len(batch) == 0 {
		return nil
	}
	if _, err := inMajority(w.db, tombstoneCollection).BulkWrite(ctx, batch); err != nil {
		return fmt.Errorf("leave tombstones: %w", err)
	}
	return nil
}

// tombstone makes what is left of a deleted object.
func tombstone(id bson.ObjectID, entity string, doc bson.Raw) mongo.WriteModel {
	fields := bson.D{
		{Key: "entity", Value: literal(entity)},
		{Key: "id", Value: literal(doc.Lookup(fieldID))},
		{Key: "deleted_at", Value: now},
	}
	if old := doc.Lookup(fieldPosition); !old.IsZero() {
		fields = append(fields, bson.E{Key: fieldPosition, Value: literal(old)})
	}
	if source := sourceOf(doc); source != nil {
		fields = append(fields, bson.E{Key: fieldSource, Value: literal(source)})
	}
	return mongo.NewUpdateOneModel().SetUpsert(true).
		SetFilter(bson.D{{Key: fieldID, Value: id}}).
		SetUpdate(bson.A{set(fields), set(bson.D{{Key: fieldPosition, Value: position()}})})
}

// sourceOf is the source of a stored object, as far as it can be one. Nil where there is none.
func sourceOf(doc bson.Raw) bson.D {
	var out bson.D
	for _, name := range []string{"system", "id", "digest"} {
		text, ok := doc.Lookup(fieldSource, name).StringValueOK()
		if !ok && name != "digest" {
			return nil
		}
		if ok {
			out = append(out, bson.E{Key: name, Value: text})
		}
	}
	return out
}
