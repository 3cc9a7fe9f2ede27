package listing

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/httpserver"
)

// object is the answer of every single object.
type object[T any] struct {
	Data T `json:"data"`
}

// Object makes the handler of a route with the parameter :id that shows one object. find reports false where there
// is none.
func Object[T any](find func(ctx context.Context, id bson.ObjectID) (T, bool, error)) gin.HandlerFunc {
	return httpserver.Handle(func(c *gin.Context) error {
		text := strings.ToLower(c.Param("id"))
		id, ok := parseID(text)
		if !ok {
			return notFound(text)
		}
		item, found, err := find(c.Request.Context(), id)
		if err != nil {
			return err
		}
		if !found {
			return notFound(text)
		}
		return httpserver.WriteJSON(c, http.StatusOK, object[T]{Data: item})
	})
}

// parseID reads 24 hex digits, in any case.
func parseID(s string) (bson.ObjectID, bool) {
	id, err := bson.ObjectIDFromHex(s)
	return id, err == nil
}
