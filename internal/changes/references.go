package changes

import (
	"context"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Sources finds imported objects of one collection by where they came from.
type Sources struct{ coll *mongo.Collection }

// NewSources returns the sources of a collection.
func NewSources(coll *mongo.Collection) Sources { return Sources{coll: coll} }

// IDsBySource returns the ids of those objects of a system that exist, by source.id.
func (s Sources) IDsBySource(ctx context.Context, system string, ids []string) (map[string]bson.ObjectID, error) {
	out := make(map[string]bson.ObjectID, len(ids))
	projection := bson.D{{Key: "source.id", Value: 1}}
	err := findBySource(ctx, s.coll, bson.D{}, system, ids, projection, func(id string, doc bson.Raw) {
		if oid, ok := doc.Lookup("_id").ObjectIDOK(); ok {
			out[id] = oid
		}
	})
	return out, err
}

// References finds objects of one kind by where they came from, the deleted ones too: what refers to one was imported
// with its id, and names it for good.
type References struct {
	live       Sources
	tombstones *mongo.Collection
	entity     string
}

// NewReferences returns the references to objects of a kind that leaves tombstones.
func NewReferences(db *mongo.Database, kind Imported) References {
	return References{
		live: NewSources(db.Collection(kind.Collection)), tombstones: db.Collection(tombstoneCollection), entity: kind.Entity,
	}
}

// IDsBySource returns the ids of the objects of a system by source.id: of those that exist, and else of those that were
// deleted last.
func (r References) IDsBySource(ctx context.Context, system string, ids []string) (map[string]bson.ObjectID, error) {
	// The tombstones are read last: what is deleted between the two reads is in both or in them alone.
	out, err := r.live.IDsBySource(ctx, system, ids)
	if err != nil {
		return nil, err
	}
	missing := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { _, exists := out[id]; return exists })
	if len(missing) == 0 {
		return out, nil
	}
	deleted, err := latestTombstones(ctx, r.tombstones, r.entity, system, missing, func(stone bson.Raw) (bson.ObjectID, bool) {
		return stone.Lookup("id").ObjectIDOK()
	})
	maps.Copy(out, deleted)
	return out, err
}
