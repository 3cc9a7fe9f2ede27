package history

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/indexes"
	"catalogue/internal/listing"
	"catalogue/internal/strictbson"
	"catalogue/pagination"
)

// OfTask is every status move of one task. Entries with other actions are not part of it.
func OfTask() listing.List[Entry] {
	sorts := pagination.Sorts{{Field: "at", Kind: pagination.Date}}
	return listing.List[Entry]{
		Name: "tasks/history", Path: "/tasks/:id/history", Collection: Collection,
		Fixed: func(task bson.ObjectID) bson.D {
			return bson.D{
				{Key: "entity_type", Value: "task"},
				{Key: "entity_id", Value: task},
				{Key: "action", Value: ActionStatusChanged},
			}
		},
		Sorts: sorts, Default: pagination.Desc(sorts[0]),
		Decoder: strictbson.New[Entry](),
	}
}

// Indexes are the indexes that history needs.
func Indexes() []indexes.Index {
	return indexes.Distinct(OfTask().Indexes(), []indexes.Index{indexes.UniqueSource(Collection)})
}
