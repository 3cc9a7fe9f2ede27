package creatives

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/mongodb"
	"catalogue/internal/strictbson"
)

// Store reads single creatives.
type Store struct {
	coll    *mongo.Collection
	decoder *strictbson.Decoder[Creative]
}

// NewStore reads the creatives of a database.
func NewStore(db *mongo.Database) *Store {
	return &Store{coll: db.Collection(Collection), decoder: strictbson.New[Creative]()}
}

// ByID returns one creative. It reports false where there is none.
func (s *Store) ByID(ctx context.Context, id bson.ObjectID) (Creative, bool, error) {
	doc, found, err := mongodb.ByID(ctx, s.coll, id, nil)
	if err != nil || !found {
		return Creative{}, false, err
	}
	creative, _ := s.decoder.Decode(doc)
	return creative, true, nil
}
