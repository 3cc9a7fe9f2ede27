package creatives

import (
	"github.com/gin-gonic/gin"

	"catalogue/internal/listing"
	"catalogue/internal/objects"
)

// Register serves the routes of single creatives.
func Register(r gin.IRoutes, store *objects.Store[Creative]) {
	r.GET("/creatives/:id", listing.Object(store.ByID))
}
