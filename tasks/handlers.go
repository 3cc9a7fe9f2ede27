package tasks

import (
	"github.com/gin-gonic/gin"

	"catalogue/internal/listing"
)

// Register serves the routes of single tasks.
func Register(r gin.IRoutes, store *Store) {
	r.GET("/tasks/:id", listing.Object(store.ByID))
}
