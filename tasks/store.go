package tasks

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/mongodb"
	"catalogue/internal/strictbson"
)

// Store reads single tasks.
type Store struct {
	coll    *mongo.Collection
	decoder *strictbson.Decoder[Task]
}

// NewStore reads the tasks of a database.
func NewStore(db *mongo.Database) *Store {
	return &Store{coll: db.Collection(Collection), decoder: strictbson.New[Task]()}
}

// ByID returns one task. It reports false where there is none.
func (s *Store) ByID(ctx context.Context, id bson.ObjectID) (Task, bool, error) {
	doc, found, err := mongodb.ByID(ctx, s.coll, id, nil)
	if err != nil || !found {
		return Task{}, false, err
	}
	task, _ := s.decoder.Decode(doc)
	return task, true, nil
}

// Exists reports whether there is a task with the id.
func (s *Store) Exists(ctx context.Context, id bson.ObjectID) (bool, error) {
	_, found, err := mongodb.ByID(ctx, s.coll, id, bson.D{{Key: "_id", Value: int32(1)}})
	return found, err
}
