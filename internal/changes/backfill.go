package changes

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// maxPosition is the last moment that positions are served for, the end of the year 9999, in Unix seconds.
const maxPosition = 253402300799.999

// Unstamped finds the rows that were stored before there were revs and positions, or by a program that does not know
// what these may be. A condition on a number holds for an array with such a number in it, too, which is none.
func Unstamped() bson.D {
	position := bson.D{{Key: "$gte", Value: 0}, {Key: "$lte", Value: maxPosition}}
	return bson.D{{Key: "$or", Value: bson.A{
		bson.D{{Key: fieldRev, Value: op("$not", op("$type", "number"))}},
		bson.D{{Key: fieldRev, Value: op("$type", "array")}},
		bson.D{{Key: fieldPosition, Value: op("$not", position)}},
		bson.D{{Key: fieldPosition, Value: op("$type", "array")}},
	}}}
}

// Backfill stamps the rows that Unstamped finds: with a first rev, or the one after theirs, with the moment of now and
// their place in the feed; those that stand below others take the mode from there. Their other fields stay, updated_at
// too. Rows that are done are not found again, so that a run which was cut short is completed by another one, and several
// at once do no harm. progress is told how many rows are done in all; kinds that are not stamped are passed over.
func Backfill(ctx context.Context, db *mongo.Database, kinds []Imported, progress func(done int64)) error {
	b := &backfill{db: db, progress: progress}
	for _, kind := range kinds {
		if !kind.Stamped {
			continue
		}
		if err := b.run(ctx, kind); err != nil {
			return fmt.Errorf("stamp the rows of %s: %w", kind.Collection, err)
		}
	}
	return nil
}

type backfill struct {
	db       *mongo.Database
	pace     pace
	progress func(done int64)
	done     int64
}

// run goes over a collection once, by _id. What is written meanwhile is stamped by that.
func (b *backfill) run(ctx context.Context, kind Imported) error {
	cursor, err := b.db.Collection(kind.Collection).Find(ctx, Unstamped(), options.Find().
		SetSort(bson.D{{Key: fieldID, Value: 1}}).SetBatchSize(maxChunk).
		SetProjection(bson.D{{Key: fieldEntityID, Value: 1}}))
	if err != nil {
		return err
	}
	defer closeCursor(ctx, cursor)
	var rows []bson.Raw
	for cursor.Next(ctx) {
		rows = append(rows, slices.Clone(cursor.Current)) // the cursor reuses its memory
		if len(rows) < b.pace.next() {
			continue
		}
		if err := b.stamp(ctx, kind, rows); err != nil {
			return err
		}
		rows = nil
	}
	if err := cursor.Err(); err != nil {
		return err
	}
	return b.stamp(ctx, kind, rows)
}

func (b *backfill) stamp(ctx context.Context, kind Imported, rows []bson.Raw) error {
	if len(rows) == 0 {
		return nil
	}
	models, err := b.models(ctx, kind, rows)
	if err != nil {
		return err
	}
	coll, began := inMajority(b.db, kind.Collection), time.Now()
	if _, err := coll.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false)); err != nil {
		return err
	}
	b.pace.took(len(rows), time.Since(began))
	b.done += int64(len(rows))
	b.progress(b.done)
	return nil
}

// taken is the mode of what rows stand below.
type taken struct {
	mode  string // see modeBelow
	there bool   // false where they stand alone, or below what has gone: they keep their own mode
}

// models are one update for each mode that the rows take from what they stand below.
func (b *backfill) models(ctx context.Context, kind Imported, rows []bson.Raw) ([]mongo.WriteModel, error) {
	if kind.Parent == "" {
		return []mongo.WriteModel{stampOf(rows, taken{})}, nil
	}
	var parents []bson.ObjectID
	for _, row := range rows {
		if id, ok := row.Lookup(fieldEntityID).ObjectIDOK(); ok {
			parents = append(parents, id)
		}
	}
	modes, err := modesBelow(ctx, b.db.Collection(kind.Parent), parents)
	if err != nil {
		return nil, err
	}
	groups := map[taken][]bson.Raw{}
	for _, row := range rows {
		parent, _ := row.Lookup(fieldEntityID).ObjectIDOK()
		mode, there := modes[parent]
		groups[taken{mode, there}] = append(groups[taken{mode, there}], row)
	}
	var out []mongo.WriteModel
	for t, group := range groups {
		out = append(out, stampOf(group, t))
	}
	return out, nil
}

// stampOf is the update of rows that nobody has stamped meanwhile.
func stampOf(rows []bson.Raw, t taken) mongo.WriteModel {
	ids := make(bson.A, len(rows))
	for i, row := range rows {
		ids[i] = row.Lookup(fieldID)
	}
	pipeline := bson.A{}
	if t.there {
		pipeline = append(pipeline, set(bson.D{{Key: fieldMode, Value: modeTaken(t.mode)}}))
	}
	filter := append(bson.D{{Key: fieldID, Value: op("$in", ids)}}, Unstamped()...)
	return mongo.NewUpdateManyModel().SetFilter(filter).SetUpdate(append(pipeline, stamp()...))
}
