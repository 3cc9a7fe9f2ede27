// Package dataset fills the server under test with creatives to page through.
package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/creatives"
	"catalogue/feed"
	"catalogue/indexes"
)

const (
	// seed decides what is made. version goes up when package seeding makes something else of one seed.
	seed    = 1
	version = 1

	// markers is the collection with the document which says that the database is whole.
	markers  = "bench_datasets"
	markerID = "creatives"
)

// Dataset is a database of the server under test with one collection of creatives and their declared indexes. Absent
// values are left out of its documents, as the catalogue's own writes leave them out.
type Dataset struct {
	Database *mongo.Database
	Rows     int
}

// marker is written last, so that a database without one was left half made.
type marker struct {
	ID      string `bson:"_id"`
	Rows    int64  `bson:"rows"`
	Seed    int64  `bson:"seed"`
	Version int64  `bson:"version"`
	Indexes string `bson:"indexes"` // digest of the declared indexes
}

// Prepare makes sure that a database of rows creatives is there, bench_<rows>. One of an earlier run is used again where
// it is whole. step is told how far it is: done goes up to rows, with the indexes as the second half of the work.
func Prepare(ctx context.Context, client *mongo.Client, rows int, step func(done int)) (*Dataset, error) {
	return PrepareIn(ctx, client.Database(fmt.Sprintf("bench_%d", rows)), rows, step)
}

// PrepareIn is Prepare in a database of the caller's choice. What else is in it is dropped unless it is whole.
func PrepareIn(ctx context.Context, db *mongo.Database, rows int, step func(done int)) (*Dataset, error) {
	made := &Dataset{Database: db, Rows: rows}
	want := marker{
		ID: markerID, Rows: int64(rows), Seed: seed, Version: version, Indexes: digest(declared()),
	}
	whole, err := holds(ctx, db, want)
	if err != nil {
		return nil, fmt.Errorf("look for the data of an earlier run in %s: %w", db.Name(), err)
	}
	if whole {
		step(rows)
		return made, nil
	}
	if err := db.Drop(ctx); err != nil {
		return nil, fmt.Errorf("drop %s, which is not whole: %w", db.Name(), err)
	}
	if err := load(ctx, db, rows, func(done int) { step(done / 2) }); err != nil {
		return nil, fmt.Errorf("load %d creatives into %s: %w", rows, db.Name(), err)
	}
	// Indexes after rows: one build over all of them is quicker than so many insertions.
	if err := index(ctx, db, func(built, of int) { step(rows/2 + (rows-rows/2)*built/of) }); err != nil {
		return nil, fmt.Errorf("build the indexes of %s: %w", db.Name(), err)
	}
	if _, err := db.Collection(markers).InsertOne(ctx, want); err != nil {
		return nil, fmt.Errorf("mark %s as whole: %w", db.Name(), err)
	}
	return made, nil
}

// declared are the indexes that the catalogue needs of its creatives, so that its start has nothing to build.
func declared() []indexes.Index {
	return indexes.Distinct(creatives.Indexes(), feed.Indexes(creatives.Collection))
}

// Creatives is the collection.
func (d *Dataset) Creatives() *mongo.Collection { return d.Database.Collection(creatives.Collection) }

// holds reports whether the database has the marker.
func holds(ctx context.Context, db *mongo.Database, want marker) (bool, error) {
	var have marker
	err := db.Collection(markers).FindOne(ctx, bson.D{{Key: "_id", Value: markerID}}).Decode(&have)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return false, nil
	}
	return have == want, err
}

// digest stands for the declarations of indexes: for another one the database is made anew.
func digest(declared []indexes.Index) string {
	h := sha256.New()
	for _, i := range declared {
		_, _ = fmt.Fprintln(h, i, i.Unique, i.Partial, i.ExpireAfter) // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
