package main

import (
	"errors"
	"log/slog"

	"github.com/gin-gonic/gin"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/comments"
	"catalogue/creatives"
	"catalogue/history"
	"catalogue/indexes"
	"catalogue/internal/listing"
	"catalogue/pagination"
	"catalogue/tasks"
)

// declaredIndexes are the indexes that the lists and the import need.
func declaredIndexes() []indexes.Index {
	return indexes.Distinct(creatives.Indexes(), tasks.Indexes(), comments.Indexes(), history.Indexes())
}

// catalogue is what every route needs.
type catalogue struct {
	db    *mongo.Database
	state *indexes.State
	lists listing.Services
	log   *slog.Logger
}

// register mounts every route of the catalogue.
func (c catalogue) register(r gin.IRoutes) error {
	taskStore := tasks.NewStore(c.db, c.log)
	mount(r, c, creatives.List(), nil)
	mount(r, c, creatives.Gallery(), nil)
	mount(r, c, tasks.List(), nil)
	mount(r, c, comments.OfTask(), taskStore)
	mount(r, c, history.OfTask(), taskStore)
	return errors.Join(
		creatives.Register(r, creatives.NewStore(c.db, c.log)),
		tasks.Register(r, taskStore),
	)
}

// mount serves one list. A type's method cannot have type parameters, so c is passed along.
func mount[T any](r gin.IRoutes, c catalogue, list listing.List[T], parents listing.Parents) {
	refused := func(index string) { c.state.Refused(list.Collection, index) }
	pages := pagination.NewRepository(c.db.Collection(list.Collection), list.Decoder.Decode, c.log, refused)
	listing.Register(r, c.lists, list, pages, parents)
}
