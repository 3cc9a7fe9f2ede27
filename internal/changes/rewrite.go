package changes

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Rewriting gives one field of a stored object a value of another type.
type Rewriting struct {
	ID       bson.RawValue // of any type: an object that another program has made need not have an ObjectID
	Field    string        // path
	From, To bson.RawValue
}

// Rewrite changes a field where it still is as From says, with the stamp of any other change where the kind has one. It
// reports false where the field has changed, or the object has gone. It is for data migrations: nothing is derived or
// checked, and updated_at stays.
func Rewrite(ctx context.Context, db *mongo.Database, kind Imported, r Rewriting) (done bool, err error) {
	err = persist(ctx, func(ctx context.Context) (err error) {
		done, err = rewrite(ctx, inMajority(db, kind.Collection), kind.Stamped, r)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("rewrite %s of %s in %s: %w", r.Field, r.ID, kind.Collection, err)
	}
	return done, nil
}

func rewrite(ctx context.Context, coll *mongo.Collection, stamped bool, r Rewriting) (bool, error) {
	doc, err := coll.FindOne(ctx, bson.D{{Key: fieldID, Value: equal(r.ID)}}).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	path := strings.Split(r.Field, ".")
	if now, err := doc.LookupErr(path...); err != nil || !now.Equal(r.From) {
		return false, nil //nolint:nilerr // what has gone is not as it was
	}
	value, err := replaced(doc.Lookup(path[0]), path[1:], r.To)
	if err != nil {
		return false, err
	}
	pipeline := bson.A{set(bson.D{{Key: path[0], Value: literal(value)}})}
	if stamped {
		pipeline = append(pipeline, stamp()...)
	}
	filter := asRead(doc)
	if !stamped { // without a rev it is the field itself that tells
		filter = append(filter, bson.E{Key: path[0], Value: equal(doc.Lookup(path[0]))})
	}
	result, err := coll.UpdateOne(ctx, filter, pipeline)
	if err != nil {
		return false, err
	}
	if result.MatchedCount == 0 {
		return false, errStale
	}
	return true, nil
}

// replaced is a value with what stands at a path within it replaced. All else stays, in its order.
func replaced(v bson.RawValue, path []string, to bson.RawValue) (any, error) {
	if len(path) == 0 {
		return to, nil
	}
	elements, err := v.Document().Elements()
	if err != nil {
		return nil, err
	}
	out := make(bson.D, 0, len(elements))
	for _, e := range elements {
		value := any(e.Value())
		if e.Key() == path[0] {
			if value, err = replaced(e.Value(), path[1:], to); err != nil {
				return nil, err
			}
		}
		out = append(out, bson.E{Key: e.Key(), Value: value})
	}
	return out, nil
}
