package creatives

import (
	"github.com/gin-gonic/gin"

	"catalogue/internal/changes"
	"catalogue/internal/editing"
	"catalogue/internal/listing"
	"catalogue/internal/objects"
)

// Register serves the routes of creatives beyond the lists: single ones, and what they may be filtered by.
func Register(r gin.IRoutes, store *objects.Store[Creative]) error {
	r.GET("/creatives/:id", listing.Object(store.ByID, func(c Creative) *int64 { return c.Rev }))
	return listing.RegisterFields(r, "/creatives/fields", Fields(), Indexes())
}

// RegisterWrites serves the changes of creatives, one by one and many at once.
func RegisterWrites(r gin.IRoutes, s editing.Services, writer *changes.Writer[Creative], sources Sources) {
	creatives := editing.Resource[Creative]{
		Path: "/creatives", Param: "id", Writer: writer,
		ReadOnly: []string{"id", "rev", "dateModified", "created_at", "updated_at", "metrics.ctr"},
		Initial:  []string{"source"},
		Defaults: func(c *Creative) {
			if c.Mode == nil {
				c.Mode = new(ModeLive)
			}
		},
	}
	editing.Register(r, s, creatives)
	editing.RegisterBulk(r, s, creatives)
	editing.RegisterMany(r, s, "/creatives/metrics", newFigures(writer, sources).put)
}
