package tasks

import (
	"github.com/gin-gonic/gin"

	"catalogue/internal/listing"
	"catalogue/internal/objects"
)

// Register serves the routes of single tasks.
func Register(r gin.IRoutes, store *objects.Store[Task]) {
	r.GET("/tasks/:id", listing.Object(store.ByID))
}
