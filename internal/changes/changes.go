// Package changes is the only writer of entity collections, seeding made data apart.
package changes

import (
	"catalogue/internal/origin"
)

// Item is one imported object: its identity with the digest of its row, and the entity to store (a struct, or a
// pointer to one, with bson tags, whose _id is zero; the writer gives new objects their id and sets their source).
type Item struct {
	Source origin.Source
	Entity any
	// Fields are the stored paths that the row decides. An update sets those that the entity has and removes the
	// others; what is not among them is left alone.
	Fields []string
}

// Imported says what kind of objects the items of a collection are.
type Imported struct {
	// Entity is the name of one, as tombstones have it. Empty for those that leave none.
	Entity     string
	Collection string
	// Stamped says that the objects have a rev and a place in the feed.
	Stamped bool
	// Parent is the collection of what the objects stand below, by the field entity_id. Those that are stamped take their
	// mode from there. Empty where they stand alone.
	Parent string
}

// Imported is the kind as imports know it.
func (k Kind[T]) Imported() Imported {
	out := Imported{Entity: k.Entity, Collection: k.Collection, Stamped: true}
	if k.Parent != nil {
		out.Parent = k.Parent.Collection
	}
	return out
}

// Outcome says what became of an imported item.
type Outcome int

// The outcomes of an imported item.
const (
	// Unchanged says that what is stored says the same, or that it was deleted, alone or with what it stood below, since the
	// same row was imported.
	Unchanged Outcome = iota
	Inserted
	Updated
	Orphaned // it is new, and what it stands below has gone; nothing is stored
)
