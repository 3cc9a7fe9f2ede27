package changes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/origin"
)

// maxRounds bounds how often a chunk is looked at again because somebody else has written its objects in between.
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

// ImporterOptions say what an importer writes, and how.
type ImporterOptions struct {
	NewID func() bson.ObjectID
	Kinds []Imported
	// Transactions says that the database has them. Without them an import is slower, and nothing keeps a parent from being
	// deleted while objects are imported below it.
	Transactions bool
}

// Importer writes imported objects. It needs the unique index on (source.system, source.id): without it two imports
// at once may double a row. It writes no history.
type Importer struct {
	db      *mongo.Database
	options ImporterOptions
	pace    pace
}

// NewImporter returns a writer to db.
func NewImporter(db *mongo.Database, o ImporterOptions) *Importer {
	return &Importer{db: db, options: o}
}

// Apply inserts the items that are not in the collection, updates those whose row has another digest than the one
// last imported and says something else than what is stored, and leaves the others alone, the deleted ones too where the
// row is still the same. Each object is written in one step; where an error ends the call, some are written and some
// are not, and the same call again completes it. An item's source is unique among items.
//
// Several calls at once are safe: an object that somebody else has inserted or changed since it was looked at is looked
// at again. Updated then means that the object had other content before the call and has the item's after it.
func (im *Importer) Apply(ctx context.Context, collection string, items []Item) ([]Outcome, error) {
	kind, err := im.kind(collection)
	if err != nil {
		return nil, err
	}
	outcomes := make([]Outcome, 0, len(items))
	for rest := items; len(rest) > 0; {
		part := rest[:min(len(rest), im.pace.next())]
		done, took, err := im.apply(ctx, kind, part)
		if err != nil {
			return nil, fmt.Errorf("import into %s: %w", collection, err)
		}
		im.pace.took(len(part), took)
		outcomes, rest = append(outcomes, done...), rest[len(part):]
	}
	return outcomes, nil
}

func (im *Importer) kind(collection string) (Imported, error) {
	for _, k := range im.options.Kinds {
		if k.Collection == collection {
			return k, nil
		}
	}
	return Imported{}, fmt.Errorf("import into %s: it is not known what it holds", collection)
}

// apply writes a chunk, and tells how long the longest of its writes took.
func (im *Importer) apply(ctx context.Context, kind Imported, items []Item) ([]Outcome, time.Duration, error) {
	c := &chunk{
		db: im.db, coll: inMajority(im.db, kind.Collection), kind: kind,
		newID:    im.options.NewID,
		whole:    im.options.Transactions,
		items:    items,
		encoded:  make([]elements, len(items)),
		ids:      make([]bson.ObjectID, len(items)),
		outcomes: make([]Outcome, len(items)),
		tried:    make([]bool, len(items)),
		refused:  make([]string, len(items)),
	}
	for i, item := range items {
		var err error
		if c.encoded[i], err = encode(item.Entity); err != nil {
			return nil, 0, fmt.Errorf("encode the object %s of %s: %w", item.Source.ID, item.Source.System, err)
		}
		c.ids[i] = c.newID()
		c.open = append(c.open, i)
	}
	for range maxRounds {
		if err := c.round(ctx); err != nil || len(c.open) == 0 {
			return c.outcomes, c.took, err
		}
	}
	return nil, 0, ErrContended
}
