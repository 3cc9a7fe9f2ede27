package main

import (
	"errors"
	"log/slog"

	"github.com/gin-gonic/gin"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/comments"
	"catalogue/creatives"
	"catalogue/feed"
	"catalogue/history"
	"catalogue/indexes"
	"catalogue/internal/changes"
	"catalogue/internal/editing"
	"catalogue/internal/httpserver"
	"catalogue/internal/idempotency"
	"catalogue/internal/listing"
	"catalogue/internal/strictbson"
	"catalogue/pagination"
	"catalogue/tasks"
)

// declaredIndexes are the indexes that lists, feed, import and writes need.
func declaredIndexes() []indexes.Index {
	return indexes.Distinct(
		creatives.Indexes(), tasks.Indexes(), comments.Indexes(), history.Indexes(),
		feed.Indexes(creatives.Collection, tasks.Collection, comments.Collection),
		changes.Indexes(), idempotency.Indexes(),
	)
}

// catalogue is what every route needs.
type catalogue struct {
	db     *mongo.Database
	state  *indexes.State
	log    *slog.Logger
	gate   *gate // before writes and feed
	lists  listing.Services
	writes editing.Services
	feed   feed.Services
}

// register mounts every route of the catalogue.
func (c catalogue) register(r gin.IRouter) error {
	creativeStore, taskStore := creatives.NewStore(c.db, c.log), tasks.NewStore(c.db, c.log)
	mount(r, c, creatives.List(), nil)
	mount(r, c, creatives.Gallery(), nil)
	mount(r, c, tasks.List(), nil)
	mount(r, c, comments.OfTask(), taskStore)
	mount(r, c, history.OfTask(), taskStore)
	c.registerWrites(r.Group("", c.gate.guard(httpserver.Fail)), creativeStore)
	c.registerFeed(r.Group("", c.gate.guard(feed.Fail)))
	comments.Register(r, comments.NewStore(c.db, c.log))
	return errors.Join(
		creatives.Register(r, creativeStore),
		tasks.Register(r, taskStore),
	)
}

// registerWrites mounts what changes objects.
func (c catalogue) registerWrites(r gin.IRoutes, known tasks.Creatives) {
	creatives.RegisterWrites(r, c.writes, changes.NewWriter(c.db, creatives.Kind(), bson.NewObjectID),
		changes.NewSources(c.db.Collection(creatives.Collection)))
	tasks.RegisterWrites(r, c.writes, changes.NewWriter(c.db, tasks.Kind(known), bson.NewObjectID))
	comments.RegisterWrites(r, c.writes, changes.NewWriter(c.db, comments.Kind(), bson.NewObjectID))
}

// registerFeed mounts the synchronisation feed.
func (c catalogue) registerFeed(r gin.IRoutes) {
	mountFeed[creatives.Creative](r, c, "creatives", creatives.Collection)
	mountFeed[tasks.Task](r, c, "tasks", tasks.Collection)
	mountFeed[comments.Comment](r, c, "comments", comments.Collection)
}

// mount serves one list. A type's method cannot have type parameters, so c is passed along.
func mount[T any](r gin.IRoutes, c catalogue, list listing.List[T], parents listing.Parents) {
	pages := pagination.NewRepository(c.db.Collection(list.Collection), list.Decoder.JSON, c.log, c.refused(list.Collection))
	listing.Register(r, c.lists, list, pages, parents)
}

// mountFeed serves the feed of one collection.
func mountFeed[T any](r gin.IRoutes, c catalogue, path, collection string) {
	index := feed.Index(collection)
	hint := func() string { return c.state.Hint(index) }
	feed.Register(r, c.feed, feed.Resource[T]{Path: path, Collection: collection, Decoder: strictbson.New[T]()},
		feed.NewStore(c.db.Collection(collection), hint, c.refused(collection)))
}

// refused is told of the indexes that the database would not use.
func (c catalogue) refused(collection string) func(index string) {
	return func(index string) { c.state.Refused(collection, index) }
}
