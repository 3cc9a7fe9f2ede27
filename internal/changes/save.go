package changes

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"catalogue/internal/mongodb"
	"catalogue/internal/problem"
)

// now is the moment of a write by the database's clock.
const now = "$$NOW"

// update is one write of one object.
type update[T any] struct {
	filter  bson.D
	isNew   bool
	set     bson.D // fields to expressions
	mode    any    // the expression that the parent's mode gives; nil where the object has its own
	by      string
	effects Effects
	inside  Inside[T]
}

// unused is the filter of an object that is to be made: should the id be taken, nothing is overwritten.
func unused(id bson.ObjectID) bson.D {
	return bson.D{{Key: fieldID, Value: id}, {Key: fieldRev, Value: missing()}}
}

// asRead is the filter of an object that nobody has written since it was read.
func asRead(doc bson.Raw) bson.D {
	out := bson.D{{Key: fieldID, Value: equal(doc.Lookup(fieldID))}}
	if rev := doc.Lookup(fieldRev); !rev.IsZero() {
		return append(out, bson.E{Key: fieldRev, Value: equal(rev)})
	}
	return append(out, bson.E{Key: fieldRev, Value: missing()})
}

// equal finds a stored value again. Of the types that no query may name, which no writer of ours stores, it is the type.
func equal(v bson.RawValue) bson.D {
	if v.Type == bson.TypeUndefined || v.Type == bson.TypeDBPointer {
		return op("$type", int32(v.Type))
	}
	return op("$eq", v)
}

func missing() bson.D { return op("$exists", false) }

// read finds an object and has it checked.
func (w *Writer[T]) read(ctx context.Context, id bson.ObjectID, check func(*T, int64) error) (bson.Raw, error) {
	doc, err := w.db.Collection(w.kind.Collection).FindOne(ctx, bson.D{{Key: fieldID, Value: id}}).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, problem.NoObject(id.Hex())
	}
	if err != nil {
		return nil, fmt.Errorf("read the %s %s: %w", w.kind.Entity, id.Hex(), err)
	}
	if check != nil {
		stored := w.decode(doc)
		err = check(&stored.Item, stored.Rev)
	}
	return doc, err
}

// save writes an object, its history, and what else belongs to the same transaction.
func (w *Writer[T]) save(ctx context.Context, u update[T]) (Saved[T], error) {
	settings := options.FindOneAndUpdate().SetReturnDocument(options.After).SetUpsert(u.isNew)
	doc, err := inMajority(w.db, w.kind.Collection).FindOneAndUpdate(ctx, u.filter, w.pipeline(u), settings).Raw()
	switch {
	case errors.Is(err, mongo.ErrNoDocuments):
		return Saved[T]{}, errStale
	case isSourceTaken(err):
		return Saved[T]{}, sourceTaken(err)
	case err != nil:
		return Saved[T]{}, fmt.Errorf("write a %s: %w", w.kind.Entity, err)
	}
	if err := w.record(ctx, doc, u.by, u.effects.Events); err != nil {
		return Saved[T]{}, err
	}
	saved := w.decode(doc)
	saved.Changed = true
	if u.inside != nil {
		err = u.inside(ctx, saved)
	}
	return saved, err
}

// pipeline sets the fields of an object, then what the database knows best, then the stamp.
func (w *Writer[T]) pipeline(u update[T]) bson.A {
	moments := bson.D{}
	for _, field := range u.effects.Now {
		moments = append(moments, bson.E{Key: field, Value: now})
	}
	if u.isNew {
		moments = append(moments, bson.E{Key: fieldCreatedAt, Value: now})
	}
	if w.kind.UpdatedAt {
		moments = append(moments, bson.E{Key: fieldUpdatedAt, Value: now})
	}
	if u.mode != nil {
		moments = append(moments, bson.E{Key: fieldMode, Value: u.mode})
	}
	out := bson.A{}
	for _, fields := range []bson.D{u.set, moments} {
		if len(fields) > 0 {
			out = append(out, set(fields))
		}
	}
	return append(out, stamp()...)
}

// isSourceTaken reports whether a write would have given two objects one source.
func isSourceTaken(err error) bool {
	failed, ok := errors.AsType[mongo.CommandError](err)
	if !ok || !mongodb.IsDuplicateKey(err) {
		return false
	}
	key, _ := failed.Raw.Lookup("keyPattern").DocumentOK()
	first, err := key.IndexErr(0)
	return err == nil && strings.HasPrefix(first.Key(), fieldSource+".")
}

func sourceTaken(cause error) error {
	const text = "Another object has this source already."
	return &problem.Problem{
		Code: problem.SourceTaken, Detail: text, Cause: cause,
		Errors: []problem.FieldError{{Field: fieldSource, Code: problem.SourceTaken, Message: text}},
	}
}
