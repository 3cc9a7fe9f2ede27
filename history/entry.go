// Package history holds what happened to tasks: the type, its rules and its list.
package history

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/instant"
	"catalogue/internal/origin"
)

// Collection is the name of the collection that holds history entries.
const Collection = "history"

// ActionStatusChanged is the action of a task's move from one status to another.
const ActionStatusChanged = "task.status_changed"

// Entry is one change of an entity. From is absent where the entity began with To.
type Entry struct {
	ID         bson.ObjectID `bson:"_id"                   json:"id"`
	EntityType *string       `bson:"entity_type,omitempty" json:"entity_type,omitempty" validate:"required,oneof=task"`
	EntityID   bson.ObjectID `bson:"entity_id,omitempty"   json:"entity_id,omitzero"    validate:"required"`
	Action     *string       `bson:"action,omitempty"      json:"action,omitempty"      validate:"required,min=1,max=100,text"`
	From       *string       `bson:"from,omitempty"        json:"from,omitempty"        validate:"omitempty,min=1,max=1000,text"`
	To         *string       `bson:"to,omitempty"          json:"to,omitempty"          validate:"required,min=1,max=1000,text"`
	// Fields are what changed, where that was not one field's move from one value to another.
	Fields []string         `bson:"fields,omitempty"      json:"fields,omitempty"`
	At     *instant.Instant `bson:"at,omitempty"          json:"at,omitempty"          validate:"required"`
	By     *string          `bson:"by,omitempty"          json:"by,omitempty"          validate:"omitempty,min=1,max=200,text"`
	Source *origin.Source   `bson:"source,omitempty"      json:"-"`
}
