package changes

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"catalogue/internal/origin"
)

// maxRounds bounds how often a batch is looked at again because somebody else has written its objects in between.
// Each round makes progress for someone; an import that loses this often is not alone with other imports.
const maxRounds = 10

// codeDuplicateKey is the server's code for a second document under a unique key.
const codeDuplicateKey = 11000

// ErrContended says that others kept writing the objects of a batch while it was written.
var ErrContended = errors.New("others keep writing the same objects")

// HiddenError says that an object cannot be inserted since another one has its place under a unique index, but is not
// found by its source: its source may be an array, or the index one that is not of sources.
type HiddenError struct {
	Source origin.Source
	Reason string // the database's own
}

func (e *HiddenError) Error() string {
	return fmt.Sprintf("the object %s of %s cannot be inserted, and no object with this source is found that could be "+
		"updated: %s", e.Source.ID, e.Source.System, e.Reason)
}

// Importer writes imported objects. It needs the unique index on (source.system, source.id): without it two imports
// at once may double a row.
type Importer struct {
	db    *mongo.Database
	newID func() bson.ObjectID
}

// NewImporter returns a writer to db that gives new objects their ids from newID.
func NewImporter(db *mongo.Database, newID func() bson.ObjectID) *Importer {
	return &Importer{db: db, newID: newID}
}

// Apply inserts the items that are not in the collection, updates those whose row has another digest than the one
// last imported, and leaves the others alone. Each object is written in one step; where an error ends the call, some
// are written and some are not, and the same call again completes it. An item's source is unique among items.
//
// Several calls at once are safe: an object that another import has inserted or updated since it was looked at is
// looked at again. Updated then means that the object had other content before the call and has the item's after it.
func (im *Importer) Apply(ctx context.Context, collection string, items []Item) ([]Outcome, error) {
	b := &batch{
		coll:     im.db.Collection(collection),
		items:    items,
		ids:      make([]bson.ObjectID, len(items)),
		outcomes: make([]Outcome, len(items)),
		tried:    make([]bool, len(items)),
		refused:  make([]string, len(items)),
	}
	for i := range items {
		b.ids[i] = im.newID()
		b.open = append(b.open, i)
	}
	for range maxRounds {
		if len(b.open) == 0 {
			return b.outcomes, nil
		}
		if err := b.round(ctx); err != nil {
			return nil, fmt.Errorf("import into %s: %w", collection, err)
		}
	}
	if len(b.open) > 0 {
		return nil, fmt.Errorf("import into %s: %w", collection, ErrContended)
	}
	return b.outcomes, nil
}

// batch is one call of Apply.
type batch struct {
	coll     *mongo.Collection
	items    []Item
	ids      []bson.ObjectID // of the items, for those that are new
	outcomes []Outcome
	tried    []bool   // an update was sent in an earlier round
	refused  []string // what the database said against an insert in an earlier round; "" where nothing
	open     []int    // indexes of the items that are not settled
}

// round looks at the open items, settles those that are as they should be, and writes the others. What it wrote but
// cannot be sure of stays open for the next round.
func (b *batch) round(ctx context.Context) error {
	stored, err := b.find(ctx)
	if err != nil {
		return err
	}
	var inserts, updates []int
	for _, i := range b.open {
		old, exists := stored[b.items[i].Source.ID]
		if exists {
			b.refused[i] = ""
		}
		switch {
		case !exists && b.refused[i] != "":
			return &HiddenError{Source: b.items[i].Source, Reason: b.refused[i]}
		case !exists:
			inserts = append(inserts, i)
		case old.hasDigest(b.items[i].Source.Digest):
			b.outcomes[i] = b.settled(i, old)
		default:
			updates = append(updates, i)
		}
	}
	again, err := b.insert(ctx, inserts)
	if err != nil {
		return err
	}
	unsure, err := b.update(ctx, updates, stored)
	if err != nil {
		return err
	}
	b.open = slices.Concat(again, unsure)
	return nil
}

// settled tells what this call did for an object that has the item's digest now.
func (b *batch) settled(i int, old stored) Outcome {
	switch {
	case old.hasID(b.ids[i]):
		return Inserted // by an attempt whose answer was lost
	case b.tried[i]:
		return Updated
	default:
		return Unchanged
	}
}

// insert writes new objects and returns those that another import was faster with.
func (b *batch) insert(ctx context.Context, indexes []int) ([]int, error) {
	if len(indexes) == 0 {
		return nil, nil
	}
	docs := make([]any, len(indexes))
	for n, i := range indexes {
		doc, err := document(b.items[i], b.ids[i])
		if err != nil {
			return nil, err
		}
		docs[n] = doc
		b.outcomes[i] = Inserted
	}
	_, err := b.coll.InsertMany(ctx, docs, options.InsertMany().SetOrdered(false))
	if err == nil {
		return nil, nil
	}
	failed, ok := errors.AsType[mongo.BulkWriteException](err)
	if !ok || failed.WriteConcernError != nil {
		return nil, err
	}
	var again []int
	for _, one := range failed.WriteErrors {
		if one.Code != codeDuplicateKey {
			return nil, err
		}
		i := indexes[one.Index]
		again = append(again, i)
		b.refused[i] = one.Message
	}
	return again, nil
}

// update changes objects whose digest is still the one that was found, and returns all of them where one was not:
// the answer does not say which.
func (b *batch) update(ctx context.Context, indexes []int, stored map[string]stored) ([]int, error) {
	if len(indexes) == 0 {
		return nil, nil
	}
	models := make([]mongo.WriteModel, len(indexes))
	for n, i := range indexes {
		model, err := updateModel(b.items[i], stored[b.items[i].Source.ID])
		if err != nil {
			return nil, err
		}
		models[n] = model
		b.outcomes[i], b.tried[i] = Updated, true
	}
	result, err := b.coll.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
	if err != nil {
		return nil, err
	}
	if result.MatchedCount == int64(len(indexes)) {
		return nil, nil
	}
	return indexes, nil
}
