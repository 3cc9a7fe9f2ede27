package tasks

import (
	"github.com/gin-gonic/gin"

	"catalogue/internal/changes"
	"catalogue/internal/editing"
	"catalogue/internal/listing"
	"catalogue/internal/objects"
)

// modeLive is the mode of a task that was not given one.
const modeLive = "live"

// Register serves the routes of tasks beyond the lists: single ones, and what they may be filtered by.
func Register(r gin.IRoutes, store *objects.Store[Task]) error {
	r.GET("/tasks/:id", listing.Object(store.ByID, func(t Task) *int64 { return t.Rev }))
	return listing.RegisterFields(r, "/tasks/fields", Fields(), Indexes())
}

// RegisterWrites serves the changes of tasks.
func RegisterWrites(r gin.IRoutes, s editing.Services, writer *changes.Writer[Task]) {
	editing.Register(r, s, editing.Resource[Task]{
		Path: "/tasks", Param: "id", Writer: writer,
		ReadOnly: []string{"id", "rev", "dateModified", "created_at", "updated_at", "closed_at", "created_by"},
		Initial:  []string{"source"},
		Defaults: func(t *Task) {
			if t.Status == nil {
				t.Status = new(StatusOpen)
			}
			if t.Mode == nil {
				t.Mode = new(modeLive)
			}
		},
	})
}
