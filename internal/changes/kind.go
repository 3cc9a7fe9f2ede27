package changes

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/strictbson"
)

// Kind tells the writer what it writes: a domain declares its own.
type Kind[T any] struct {
	Entity     string // the name of one, as history entries and tombstones have it
	Collection string
	Decoder    *strictbson.Decoder[T]
	// UpdatedAt says that objects have a field updated_at, which every API write sets. All have created_at.
	UpdatedAt bool
	// Settle completes a new version of an object before it is stored: it derives what follows from other fields and
	// refuses what is not allowed. old is nil at a creation, by is the user. It may run more than once for one write.
	Settle func(old, next *T, by string) (Effects, error)
	// Verify looks at what only a database knows, such as whether an object that is named exists. Nil where there is
	// nothing to look at. old is nil at a creation.
	Verify func(ctx context.Context, old, next *T) error
	// History says that the events of Settle become entries of the history.
	History bool
	// Parent is the object that these ones stand below. Nil where they stand alone.
	Parent *Parent[T]
	// Children stand below objects of this kind, and go with them.
	Children []Child
}

// Parent says what objects of a kind stand below. They take their mode from it when they are written, and none is
// created below one that is being deleted.
type Parent[T any] struct {
	Collection string
	ID         func(*T) bson.ObjectID
}

// Child says what stands below an object: the rows of a collection whose entity_type and entity_id name it.
type Child struct {
	Collection string
	// Entity is what their tombstones call them. Empty for rows that leave none.
	Entity string
}

// Effects are what a change does beside setting fields.
type Effects struct {
	// Now are top-level fields that are set to the moment of the write by the database's clock.
	Now []string
	// Clear are top-level fields that are removed, whatever is stored in them: also what does not fit its type, and so is
	// absent in the object.
	Clear  []string
	Events []Event
}

// Event is something that happened to an object, for its history.
type Event struct {
	Action   string
	From, To *string  // of a field that moved from one value to another
	Fields   []string // that changed, where it is more than one thing; sorted
}

// Saved is an object as it is stored now.
type Saved[T any] struct {
	ID      bson.ObjectID
	Rev     int64
	Item    T
	Changed bool // false where the write would have changed nothing, and did not happen
}

// Inside runs in the transaction of a write, right before its commit; its error undoes the write. It may run more than
// once: what it collects must be set, not added to. ctx carries the transaction.
type Inside[T any] func(ctx context.Context, s Saved[T]) error

// Change is a change of one object.
type Change[T any] struct {
	ID bson.ObjectID
	By string // the user
	// Check looks at the object as it is stored before anything else happens: preconditions, ownership. rev is 0 for an
	// object that has none yet. It may run more than once. Nil where there is nothing to look at.
	Check func(stored *T, rev int64) error
	// Apply changes the object. It may run more than once, each time on a fresh copy. Its error ends the change.
	Apply func(next *T) error
	// Removes are stored fields that go whatever is in them, since what does not fit its type is out of Apply's sight: the
	// path of each is the name of a top-level field, or that of a document and of a field in it. What is not stored, or
	// is null, makes no change.
	Removes [][]string
	Inside  Inside[T] // nil where there is none
}

// Removal is the deletion of one object.
type Removal[T any] struct {
	ID     bson.ObjectID
	By     string
	Check  func(stored *T, rev int64) error // as of a Change
	Inside func(ctx context.Context) error  // as of a Change; nil where there is none
}
