package changes

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/indexes"
)

// Indexes are those that the writers need beside the ones of the lists.
func Indexes() []indexes.Index {
	return []indexes.Index{{
		Collection: tombstoneCollection,
		Keys: bson.D{
			{Key: "entity", Value: int32(1)}, {Key: "source.system", Value: int32(1)}, {Key: "source.id", Value: int32(1)},
		},
		Partial: bson.D{{Key: "source.id", Value: bson.D{{Key: "$exists", Value: true}}}},
		Reason:  "an import does not bring back what was deleted",
	}, {
		Collection: tombstoneCollection,
		Keys:       bson.D{{Key: "id", Value: int32(1)}},
		Reason:     "an import knows what stood below a deleted object",
	}}
}
