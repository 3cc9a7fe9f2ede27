package listing

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/httpserver"
	"catalogue/internal/problem"
)

// Single is the answer of every single object.
type Single[T any] struct {
	Data T `json:"data"`
}

// ETag is the entity tag of an object with a revision: the number in quotes, empty where it has none.
func ETag(rev *int64) string {
	if rev == nil || *rev < 1 {
		return ""
	}
	return `"` + strconv.FormatInt(*rev, 10) + `"`
}

// Find looks for a single object. It reports false where there is none.
type Find[T any] func(ctx context.Context, id bson.ObjectID) (T, bool, error)

// Object makes the handler of a route with the parameter :id that shows one object, with its revision as its ETag.
func Object[T any](find Find[T], rev func(T) *int64) gin.HandlerFunc {
	return httpserver.Handle(func(c *gin.Context) error { return show(c, "id", find, rev) })
}

// ObjectBelow is Object for objects below the one that :id names: param is the parameter with their own id. in reports
// whether an object stands below a parent.
func ObjectBelow[T any](
	param string, find Find[T], in func(item *T, parent bson.ObjectID) bool, rev func(T) *int64,
) gin.HandlerFunc {
	return httpserver.Handle(func(c *gin.Context) error {
		parent, ok := parseID(strings.ToLower(c.Param("id")))
		if !ok {
			return problem.NoObject(c.Param("id"))
		}
		return show(c, param, func(ctx context.Context, id bson.ObjectID) (T, bool, error) {
			item, found, err := find(ctx, id)
			return item, found && in(&item, parent), err
		}, rev)
	})
}

func show[T any](c *gin.Context, param string, find Find[T], rev func(T) *int64) error {
	text := strings.ToLower(c.Param(param))
	id, ok := parseID(text)
	if !ok {
		return problem.NoObject(text)
	}
	item, found, err := find(c.Request.Context(), id)
	if err != nil {
		return err
	}
	if !found {
		return problem.NoObject(text)
	}
	if tag := ETag(rev(item)); tag != "" {
		c.Header("ETag", tag)
	}
	return httpserver.WriteJSON(c, http.StatusOK, Single[T]{Data: item})
}

// parseID reads 24 hex digits, in any case.
func parseID(s string) (bson.ObjectID, bool) {
	id, err := bson.ObjectIDFromHex(s)
	return id, err == nil
}
