package comments

import (
	"github.com/gin-gonic/gin"

	"catalogue/internal/changes"
	"catalogue/internal/editing"
	"catalogue/internal/listing"
	"catalogue/internal/objects"
)

// Register serves single comments.
func Register(r gin.IRoutes, store *objects.Store[Comment]) {
	r.GET("/tasks/:id/comments/:comment_id", listing.ObjectBelow("comment_id", store.ByID, in, func(c Comment) *int64 { return c.Rev }))
}

// RegisterWrites serves the changes of comments. Each belongs to its author.
func RegisterWrites(r gin.IRoutes, s editing.Services, writer *changes.Writer[Comment]) {
	editing.Register(r, s, editing.Resource[Comment]{
		Path: "/tasks/:id/comments", Param: "comment_id", Writer: writer,
		ReadOnly: []string{"id", "rev", "dateModified", "created_at", "entity_type", "entity_id", "author", "mode", "source"},
		Below:    &editing.Below[Comment]{Place: place, In: in},
		Owner:    func(c *Comment) *string { return c.Author },
	})
}
