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

// Outcome says what became of an imported item.
type Outcome int

// The outcomes of an imported item.
const (
	Unchanged Outcome = iota // the row last imported had the same digest
	Inserted
	Updated
)
