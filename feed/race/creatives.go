package race

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/creatives"
	"catalogue/internal/changes"
)

// user is who writes.
const user = "race"

// creativeWriter writes creatives, as every saving write does: through changes.
type creativeWriter struct {
	writer *changes.Writer[creatives.Creative]
	made   atomic.Int64
}

// NewCreativeWriter returns a writer of creatives that the feed shows as real ones.
func NewCreativeWriter(w *changes.Writer[creatives.Creative]) Writer {
	return &creativeWriter{writer: w}
}

func (w *creativeWriter) Create(ctx context.Context, hold Hold) (Version, error) {
	return saved(w.writer.Create(ctx, user, creatives.Creative{
		Name:   w.name(),
		Status: new(creatives.StatusActive), Format: new(creatives.FormatImage), Mode: new(creatives.ModeLive),
	}, inside(hold)))
}

func (w *creativeWriter) Patch(ctx context.Context, id bson.ObjectID, hold Hold) (Version, error) {
	name := w.name()
	return saved(w.writer.Patch(ctx, changes.Change[creatives.Creative]{
		ID: id, By: user, Inside: inside(hold),
		Apply: func(next *creatives.Creative) error {
			next.Name = name
			return nil
		},
	}))
}

// name is another one for each write: a write that changes nothing would stamp nothing.
func (w *creativeWriter) name() *string {
	return new("race " + strconv.FormatInt(w.made.Add(1), 10))
}

func inside(hold Hold) changes.Inside[creatives.Creative] {
	if hold == nil {
		return nil
	}
	return func(ctx context.Context, _ changes.Saved[creatives.Creative]) error { return hold(ctx) }
}

func saved(s changes.Saved[creatives.Creative], err error) (Version, error) {
	if err != nil {
		return Version{}, err
	}
	if s.Item.DateModified == nil {
		return Version{}, errors.New("the write has no stamp")
	}
	return Version{ID: s.ID, Stamp: *s.Item.DateModified}, nil
}
