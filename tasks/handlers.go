package tasks

import (
	"github.com/gin-gonic/gin"

	"catalogue/internal/listing"
	"catalogue/internal/objects"
)

// Register serves the routes of tasks beyond the lists: single ones, and what they may be filtered by.
func Register(r gin.IRoutes, store *objects.Store[Task]) error {
	r.GET("/tasks/:id", listing.Object(store.ByID))
	return listing.RegisterFields(r, "/tasks/fields", Fields(), Indexes())
}
