package tasks

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/changes"
	"catalogue/internal/problem"
	"catalogue/internal/strictbson"
)

// The collections of what stands below tasks, and what one comment is called in tombstones.
const (
	comments      = "comments"
	commentEntity = "comment"
	history       = "history"
)

// Creatives knows the creatives that tasks are about.
type Creatives interface {
	Exists(ctx context.Context, id bson.ObjectID) (bool, error)
}

// Kind tells how tasks are written.
func Kind(creatives Creatives) changes.Kind[Task] {
	return changes.Kind[Task]{
		Entity: Entity, Collection: Collection, Decoder: strictbson.New[Task](), UpdatedAt: true,
		Settle: settle, History: true,
		Verify: func(ctx context.Context, old, next *Task) error { return verify(ctx, creatives, old, next) },
		// Entries of a task's history are of nothing once it is gone, so that they leave no tombstones.
		Children: []changes.Child{{Collection: comments, Entity: commentEntity}, {Collection: history}},
	}
}

// verify refuses a creative that does not exist. A task keeps the id of one that is deleted later.
func verify(ctx context.Context, creatives Creatives, old, next *Task) error {
	if next.CreativeID.IsZero() || old != nil && old.CreativeID == next.CreativeID {
		return nil
	}
	exists, err := creatives.Exists(ctx, next.CreativeID)
	if err != nil || exists {
		return err
	}
	return problem.Invalid([]problem.FieldError{{
		Field: "creative_id", Code: problem.FieldInvalid, Message: "creative_id names no creative that exists",
	}})
}
