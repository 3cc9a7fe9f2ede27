package comments

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/changes"
	"catalogue/internal/strictbson"
)

// Entity is what one comment is called in tombstones.
const Entity = "comment"

// ofTask is the type of the entities that comments stand below.
const ofTask = "task"

// Kind tells how comments are written.
func Kind() changes.Kind[Comment] {
	return changes.Kind[Comment]{
		Entity: Entity, Collection: Collection, Decoder: strictbson.New[Comment](),
		Settle: settle,
		Parent: &changes.Parent[Comment]{Collection: tasks, ID: func(c *Comment) bson.ObjectID { return c.EntityID }},
	}
}

// settle makes the user who writes a comment its author.
func settle(old, next *Comment, by string) (changes.Effects, error) {
	if old == nil {
		next.Author = &by
	}
	return changes.Effects{}, nil
}

// place puts a comment below a task.
func place(c *Comment, task bson.ObjectID) {
	c.EntityType, c.EntityID = new(ofTask), task
}

// in reports whether a comment is below a task.
func in(c *Comment, task bson.ObjectID) bool {
	return c.EntityType != nil && *c.EntityType == ofTask && c.EntityID == task
}
