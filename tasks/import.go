package tasks

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/importing"
	"catalogue/internal/instant"
	"catalogue/internal/origin"
)

// creatives is the collection of the creatives that tasks are about.
const creatives = "creatives"

// ImportTarget tells how rows of a file become tasks.
func ImportTarget() importing.Target {
	return importing.NewTarget(importing.Definition[Task]{
		Collection: Collection,
		Fields: []importing.Field[Task]{
			importing.Text("title", func(t *Task) **string { return &t.Title }),
			importing.Text("description", func(t *Task) **string { return &t.Description }),
			importing.Text("status", func(t *Task) **string { return &t.Status }),
			importing.Integer("priority", func(t *Task) **int64 { return &t.Priority }),
			importing.Text("type", func(t *Task) **string { return &t.Type }),
			importing.Reference("creative_id", creatives, func(t *Task) *bson.ObjectID { return &t.CreativeID }),
			importing.Text("assignee", func(t *Task) **string { return &t.Assignee }),
			importing.Text("created_by", func(t *Task) **string { return &t.CreatedBy }),
			importing.Date("created_at", func(t *Task) **instant.Instant { return &t.CreatedAt }),
			importing.Date("updated_at", func(t *Task) **instant.Instant { return &t.UpdatedAt }),
			importing.Date("due_at", func(t *Task) **instant.Instant { return &t.DueAt }),
			importing.Date("closed_at", func(t *Task) **instant.Instant { return &t.ClosedAt }),
			importing.Text("mode", func(t *Task) **string { return &t.Mode }),
		},
		Finish:   func(t *Task, source origin.Source) { t.Source = &source },
		Warnings: importWarnings,
	})
}

func importWarnings(t *Task) []importing.Warning {
	switch {
	case t.CreatedAt == nil:
		return []importing.Warning{importing.WarnNoCreationDate}
	case t.ClosedAt != nil && t.ClosedAt.Before(*t.CreatedAt):
		return []importing.Warning{importing.WarnClosedBeforeCreated}
	default:
		return nil
	}
}
