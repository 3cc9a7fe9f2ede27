package tasks

import (
	"catalogue/indexes"
	"catalogue/internal/listing"
	"catalogue/internal/strictbson"
	"catalogue/pagination"
)

// List is every task.
func List() listing.List[Task] {
	sorts := pagination.Sorts{
		{Field: "created_at", Kind: pagination.Date},
		{Field: "updated_at", Kind: pagination.Date},
		{Field: "due_at", Kind: pagination.Date},
		{Field: "closed_at", Kind: pagination.Date},
		{Field: "priority", Kind: pagination.Number},
		{Field: "title", Kind: pagination.String},
	}
	return listing.List[Task]{
		Name: "tasks", Path: "/tasks", Collection: Collection,
		Sorts: sorts, Default: pagination.Desc(sorts[0]),
		Decoder: strictbson.New[Task](),
		Fields:  Fields(), SearchPath: "/tasks/search",
		// What teams look at: what is open, what is mine, what is left to do on a creative.
		Pairs: []listing.Pair{
			{Filter: "status", Sort: "created_at", Reason: "newest tasks of a status"},
			{Filter: "status", Sort: "due_at", Reason: "tasks of a status by when they are due"},
			{Filter: "assignee", Sort: "created_at", Reason: "newest tasks of a person"},
			{Filter: "creative_id", Sort: "created_at", Reason: "newest tasks on a creative"},
		},
	}
}

// Indexes are the indexes that tasks need.
func Indexes() []indexes.Index {
	return indexes.Distinct(List().Indexes(), []indexes.Index{indexes.UniqueSource(Collection)})
}
