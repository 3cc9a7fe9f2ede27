// Package editing serves writes over HTTP: one set of handlers for every kind of object. A domain says what is special
// about its own in a Resource.
package editing

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/changes"
	"catalogue/internal/httpserver"
	"catalogue/internal/idempotency"
	"catalogue/internal/problem"
	"catalogue/internal/strictjson"
)

// Limits of a request.
const (
	maxBody      = 1 << 20 // bytes, of one object
	maxBatchBody = 8 << 20 // bytes, of a request of many
	maxItems     = 1000    // of a request of many
	// maxItemErrors are told of one item: all answers of a request have to fit the document that keeps them.
	maxItemErrors = 10
	maxUser       = 200 // characters
	// lastMoment is what has to be left of the request's time for another item of many to begin: it shall not be cut off.
	lastMoment = 500 * time.Millisecond
)

// Services are what all writes share.
type Services struct {
	// TrustUser says that the header X-Catalogue-User is to be believed. Where it is not, nobody may write.
	TrustUser bool
	Keys      *idempotency.Store
	// PublicURL is the address that clients reach the service at, without a slash at its end. Empty: links are paths.
	PublicURL string
	Log       *slog.Logger // of what fails inside a request of many
}

// Resource is one kind of objects as clients write it.
type Resource[T any] struct {
	// Path is the route of all of them: "/creatives", or "/tasks/:id/comments" for those below another object.
	Path string
	// Param is the name of the route's parameter behind Path: the object's id.
	Param  string
	Writer *changes.Writer[T]
	// ReadOnly are the JSON paths that clients never give, Initial those that they give at creation and never after.
	ReadOnly, Initial []string
	// Defaults fills in what a new object has where its client did not say. Nil where there is nothing.
	Defaults func(*T)
	// Below is nil for objects that stand alone.
	Below *Below[T]
	// Owner is who alone may change an object. Nil where everybody may.
	Owner func(*T) *string
}

// Below says how objects stand below the one that the route names as :id.
type Below[T any] struct {
	Place func(item *T, parent bson.ObjectID)
	In    func(item *T, parent bson.ObjectID) bool
}

// endpoint is a resource with what was made of it once.
type endpoint[T any] struct {
	Services
	Resource[T]
	created *strictjson.Decoder[T]
	patched *strictjson.Decoder[T]
}

func newEndpoint[T any](s Services, res Resource[T]) *endpoint[T] {
	return &endpoint[T]{
		Services: s, Resource: res,
		created: strictjson.New[T](res.ReadOnly...),
		patched: strictjson.New[T](slices.Concat(res.ReadOnly, res.Initial)...),
	}
}

// Register serves the creation, change and deletion of single objects.
func Register[T any](r gin.IRoutes, s Services, res Resource[T]) {
	e := newEndpoint(s, res)
	r.POST(res.Path, httpserver.Handle(e.create))
	r.PATCH(res.Path+"/:"+res.Param, httpserver.Handle(e.patch))
	r.DELETE(res.Path+"/:"+res.Param, httpserver.Handle(e.remove))
}

// create answers 201 with the new object.
func (e *endpoint[T]) create(c *gin.Context) error {
	in, err := e.read(c, jsonBody)
	if err != nil {
		return err
	}
	item, err := e.newItem(in.body)
	if err != nil {
		return err
	}
	place := e.place(c)
	return e.once(c, in, place.path, func(ctx context.Context, claim *idempotency.Claim) (answer, bool, error) {
		if e.Below != nil {
			if place.parent.IsZero() {
				return answer{}, false, problem.NoObject(place.parentText)
			}
			e.Below.Place(&item, place.parent)
		}
		var kept answer
		var inside changes.Inside[T]
		if claim != nil {
			inside = func(ctx context.Context, saved changes.Saved[T]) error {
				var err error
				if kept, err = e.createdAnswer(place, saved); err != nil {
					return err
				}
				return claim.Finish(ctx, kept)
			}
		}
		saved, err := e.Writer.Create(ctx, in.user, item, inside)
		if err != nil || claim != nil {
			return kept, err == nil, err
		}
		kept, err = e.createdAnswer(place, saved)
		return kept, true, err
	})
}

// patch answers 200 with the object as it is now.
func (e *endpoint[T]) patch(c *gin.Context) error {
	in, err := e.read(c, patchBody)
	if err != nil {
		return err
	}
	patch, err := e.newPatch(in.body)
	if err != nil {
		return err
	}
	place := e.place(c)
	if err := e.missing(place); err != nil {
		return err
	}
	in.condition.required = true
	saved, err := e.Writer.Patch(c.Request.Context(), changes.Change[T]{
		ID: place.id, By: in.user, Check: e.check(in.user, place.parent, in.condition),
		Apply: func(next *T) error { return Apply(patch, next) }, Removes: patch.Removes(),
	})
	if err != nil {
		return err
	}
	out, err := objectAnswer(http.StatusOK, saved)
	if err != nil {
		return err
	}
	return respond(c, out)
}

// remove answers 204.
func (e *endpoint[T]) remove(c *gin.Context) error {
	in, err := e.read(c, noBody)
	if err != nil {
		return err
	}
	place := e.place(c)
	if err := e.missing(place); err != nil {
		return err
	}
	err = e.Writer.Delete(c.Request.Context(), changes.Removal[T]{
		ID: place.id, By: in.user, Check: e.check(in.user, place.parent, in.condition),
	})
	if err != nil {
		return err
	}
	c.Status(http.StatusNoContent)
	c.Writer.WriteHeaderNow()
	return nil
}
