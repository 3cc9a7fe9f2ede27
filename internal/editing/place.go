package editing

import (
	"strings"

	"github.com/gin-gonic/gin"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/problem"
)

// place is where in the tree of objects a request points. Ids are zero where the path's text is none: zero is never one
// of ours.
type place struct {
	path               string // of all objects there, with the parent's id in lower case
	parent, id         bson.ObjectID
	parentText, idText string
}

func (e *endpoint[T]) place(c *gin.Context) place {
	p := place{path: e.Path}
	if e.Below != nil {
		p.parent, p.parentText = idOf(c.Param("id"))
		p.path = strings.Replace(e.Path, ":id", p.parentText, 1)
	}
	p.id, p.idText = idOf(c.Param(e.Param))
	return p
}

// missing is the error of a path that names no object that could be there.
func (e *endpoint[T]) missing(p place) error {
	switch {
	case e.Below != nil && p.parent.IsZero():
		return problem.NoObject(p.parentText)
	case p.id.IsZero():
		return problem.NoObject(p.idText)
	default:
		return nil
	}
}

// idOf reads 24 hex digits in any case, and folds them, so that one object has one name.
func idOf(text string) (bson.ObjectID, string) {
	text = strings.ToLower(text)
	id, err := bson.ObjectIDFromHex(text)
	if err != nil {
		return bson.NilObjectID, text
	}
	return id, text
}

// check looks at an object before it is changed or deleted, in the order in which refusals are answered.
func (e *endpoint[T]) check(user string, parent bson.ObjectID, when condition) func(stored *T, rev int64) error {
	return func(stored *T, rev int64) error {
		if e.Below != nil && !e.Below.In(stored, parent) {
			return problem.New(problem.NotFound, "There is no such object below %q.", parent.Hex())
		}
		if e.Owner != nil {
			if owner := e.Owner(stored); owner == nil || *owner != user {
				return problem.New(problem.NotYours, "It belongs to another user, who alone may change or delete it.")
			}
		}
		return when.holds(rev)
	}
}
