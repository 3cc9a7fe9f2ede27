package changes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// chunk are the items that are written at once.
type chunk struct {
	db    *mongo.Database
	coll  *mongo.Collection
	kind  Imported
	newID func() bson.ObjectID
	whole bool // each round is a transaction

	items    []Item
	encoded  []elements      // the items' entities
	ids      []bson.ObjectID // of the items, for those that are new
	outcomes []Outcome
	tried    []bool   // an update was sent in an earlier round
	refused  []string // what the database said against an insert in an earlier round; "" where nothing
	open     []int    // indexes of the items that are not settled

	began time.Time     // of the last write
	took  time.Duration // of the longest write, its commit included
}

// round looks at the open items, settles those that are as they should be, and writes the others. What it wrote but
// cannot be sure of stays open for the next round.
func (c *chunk) round(ctx context.Context) error {
	var open []int
	c.began = time.Time{}
	attempt := func(ctx context.Context) (err error) {
		open, err = c.attempt(ctx)
		if c.whole && err == nil && len(open) > 0 {
			return errStale // a refused write has ended the transaction, the good ones with it
		}
		return err
	}
	if c.whole {
		alone := attempt
		attempt = func(ctx context.Context) error { return transact(ctx, c.db, alone) }
	}
	if err := persist(ctx, attempt); err != nil {
		return err
	}
	if c.open = open; !c.began.IsZero() {
		c.took = max(c.took, time.Since(c.began))
	}
	return nil
}

// attempt is a round's work. Of what it does to c, nothing hurts where it is undone.
func (c *chunk) attempt(ctx context.Context) (open []int, err error) {
	found, err := c.find(ctx)
	if err != nil {
		return nil, err
	}
	todo, err := c.compare(found)
	if err != nil {
		return nil, err
	}
	if todo, err = c.withoutDeleted(ctx, todo, found); err != nil {
		return nil, err
	}
	modes, err := c.parents(ctx, todo)
	if err != nil {
		return nil, err
	}
	if todo, err = c.withoutOrphans(ctx, todo, modes); err != nil {
		return nil, err
	}
	return c.write(ctx, todo, found, modes)
}

// compare settles the open items whose digest is stored, and returns the others.
func (c *chunk) compare(found map[string]bson.Raw) ([]int, error) {
	var todo []int
	for _, i := range c.open {
		source := c.items[i].Source
		doc, exists := found[source.ID]
		digest, _ := doc.Lookup(fieldSource, "digest").StringValueOK()
		switch {
		case !exists && c.refused[i] != "":
			return nil, &HiddenError{Source: source, Reason: c.refused[i]}
		case exists && digest == source.Digest:
			c.outcomes[i] = c.settled(i, doc)
		default:
			todo = append(todo, i)
		}
		if exists {
			c.refused[i] = ""
		}
	}
	return todo, nil
}

// settled tells what this call did for an object that has the item's digest now.
func (c *chunk) settled(i int, doc bson.Raw) Outcome {
	id, ok := doc.Lookup(fieldID).ObjectIDOK()
	switch {
	case ok && id == c.ids[i]:
		return Inserted // by an attempt whose answer was lost
	case c.tried[i]:
		return Updated
	default:
		return Unchanged
	}
}

// withoutDeleted settles the items whose objects were deleted since the same row was imported. An object that has their
// source now and no digest was made by somebody else since.
func (c *chunk) withoutDeleted(ctx context.Context, todo []int, found map[string]bson.Raw) ([]int, error) {
	if c.kind.Entity == "" {
		return todo, nil
	}
	digests, err := c.deletedDigests(ctx, slices.DeleteFunc(slices.Clone(todo), func(i int) bool {
		_, imported := digestOf(found[c.items[i].Source.ID])
		return imported
	}))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(todo, func(i int) bool {
		source := c.items[i].Source
		digest, deleted := digests[source.ID]
		deleted = deleted && digest == source.Digest
		if deleted {
			c.outcomes[i] = Unchanged
		}
		return deleted
	}), nil
}

