package migrations

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/changes"
)

// stamps gives the rows from before there were revs, and those with a place that the feed cannot show, their rev, their
// stamps and their place in the feed. Its position is in the data: rows that are done are not found again.
func stamps(kinds []changes.Imported) Migration {
	return Migration{
		Number: 1, Name: "stamps", Version: 1,
		Run: func(ctx context.Context, s *Step) error {
			ctx, stop := context.WithCancelCause(ctx)
			defer stop(nil)
			saved := int64(0)
			err := changes.Backfill(ctx, s.Database(), kinds, func(done int64) {
				if err := s.Save(ctx, bson.D{}, done-saved); err != nil {
					stop(err)
				}
				saved = done
			})
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return err
		},
		Count: func(ctx context.Context, db *mongo.Database) (int64, error) {
			var total int64
			for _, kind := range kinds {
				if !kind.Stamped {
					continue
				}
				n, err := db.Collection(kind.Collection).CountDocuments(ctx, changes.Unstamped())
				if err != nil {
					return 0, err
				}
				total += n
			}
			return total, nil
		},
	}
}
