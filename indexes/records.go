package indexes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// RecordsCollection holds a record of each index that Build built, so that Retire knows ours from those of others.
const RecordsCollection = "index_records"

// errGuard marks the error of a guard: whoever is told of it stops, whatever else there is to do.
var errGuard = errors.New("the work may not go on")

// Guard proves, right before a write, that the caller may still do it: it fails where its lock was lost. A nil guard
// always holds.
type Guard func(ctx context.Context) error

func (g Guard) check(ctx context.Context) error {
	if g == nil {
		return nil
	}
	if err := g(ctx); err != nil {
		return fmt.Errorf("%w: %w", errGuard, err)
	}
	return nil
}

// record is what is known of an index that Build built, or was about to build. The moments are those of the
// database's clock.
type record struct {
	ID         string     `bson:"_id"` // recordID
	Collection string     `bson:"collection"`
	Name       string     `bson:"name"` // in the database
	Key        string     `bson:"key"`  // as keyText writes it
	Unique     bool       `bson:"unique"`
	Partial    string     `bson:"partial"`     // as filterText writes it
	IntendedAt time.Time  `bson:"intended_at"` // right before the build
	BuiltAt    *time.Time `bson:"built_at"`    // nil where nobody saw the build end
	HiddenAt   *time.Time `bson:"hidden_at"`   // nil unless Retire hid it
}

func recordID(collection, name string) string { return collection + "/" + name }

// matches reports whether an index of the record's collection is the recorded one. Others may have come to its name
// since. When rows expire may be changed in place, so it is left out.
func (r record) matches(f found) bool {
	return r.Name == f.Name && r.Key == keyText(f.Keys) && r.Unique == f.Unique && !f.Sparse && !f.collated() &&
		r.Partial == filterText(f.Partial)
}

// records are all of them, by id.
type records map[string]record

// of finds the record of an index, or nil where it is not ours.
func (r records) of(collection string, f found) *record {
	rec, ok := r[recordID(collection, f.Name)]
	if !ok || !rec.matches(f) {
		return nil
	}
	return &rec
}

// ledger reads and writes the records.
type ledger struct {
	db    *mongo.Database
	guard Guard
}

func (l ledger) collection() *mongo.Collection { return l.db.Collection(RecordsCollection) }

func (l ledger) load(ctx context.Context) (records, error) {
	var list []record
	cursor, err := l.collection().Find(ctx, bson.D{})
	if err == nil {
		err = cursor.All(ctx, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("read the records of indexes: %w", err)
	}
	out := make(records, len(list))
	for _, r := range list {
		out[r.ID] = r
	}
	return out, nil
}

// intend says that an index will be built under a name that is free. It comes before the build, so that one that ends
// after its client died is still known to be ours.
func (l ledger) intend(ctx context.Context, i Index, name string) error {
	set := append(description(i, name), bson.E{Key: "intended_at", Value: "$$NOW"})
	return l.write(ctx, i.Collection, name, true,
		bson.D{{Key: "$set", Value: set}},
		bson.D{{Key: "$unset", Value: bson.A{"built_at", "hidden_at"}}})
}

// built says that the build has ended. It writes the whole record: another process may have forgotten the intent.
func (l ledger) built(ctx context.Context, i Index, name string) error {
	set := append(description(i, name),
		bson.E{Key: "intended_at", Value: ifNull("$intended_at", "$$NOW")},
		bson.E{Key: "built_at", Value: ifNull("$built_at", "$$NOW")})
	return l.write(ctx, i.Collection, name, true, bson.D{{Key: "$set", Value: set}})
}

// hidden says that Retire hides an index.
func (l ledger) hidden(ctx context.Context, collection, name string) error {
	return l.write(ctx, collection, name, false, bson.D{{Key: "$set", Value: bson.D{{Key: "hidden_at", Value: "$$NOW"}}}})
}

// shown says that an index is no longer hidden by Retire.
func (l ledger) shown(ctx context.Context, collection, name string) error {
	return l.write(ctx, collection, name, false, bson.D{{Key: "$unset", Value: bson.A{"hidden_at"}}})
}

// write updates a record by a pipeline, and with create set makes it where there is none.
func (l ledger) write(ctx context.Context, collection, name string, create bool, pipeline ...bson.D) error {
	if err := l.guard.check(ctx); err != nil {
		return err
	}
	_, err := l.collection().UpdateOne(ctx, bson.D{{Key: "_id", Value: recordID(collection, name)}}, pipeline,
		options.UpdateOne().SetUpsert(create))
	if err != nil {
		return fmt.Errorf("write the record of index %s of %s: %w", name, collection, err)
	}
	return nil
}

// forget removes the record of an index that is not there. With unbuilt set it keeps one whose build was seen to end:
// another process was quicker.
func (l ledger) forget(ctx context.Context, collection, name string, unbuilt bool) error {
	if err := l.guard.check(ctx); err != nil {
		return err
	}
	filter := bson.D{{Key: "_id", Value: recordID(collection, name)}}
	if unbuilt {
		filter = append(filter, bson.E{Key: "built_at", Value: nil})
	}
	if _, err := l.collection().DeleteOne(ctx, filter); err != nil {
		return fmt.Errorf("remove the record of index %s of %s: %w", name, collection, err)
	}
	return nil
}

// description is what a record says of an index, as fields of a pipeline: texts go in as they are.
func description(i Index, name string) bson.D {
	literal := func(v any) bson.D { return bson.D{{Key: "$literal", Value: v}} }
	return bson.D{
		{Key: "collection", Value: literal(i.Collection)},
		{Key: "name", Value: literal(name)},
		{Key: "key", Value: literal(keyText(i.Keys))},
		{Key: "unique", Value: literal(i.Unique)},
		{Key: "partial", Value: literal(filterText(i.Partial))},
	}
}

func ifNull(field, fallback string) bson.D {
	return bson.D{{Key: "$ifNull", Value: bson.A{field, fallback}}}
}
