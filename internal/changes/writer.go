package changes

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Writer creates, changes and deletes objects of one kind. Where a write meets others of the same object it is tried
// again until ctx ends. Its errors are problems where clients may see them: an object that is not there, a source that
// another object has, others that kept writing, and what Settle, Verify and the parts of a change refuse.
type Writer[T any] struct {
	db    *mongo.Database
	kind  Kind[T]
	newID func() bson.ObjectID
}

// NewWriter returns a writer of a kind of objects that gives new ones their ids from newID.
func NewWriter[T any](db *mongo.Database, kind Kind[T], newID func() bson.ObjectID) *Writer[T] {
	return &Writer[T]{db: db, kind: kind, newID: newID}
}

// Create stores a new object. Its id, stamp and times of creation and update are the writer's, whatever item says.
// inside is nil where there is nothing to do. Below a parent that is not there, the error is problem.NotFound.
func (w *Writer[T]) Create(ctx context.Context, by string, item T, inside Inside[T]) (Saved[T], error) {
	effects, err := w.kind.Settle(nil, &item, by)
	if err != nil {
		return Saved[T]{}, err
	}
	fields, err := encode(item)
	if err != nil {
		return Saved[T]{}, fmt.Errorf("create a %s: %w", w.kind.Entity, err)
	}
	u := update[T]{filter: unused(w.newID()), isNew: true, by: by, effects: effects, inside: inside}
	for _, f := range fields {
		u.set = append(u.set, bson.E{Key: f.name, Value: literal(f.value)})
	}
	return w.run(ctx, inside != nil, func(ctx context.Context) (Saved[T], error) {
		if err := w.verify(ctx, nil, &item); err != nil {
			return Saved[T]{}, err
		}
		mode, err := w.lockParent(ctx, &item)
		if err != nil {
			return Saved[T]{}, err
		}
		u.mode = mode
		return w.save(ctx, u)
	})
}

// Patch changes an object. Where Apply leaves it as it is, nothing is written and Inside is not called: a value that
// follows from others, or from the parent, is put right with the next change.
func (w *Writer[T]) Patch(ctx context.Context, c Change[T]) (Saved[T], error) {
	return w.run(ctx, c.Inside != nil, func(ctx context.Context) (Saved[T], error) { return w.patch(ctx, c) })
}

func (w *Writer[T]) patch(ctx context.Context, c Change[T]) (Saved[T], error) {
	doc, err := w.read(ctx, c.ID, c.Check)
	if err != nil {
		return Saved[T]{}, err
	}
	old, next := w.decode(doc), w.decode(doc)
	before, err := encode(old.Item)
	if err != nil {
		return Saved[T]{}, fmt.Errorf("change the %s %s: %w", w.kind.Entity, c.ID.Hex(), err)
	}
	if err := c.Apply(&next.Item); err != nil {
		return Saved[T]{}, err
	}
	gone := storedPaths(doc, c.Removes)
	if applied, err := encode(next.Item); err != nil || before.equal(applied) && len(gone) == 0 {
		return old, err
	}
	effects, err := w.kind.Settle(&old.Item, &next.Item, c.By)
	if err != nil {
		return Saved[T]{}, err
	}
	if err := w.verify(ctx, &old.Item, &next.Item); err != nil {
		return Saved[T]{}, err
	}
	for _, field := range effects.Clear {
		gone = append(gone, storedPaths(doc, [][]string{{field}})...)
	}
	u := update[T]{filter: asRead(doc), by: c.By, effects: effects, inside: c.Inside}
	if u.set, err = difference(doc, before, next.Item, gone); err != nil || len(u.set) == 0 {
		return old, err
	}
	if u.mode, err = w.parentMode(ctx, &next.Item); err != nil {
		return Saved[T]{}, err
	}
	return w.save(ctx, u)
}

func difference(doc bson.Raw, before elements, next any, gone [][]string) (bson.D, error) {
	after, err := encode(next)
	if err != nil {
		return nil, err
	}
	return assignments(doc, before, after, gone)
}

// run persists an attempt: in a transaction where more than the object itself is written.
func (w *Writer[T]) run(
	ctx context.Context, inside bool, attempt func(context.Context) (Saved[T], error),
) (saved Saved[T], err error) {
	once := func(ctx context.Context) (err error) {
		saved, err = attempt(ctx)
		return err
	}
	if inside || w.kind.History || w.kind.Parent != nil {
		alone := once
		once = func(ctx context.Context) error { return transact(ctx, w.db, alone) }
	}
	if err := persist(ctx, once); err != nil {
		return Saved[T]{}, err
	}
	return saved, nil
}

func (w *Writer[T]) verify(ctx context.Context, old, next *T) error {
	if w.kind.Verify == nil {
		return nil
	}
	return w.kind.Verify(ctx, old, next)
}

// decode is an object as it is stored. What does not fit its type is absent.
func (w *Writer[T]) decode(doc bson.Raw) Saved[T] {
	id, _ := doc.Lookup(fieldID).ObjectIDOK() // it was found by one
	item, _ := w.kind.Decoder.Decode(doc)
	return Saved[T]{ID: id, Rev: revOf(doc), Item: item}
}

// revOf is the rev of a stored object, or 0 where it has none.
func revOf(doc bson.Raw) int64 {
	v := doc.Lookup(fieldRev)
	if rev, ok := integerOf(v); ok {
		return rev
	}
	if f, ok := v.DoubleOK(); ok && f < float64(maxRev) && f == float64(int64(f)) {
		return int64(f)
	}
	return 0
}
