package comments

import (
	"log/slog"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/objects"
)

// NewStore reads the comments of a database.
func NewStore(db *mongo.Database, log *slog.Logger) *objects.Store[Comment] {
	return objects.NewStore[Comment](db.Collection(Collection), log)
}
