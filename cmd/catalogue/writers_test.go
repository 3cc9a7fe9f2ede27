package main

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/mongotest"
	"catalogue/internal/seeding"
)

const writers = 8

// moving makes a document that a writer may change at will, on request with a parent that is null.
func moving(r *rand.Rand, nulls bool) bson.D {
	doc := bson.D{{Key: "moving", Value: true}}
	switch r.IntN(4) {
	case 0:
		return doc
	case 1:
		if nulls {
			doc = append(doc, bson.E{Key: "metrics", Value: nil})
		}
		return doc
	case 2:
		return append(doc, bson.E{Key: "metrics", Value: bson.D{{Key: "spend", Value: "stray"}}})
	default: // among the values of the rows that stay, many of them tied
		return append(doc, bson.E{Key: "metrics", Value: bson.D{{Key: "spend", Value: float64(100 * r.IntN(4))}}},
			bson.E{Key: "name", Value: "A"}, bson.E{Key: "created_at", Value: bson.DateTime(r.Int64N(1 << 41))})
	}
}

// write inserts, updates and deletes moving rows until ctx ends, and tells how often. An error that is not the end
// of ctx is kept.
func write(ctx context.Context, a *api, seed uint64, nulls bool) (writes int, err error) {
	r := rand.New(rand.NewPCG(seed, 0))
	coll := a.db.Collection("creatives")
	filter := bson.D{{Key: "moving", Value: true}}
	for n := 0; ctx.Err() == nil; n++ {
		switch r.IntN(3) {
		case 0:
			_, err = coll.InsertOne(ctx, moving(r, nulls))
		case 1:
			_, err = coll.UpdateOne(ctx, filter, bson.D{{Key: "$set", Value: moving(r, nulls)}})
		default:
			_, err = coll.DeleteOne(ctx, filter)
		}
		if err != nil && ctx.Err() == nil { // after the end that was asked for, errors are no failures
			return writes, err
		}
		writes = n
	}
	return writes, nil
}

func TestAWalkAmongWritersLosesAndDoublesNoRowThatStayed(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	seed(t, db, seeding.Options{Creatives: 400, Seed: 3})
	a := serveDatabase(t, db)
	stayed := map[string]bool{}
	for _, doc := range mongotest.Everything(t, db.Collection("creatives"), bson.D{}) {
		stayed[doc.Lookup("_id").ObjectID().Hex()] = true
	}

	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	writes, failures := make([]int, writers), make([]error, writers)
	nulls := mongotest.Has(t, mongotest.NullsAsMissing)
	for w := range writers {
		group.Go(func() { writes[w], failures[w] = write(ctx, a, uint64(w), nulls) })
	}
	for _, sort := range []string{"metrics.spend", "-metrics.spend", "name", "-created_at"} {
		seen := map[string]int{}
		for _, id := range a.walk(t, "/creatives", sort, 7, 2000) {
			if stayed[id] {
				seen[id]++
			}
		}
		require.Len(t, seen, len(stayed), "%s: rows are lost", sort)
		for id, times := range seen {
			require.Equal(t, 1, times, "%s: %s is doubled", sort, id)
		}
	}
	stop()
	group.Wait()
	for w := range writers {
		require.NoError(t, failures[w])
		require.Greater(t, writes[w], 10, "the writer did not write")
	}
}
