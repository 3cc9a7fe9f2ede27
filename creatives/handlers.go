package creatives

import (
	"github.com/gin-gonic/gin"

	"catalogue/internal/listing"
)

// Register serves the routes of single creatives.
func Register(r gin.IRoutes, store *Store) {
	r.GET("/creatives/:id", listing.Object(store.ByID))
}
