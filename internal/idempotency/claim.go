package idempotency

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/mongodb"
)

// Claim is a key that is held. Its methods change the row only while it is: another may have taken it over after the
// lease, and then nothing that its old holder does can be seen.
type Claim struct {
	store   *Store
	id      string
	token   bson.ObjectID
	results [][]byte
}

// Results are those that an earlier holder has recorded, in order, as they were given to Record.
func (c *Claim) Results() [][]byte { return c.results }

// Record keeps the results of the items of a request of many from number first on, and renews the lease. Where ctx
// carries a transaction, it is part of it. Its error is a problem with the code idempotency_key_in_use where the claim was
// lost, or where first is not the next item. All results of a request are in one document, which the database bounds at
// 16 MB.
func (c *Claim) Record(ctx context.Context, first int, results ...[]byte) error {
	added := make(bson.A, len(results))
	for i, r := range results {
		added[i] = literal(bson.Binary{Data: r})
	}
	return c.update(ctx, "record results", bson.D{{Key: "next", Value: int64(first)}}, bson.D{
		{Key: "results", Value: expression("$concatArrays", bson.A{"$results", added})},
		{Key: "next", Value: int64(first + len(results))},
		{Key: "leased_until", Value: fromNow(c.store.lease)},
		{Key: "expires_at", Value: fromNow(lifetime)},
	})
}

// Finish keeps the answer, in place of the results. Where ctx carries a transaction, it is part of it. Its error is a
// problem with the code idempotency_key_in_use where the claim was lost.
func (c *Claim) Finish(ctx context.Context, a Answer) error {
	return c.update(ctx, "keep an answer", nil, bson.D{
		{Key: "state", Value: done},
		{Key: "answer", Value: literal(a)},
		{Key: "results", Value: "$$REMOVE"},
		{Key: "leased_until", Value: "$$REMOVE"},
		{Key: "expires_at", Value: fromNow(lifetime)},
	})
}

// Release frees the key. What was recorded stays for the next one who sends the same body; where nothing was, the key is
// as if it had never been used. It does nothing to a claim that was finished or lost. It does its work also where ctx
// has ended.
func (c *Claim) Release(ctx context.Context) error {
	timeout := releaseTimeout
	if ctx.Err() != nil {
		timeout = lateTimeout
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	untouched := append(c.held(), bson.E{Key: "next", Value: int64(0)})
	if _, err := c.store.coll.DeleteOne(ctx, untouched); err != nil {
		return mongodb.Convert(fmt.Errorf("release an idempotency key: %w", err))
	}
	free := mongo.Pipeline{{{Key: "$set", Value: bson.D{
		{Key: "token", Value: nil}, {Key: "leased_until", Value: "$$NOW"},
	}}}}
	if _, err := c.store.coll.UpdateOne(ctx, c.held(), free); err != nil {
		return mongodb.Convert(fmt.Errorf("release an idempotency key: %w", err))
	}
	return nil
}

// update changes the row while it is held and guard holds.
func (c *Claim) update(ctx context.Context, what string, guard, set bson.D) error {
	result, err := c.store.coll.UpdateOne(ctx, append(c.held(), guard...), mongo.Pipeline{{{Key: "$set", Value: set}}})
	if err != nil {
		return mongodb.Convert(fmt.Errorf("%s under an idempotency key: %w", what, err))
	}
	if result.MatchedCount == 0 {
		return inUse()
	}
	return nil
}

// held finds the row as long as it is ours.
func (c *Claim) held() bson.D {
	return bson.D{{Key: "_id", Value: c.id}, {Key: "token", Value: c.token}, {Key: "state", Value: pending}}
}
