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

// Apply builds the declared indexes that are missing and waits for those being built. It drops, hides and changes
// nothing, so it is safe at any time and in several processes at once: to build what is there already is a no-op.
// It goes on after an index that cannot be built and returns all errors together; report is told of each standing
// as it was found, before anything is built for it, and of each index that it built again with the status Built.
func Apply(ctx context.Context, db *mongo.Database, declared []Index, report func(Standing)) error {
	standings, err := Plan(ctx, db, declared)
	if err != nil {
		return err
	}
	var failed []error
	for _, s := range standings {
		report(s)
		switch s.Status {
		case Missing, Building:
			if err := build(ctx, db, s); err != nil {
				failed = append(failed, fmt.Errorf("build index %s: %w%s", s.Index, err, clash(ctx, db, s.Index, err)))
				continue
			}
			s.Status = Built
			report(s)
		case Conflict:
			failed = append(failed, fmt.Errorf("index %s exists as %q with other options: look at it and drop it by hand",
				s.Index, s.Name))
		case Hidden:
			failed = append(failed, fmt.Errorf("index %s is hidden as %q: unhide it by hand", s.Index, s.Name))
		case Ready, Built:
		}
	}
	return errors.Join(failed...)
}

// build asks for one index. The database joins a build of the same index that is under way.
func build(ctx context.Context, db *mongo.Database, s Standing) error {
	opts := options.Index().SetName(s.Name)
	if s.Index.Unique {
		opts.SetUnique(true)
	}
	if len(s.Index.Partial) > 0 {
		opts.SetPartialFilterExpression(s.Index.Partial)
	}
	if s.Index.ExpireAfter != 0 {
		opts.SetExpireAfterSeconds(int32(s.Index.ExpireAfter / time.Second)) //nolint:gosec // 2^31 seconds are 68 years
	}
	_, err := db.Collection(s.Index.Collection).Indexes().
		CreateOne(ctx, mongo.IndexModel{Keys: s.Index.Keys, Options: opts})
	return err
}

// clash names two rows that keep a unique index from being built, for the error's text. It is empty where that was
// not the cause, or where the rows cannot be found.
func clash(ctx context.Context, db *mongo.Database, index Index, err error) string {
	e, ok := errors.AsType[mongo.CommandError](err)
	if !ok || !mongo.IsDuplicateKeyError(err) {
		return ""
	}
	key, ok := e.Raw.Lookup("keyValue").DocumentOK()
	if !ok {
		return ""
	}
	filter := bson.A{key}
	if len(index.Partial) > 0 {
		filter = append(filter, index.Partial)
	}
	cursor, err := db.Collection(index.Collection).Find(ctx, bson.D{{Key: "$and", Value: filter}},
		options.Find().SetProjection(bson.D{{Key: "_id", Value: int32(1)}}).SetLimit(2))
	if err != nil {
		return ""
	}
	var rows []bson.Raw
	if err := cursor.All(ctx, &rows); err != nil || len(rows) < 2 {
		return ""
	}
	return fmt.Sprintf(" (rows %s and %s are alike)", rows[0].Lookup("_id"), rows[1].Lookup("_id"))
}
