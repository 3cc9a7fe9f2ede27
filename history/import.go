package history

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/importing"
	"catalogue/internal/instant"
	"catalogue/internal/origin"
)

// tasks is the collection of the tasks that entries are about.
const tasks = "tasks"

// ImportTarget tells how rows of a file become history entries.
func ImportTarget() importing.Target {
	return importing.NewTarget(importing.Definition[Entry]{
		Collection: Collection,
		Fields: []importing.Field[Entry]{
			importing.Text("entity_type", func(e *Entry) **string { return &e.EntityType }),
			importing.Reference("entity_id", tasks, func(e *Entry) *bson.ObjectID { return &e.EntityID }),
			importing.Text("action", func(e *Entry) **string { return &e.Action }),
			importing.Text("from", func(e *Entry) **string { return &e.From }),
			importing.Text("to", func(e *Entry) **string { return &e.To }),
			importing.Date("at", func(e *Entry) **instant.Instant { return &e.At }),
			importing.Text("by", func(e *Entry) **string { return &e.By }),
		},
		Finish:   func(e *Entry, source origin.Source) { e.Source = &source },
		Warnings: func(*Entry) []importing.Warning { return nil }, // an entry without its time is rejected
	})
}
