package creatives

import (
	"log/slog"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/objects"
)

// NewStore reads the creatives of a database.
func NewStore(db *mongo.Database, log *slog.Logger) *objects.Store[Creative] {
	return objects.NewStore[Creative](db.Collection(Collection), log)
}
