package changes

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"catalogue/internal/problem"
)

// The fields by which an object names the one that it stands below.
const (
	fieldEntityType = "entity_type"
	fieldEntityID   = "entity_id"
)

// fieldLock is set in a parent while something is written below it, so that the transaction conflicts with the parent's
// deletion. Its value, another one each time, means nothing.
const fieldLock = "lock"

// lockParent makes sure that the parent of a new object stays, and returns the mode that the object takes from it; nil
// for kinds without parents.
func (w *Writer[T]) lockParent(ctx context.Context, item *T) (any, error) {
	if w.kind.Parent == nil {
		return nil, nil
	}
	id := w.kind.Parent.ID(item)
	doc, err := w.db.Collection(w.kind.Parent.Collection).FindOneAndUpdate(ctx,
		bson.D{{Key: fieldID, Value: id}}, lock(w.newID()),
		options.FindOneAndUpdate().SetProjection(bson.D{{Key: fieldMode, Value: 1}})).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, problem.NoObject(id.Hex())
	}
	if err != nil {
		return nil, fmt.Errorf("lock the parent of a %s: %w", w.kind.Entity, err)
	}
	return modeTaken(modeBelow(doc)), nil
}

// lock is an update that changes nothing but the lock.
func lock(id bson.ObjectID) bson.D { return set(bson.D{{Key: fieldLock, Value: id}}) }

// parentMode is the mode that a changed object takes from its parent. Below a parent that is not there it keeps its
// own. The parent is not locked: its deletion writes the object, too.
func (w *Writer[T]) parentMode(ctx context.Context, item *T) (any, error) {
	if w.kind.Parent == nil {
		return nil, nil
	}
	doc, err := w.db.Collection(w.kind.Parent.Collection).FindOne(ctx,
		bson.D{{Key: fieldID, Value: w.kind.Parent.ID(item)}},
		options.FindOne().SetProjection(bson.D{{Key: fieldMode, Value: 1}})).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the parent of a %s: %w", w.kind.Entity, err)
	}
	return modeTaken(modeBelow(doc)), nil
}

// modeBelow is the mode of what stands below doc: "" where doc has none that is known.
func modeBelow(doc bson.Raw) string {
	mode, _ := doc.Lookup(fieldMode).StringValueOK()
	if mode != modeLive && mode != modeTest {
		return ""
	}
	return mode
}

// modeTaken is the expression of a mode that modeBelow found.
func modeTaken(mode string) any {
	if mode == "" {
		return remove
	}
	return literal(mode)
}
