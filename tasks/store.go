package tasks

import (
	"log/slog"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/objects"
)

// NewStore reads the tasks of a database.
func NewStore(db *mongo.Database, log *slog.Logger) *objects.Store[Task] {
	return objects.NewStore[Task](db.Collection(Collection), log)
}
