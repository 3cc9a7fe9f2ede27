package comments

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/indexes"
	"catalogue/internal/listing"
	"catalogue/internal/strictbson"
	"catalogue/pagination"
)

// OfTask is every comment on one task.
func OfTask() listing.List[Comment] {
	sorts := pagination.Sorts{{Field: "created_at", Kind: pagination.Date}}
	return listing.List[Comment]{
		Name: "tasks/comments", Path: "/tasks/:id/comments", Collection: Collection,
		Fixed: func(task bson.ObjectID) bson.D {
			return bson.D{{Key: "entity_type", Value: "task"}, {Key: "entity_id", Value: task}}
		},
		Sorts: sorts, Default: pagination.Desc(sorts[0]),
		Decoder: strictbson.New[Comment](),
	}
}

// Indexes are the indexes that comments need.
func Indexes() []indexes.Index {
	return indexes.Distinct(OfTask().Indexes(), []indexes.Index{indexes.UniqueSource(Collection)})
}
