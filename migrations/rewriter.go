package migrations

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/changes"
)

// writer rewrites through the one writer of all objects.
type writer struct {
	db    *mongo.Database
	kinds []changes.Imported
}

// NewRewriter returns the Rewriter of stored objects of some kinds.
func NewRewriter(db *mongo.Database, kinds []changes.Imported) Rewriter {
	return writer{db: db, kinds: kinds}
}

// Rewrite changes one field.
func (w writer) Rewrite(ctx context.Context, r Rewrite) (bool, error) {
	for _, kind := range w.kinds {
		if kind.Collection == r.Collection {
			return changes.Rewrite(ctx, w.db, kind, changes.Rewriting{ID: r.ID, Field: r.Field, From: r.From, To: r.To})
		}
	}
	return false, fmt.Errorf("there is no kind of objects in %s", r.Collection)
}