// withoutOrphans settles the items below what is not there. Those that leave no tombstones of their own were imported
// before it was deleted, as far as anybody knows.
func (c *chunk) withoutOrphans(ctx context.Context, todo []int, modes map[bson.ObjectID]string) ([]int, error) {
	if c.kind.Parent == "" {
		return todo, nil
	}
	isOrphan := func(i int) bool { _, there := modes[c.parentOf(i)]; return !there }
	var parents []bson.ObjectID
	for _, i := range todo {
		if c.kind.Entity == "" && isOrphan(i) {
			parents = append(parents, c.parentOf(i))
		}
	}
	deleted, err := c.deleted(ctx, parents)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(todo, func(i int) bool {
		orphan := isOrphan(i)
		switch {
		case !orphan:
		case deleted[c.parentOf(i)]:
			c.outcomes[i] = Unchanged
		default:
			c.outcomes[i] = Orphaned
		}
		return orphan
	}), nil
}

// write sends what the items make of their objects, and returns those of which it is not sure.
func (c *chunk) write(
	ctx context.Context, todo []int, found map[string]bson.Raw, modes map[bson.ObjectID]string,
) ([]int, error) {
	var inserts, updates []int
	for _, i := range todo {
		if found[c.items[i].Source.ID] == nil {
			inserts = append(inserts, i)
		} else {
			updates = append(updates, i)
		}
	}
	c.began = time.Now()
	again, err := c.insert(ctx, inserts, modes)
	if err != nil {
		return nil, err
	}
	unsure, err := c.change(ctx, updates, found, modes)
	return slices.Concat(again, unsure), err
}

// insert makes new objects and returns those that another import was faster with. Where the rest of the transaction
// comes with them, they are stamped by a command of their own, which costs the database far less than an update each.
func (c *chunk) insert(ctx context.Context, items []int, modes map[bson.ObjectID]string) ([]int, error) {
	if len(items) == 0 {
		return nil, nil
	}
	for _, i := range items {
		c.outcomes[i] = Inserted
	}
	if c.kind.Stamped && !c.whole {
		models := make([]mongo.WriteModel, len(items))
		for n, i := range items {
			models[n] = c.upsertModel(i, modes)
		}
		_, err := c.coll.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
		return c.taken(items, err)
	}
	docs, ids := make([]any, len(items)), make([]bson.ObjectID, len(items))
	for n, i := range items {
		docs[n], ids[n] = c.document(i, modes), c.ids[i]
	}
	_, err := c.coll.InsertMany(ctx, docs, options.InsertMany().SetOrdered(false))
	if err != nil || !c.kind.Stamped {
		return c.taken(items, err)
	}
	if _, err := c.coll.UpdateMany(ctx, anyOf(ids), stamp()); err != nil {
		return nil, fmt.Errorf("stamp what is new: %w", err)
	}
	return nil, nil
}

// taken finds the inserts that the database has refused because there is an object with their source. Any other error
// is one of the whole write.
func (c *chunk) taken(items []int, err error) ([]int, error) {
	if err == nil {
		return nil, nil
	}
	failed, ok := errors.AsType[mongo.BulkWriteException](err)
	if !ok || failed.WriteConcernError != nil {
		return nil, err
	}
	var out []int
	for _, one := range failed.WriteErrors {
		if one.Code != codeDuplicateKey {
			return nil, err
		}
		i := items[one.Index]
		out = append(out, i)
		c.refused[i] = one.Message
	}
	return out, nil
}

// change updates objects that nobody has written since they were found, and returns all of them where one was written:
// the answer does not say which.
func (c *chunk) change(
	ctx context.Context, items []int, found map[string]bson.Raw, modes map[bson.ObjectID]string,
) ([]int, error) {
	if len(items) == 0 {
		return nil, nil
	}
	models := make([]mongo.WriteModel, len(items))
	for n, i := range items {
		var err error
		if models[n], err = c.updateModel(i, found[c.items[i].Source.ID], modes); err != nil {
			return nil, err
		}
	}
	result, err := c.coll.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
	if err != nil || result.MatchedCount == int64(len(items)) {
		return nil, err
	}
	return items, nil
}
