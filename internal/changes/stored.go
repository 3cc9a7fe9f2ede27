package changes

import (
	"context"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// stored is what an update needs to know of an object: which row it was last imported from, and what stands where
// the row's fields go.
type stored struct {
	id     bson.RawValue // of any type: an object that somebody else has made need not have an ObjectID
	digest bson.RawValue // zero where there is none
	doc    bson.Raw
}

func (s stored) hasID(id bson.ObjectID) bool {
	own, ok := s.id.ObjectIDOK()
	return ok && own == id
}

func (s stored) hasDigest(digest string) bool {
	text, ok := s.digest.StringValueOK()
	return ok && text == digest
}

// find reads the open items' objects, by source.id. All items of a batch are of one system.
func (b *batch) find(ctx context.Context) (map[string]stored, error) {
	bySystem := map[string][]string{}
	for _, i := range b.open {
		source := b.items[i].Source
		bySystem[source.System] = append(bySystem[source.System], source.ID)
	}
	projection := bson.D{{Key: "source", Value: 1}}
	for _, parent := range parents(b.items[0].Fields) {
		projection = append(projection, bson.E{Key: parent, Value: 1})
	}
	out := map[string]stored{}
	for system, ids := range bySystem {
		err := findBySource(ctx, b.coll, system, ids, projection, func(id string, doc bson.Raw) {
			doc = slices.Clone(doc) // the cursor reuses its memory
			out[id] = stored{id: doc.Lookup("_id"), digest: doc.Lookup("source", "digest"), doc: doc}
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// parents lists the embedded documents that the fields lie in.
func parents(fields []string) []string {
	var out []string
	for _, f := range fields {
		if parent, _, nested := strings.Cut(f, "."); nested && !slices.Contains(out, parent) {
			out = append(out, parent)
		}
	}
	return out
}

// findBySource calls each with every object of a system that has one of the ids.
func findBySource(
	ctx context.Context, coll *mongo.Collection, system string, ids []string, projection bson.D,
	each func(id string, doc bson.Raw),
) error {
	filter := bson.D{
		{Key: "source.system", Value: bson.D{{Key: "$eq", Value: system}}},
		{Key: "source.id", Value: bson.D{{Key: "$in", Value: ids}}},
	}
	cursor, err := coll.Find(ctx, filter, options.Find().SetProjection(projection))
	if err != nil {
		return err
	}
	defer func() { _ = cursor.Close(context.WithoutCancel(ctx)) }() // what it has to say, Err has said
	for cursor.Next(ctx) {
		if id, ok := cursor.Current.Lookup("source", "id").StringValueOK(); ok {
			each(id, cursor.Current)
		}
	}
	return cursor.Err()
}

// Sources finds imported objects of one collection by where they came from.
type Sources struct{ coll *mongo.Collection }

// NewSources returns the sources of a collection.
func NewSources(coll *mongo.Collection) Sources { return Sources{coll: coll} }

// IDsBySource returns the ids of those objects of a system that exist, by source.id.
func (s Sources) IDsBySource(ctx context.Context, system string, ids []string) (map[string]bson.ObjectID, error) {
	out := make(map[string]bson.ObjectID, len(ids))
	projection := bson.D{{Key: "source.id", Value: 1}}
	err := findBySource(ctx, s.coll, system, ids, projection, func(id string, doc bson.Raw) {
		if oid, ok := doc.Lookup("_id").ObjectIDOK(); ok {
			out[id] = oid
		}
	})
	return out, err
}
