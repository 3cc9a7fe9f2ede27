// Package objects reads single objects of a collection.
package objects

import (
	"context"
	"log/slog"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/mongodb"
	"catalogue/internal/strictbson"
)

// Store reads the objects of one collection.
type Store[T any] struct {
	coll    *mongo.Collection
	decoder *strictbson.Decoder[T]
	log     *slog.Logger
}

// NewStore reads the objects of coll as T.
func NewStore[T any](coll *mongo.Collection, log *slog.Logger) *Store[T] {
	return &Store[T]{coll: coll, decoder: strictbson.New[T](), log: log}
}

// ByID returns one object. It reports false where there is none. Errors are those of mongodb.Convert.
func (s *Store[T]) ByID(ctx context.Context, id bson.ObjectID) (T, bool, error) {
	doc, found, err := mongodb.ByID(ctx, s.coll, id, s.decoder.Projection())
	if err != nil || !found {
		var none T
		return none, false, err
	}
	item, misfits := s.decoder.Decode(doc)
	strictbson.Warn(ctx, s.log, s.coll.Name(), id, misfits)
	return item, true, nil
}

// Exists reports whether there is an object with the id.
func (s *Store[T]) Exists(ctx context.Context, id bson.ObjectID) (bool, error) {
	_, found, err := mongodb.ByID(ctx, s.coll, id, bson.D{{Key: "_id", Value: int32(1)}})
	return found, err
}
