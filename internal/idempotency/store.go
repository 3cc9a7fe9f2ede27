package idempotency

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"catalogue/internal/mongodb"
)

// The states of a row.
const (
	pending = "pending"
	done    = "done"
)

// row is what is stored under a key. A pending one is held by the owner of the token until leased_until; results and
// next are of a request of many, whose items are done one by one.
type row struct {
	ID      string         `bson:"_id"`
	Digest  string         `bson:"digest"`
	State   string         `bson:"state"`
	Token   *bson.ObjectID `bson:"token"` // nil where it was released
	Results [][]byte       `bson:"results"`
	Answer  *Answer        `bson:"answer"` // of a done one
}

// Store keeps claims and answers in the database. Every moment in it is of the database's clock.
type Store struct {
	coll  *mongo.Collection
	lease time.Duration
}

// NewStore returns a store whose claims are free again when their holder has not been heard of for the lease.
func NewStore(db *mongo.Database, lease time.Duration) *Store {
	return &Store{coll: db.Collection(Collection), lease: lease}
}

// Claim takes the key for this request, or returns the answer that is kept under it. It waits while another holds the
// key, until shortly before ctx ends. Its errors are problems where the client can do something about them:
// idempotency_key_malformed, idempotency_key_reused for another body, idempotency_key_in_use where the wait was over.
func (s *Store) Claim(ctx context.Context, r Request) (*Claim, *Answer, error) {
	if err := CheckKey(r.Key); err != nil {
		return nil, nil, err
	}
	id, token := r.id(), bson.NewObjectID()
	for pause := firstPause; ; {
		found, err := s.take(ctx, id, token, r.Digest)
		switch {
		case err != nil:
			return nil, nil, mongodb.Convert(fmt.Errorf("claim an idempotency key: %w", err))
		case found == nil: // another was quicker
		case found.Token != nil && *found.Token == token:
			return &Claim{store: s, id: id, token: token, results: found.Results}, nil, nil
		case found.Digest != r.Digest:
			return nil, nil, reused()
		case found.State == done:
			return nil, found.Answer, nil
		}
		if pause, err = s.await(ctx, id, pause); err != nil {
			return nil, nil, err
		}
	}
}

// take makes the key ours where it is open, and returns what is stored then, whoever holds it. It returns nil where
// another wrote at the same time.
func (s *Store) take(ctx context.Context, id string, token bson.ObjectID, digest string) (*row, error) {
	ended := expression("$not", bson.A{expression("$gt", bson.A{"$expires_at", "$$NOW"})}) // missing is less than any date
	// What a dead holder has done nothing under is as good as new, for any body.
	unused := expression("$and", bson.A{isAbandoned(), expression("$eq", bson.A{"$next", 0})})
	isFresh := expression("$or", bson.A{ended, unused})
	ours := expression("$eq", bson.A{"$digest", literal(digest)})
	fresh := bson.D{
		{Key: "_id", Value: "$_id"},
		{Key: "digest", Value: literal(digest)},
		{Key: "next", Value: int64(0)},
		{Key: "results", Value: bson.A{}},
	}
	held := bson.D{
		{Key: "state", Value: pending},
		{Key: "token", Value: token},
		{Key: "leased_until", Value: fromNow(s.lease)},
		{Key: "expires_at", Value: fromNow(lifetime)},
	}
	taken := expression("$mergeObjects", bson.A{expression("$cond", bson.A{isFresh, fresh, "$$ROOT"}), held})
	open := expression("$or", bson.A{isFresh, expression("$and", bson.A{isAbandoned(), ours})})
	update := mongo.Pipeline{{{Key: "$replaceWith", Value: expression("$cond", bson.A{open, taken, "$$ROOT"})}}}

	var out row
	err := s.coll.FindOneAndUpdate(ctx, bson.D{{Key: "_id", Value: id}}, update,
		options.FindOneAndUpdate().SetUpsert(true).SetReturnDocument(options.After)).Decode(&out)
	if mongodb.IsWriteConflict(err) || mongodb.IsDuplicateKey(err) || errors.Is(err, mongo.ErrNoDocuments) {
		return nil, nil // the engines have several words for it
	}
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// await returns when the key that another held is done, or free to be taken, or gone; and with inUse shortly before ctx
// ends. It looks without writing, since a write would get into the way of the holder's transaction. Its pauses grow, from
// the one given to the one returned.
func (s *Store) await(ctx context.Context, id string, pause time.Duration) (time.Duration, error) {
	for {
		wait := pause
		if deadline, ok := ctx.Deadline(); ok {
			wait = min(wait, time.Until(deadline)-margin)
		}
		if wait <= 0 {
			return 0, inUse()
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return 0, mongodb.Convert(ctx.Err())
		case <-timer.C:
		}
		pause = min(2*pause, longestPause)
		held, err := s.isHeld(ctx, id)
		if err != nil {
			return 0, mongodb.Convert(fmt.Errorf("look at an idempotency key: %w", err))
		}
		if !held {
			return pause, nil
		}
	}
}

// isHeld reports whether somebody has a claim whose lease goes on.
func (s *Store) isHeld(ctx context.Context, id string) (bool, error) {
	cursor, err := s.coll.Aggregate(ctx, mongo.Pipeline{
		{{Key: "$match", Value: bson.D{{Key: "_id", Value: id}}}},
		{{Key: "$project", Value: bson.D{{Key: "held", Value: expression("$and", bson.A{
			expression("$eq", bson.A{"$state", pending}),
			expression("$not", bson.A{isAbandoned()}),
		})}}}},
	})
	if err != nil {
		return false, err
	}
	var found []struct {
		Held bool `bson:"held"`
	}
	if err := cursor.All(ctx, &found); err != nil {
		return false, err
	}
	return len(found) > 0 && found[0].Held, nil
}

// isAbandoned is true of a pending row whose lease has ended.
func isAbandoned() bson.D {
	return expression("$and", bson.A{
		expression("$eq", bson.A{"$state", pending}), expression("$lte", bson.A{"$leased_until", "$$NOW"}),
	})
}

func expression(operator string, argument any) bson.D {
	return bson.D{{Key: operator, Value: argument}}
}

// literal keeps a value from outside from being read as an expression.
func literal(v any) bson.D { return expression("$literal", v) }

// fromNow is a moment by the database's clock. Not every engine adds a number to a date.
func fromNow(d time.Duration) bson.D {
	return expression("$dateAdd", bson.D{
		{Key: "startDate", Value: "$$NOW"}, {Key: "unit", Value: "millisecond"}, {Key: "amount", Value: d.Milliseconds()},
	})
}
