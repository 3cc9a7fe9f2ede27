package creatives

import (
	"github.com/gin-gonic/gin"

	"catalogue/internal/listing"
	"catalogue/internal/objects"
)

// Register serves the routes of creatives beyond the lists: single ones, and what they may be filtered by.
func Register(r gin.IRoutes, store *objects.Store[Creative]) error {
	r.GET("/creatives/:id", listing.Object(store.ByID))
	return listing.RegisterFields(r, "/creatives/fields", Fields(), Indexes())
}
