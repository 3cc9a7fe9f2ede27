package comments

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/importing"
	"catalogue/internal/instant"
	"catalogue/internal/origin"
)

// tasks is the collection of the tasks that comments are on.
const tasks = "tasks"

// ImportTarget tells how rows of a file become comments.
func ImportTarget() importing.Target {
	return importing.NewTarget(importing.Definition[Comment]{
		Collection: Collection,
		Fields: []importing.Field[Comment]{
			importing.Text("entity_type", func(c *Comment) **string { return &c.EntityType }),
			importing.Reference("entity_id", tasks, func(c *Comment) *bson.ObjectID { return &c.EntityID }),
			importing.Text("author", func(c *Comment) **string { return &c.Author }),
			importing.Text("body", func(c *Comment) **string { return &c.Body }),
			importing.Date("created_at", func(c *Comment) **instant.Instant { return &c.CreatedAt }),
		},
		Finish:   func(c *Comment, source origin.Source) { c.Source = &source },
		Warnings: importWarnings,
	})
}

func importWarnings(c *Comment) []importing.Warning {
	if c.CreatedAt == nil {
		return []importing.Warning{importing.WarnNoCreationDate}
	}
	return nil
}
