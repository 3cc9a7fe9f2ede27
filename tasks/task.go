// Package tasks holds the tasks of creative teams: the type, its rules, its list and its routes.
package tasks

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/instant"
	"catalogue/internal/origin"
)

// Collection is the name of the collection that holds tasks.
const Collection = "tasks"

// Entity is how comments and history entries name a task as the thing that they belong to.
const Entity = "task"

// The values of a task's status.
const (
	StatusOpen       = "open"
	StatusInProgress = "in_progress"
	StatusBlocked    = "blocked"
	StatusDone       = "done"
	StatusCancelled  = "cancelled"
)

// Task is a piece of work, often on a creative. Fields that may be absent are pointers or zero ids: what is absent
// is left out of JSON and of the stored document.
type Task struct {
	ID          bson.ObjectID `bson:"_id"                   json:"id"`
	Title       *string       `bson:"title,omitempty"       json:"title,omitempty"       validate:"required,min=1,max=1000,text"`
	Description *string       `bson:"description,omitempty" json:"description,omitempty" validate:"omitempty,max=100000,text"`
	Status      *string       `bson:"status,omitempty"      json:"status,omitempty"      validate:"required,oneof=open in_progress blocked done cancelled"`
	Priority    *int64        `bson:"priority,omitempty"    json:"priority,omitempty"    validate:"required,gte=0,lte=4"` // 0 is the highest
	Type        *string       `bson:"type,omitempty"        json:"type,omitempty"        validate:"omitempty,min=1,max=100,text"`
	CreativeID  bson.ObjectID `bson:"creative_id,omitempty" json:"creative_id,omitzero"`
	Assignee    *string       `bson:"assignee,omitempty"    json:"assignee,omitempty"    validate:"omitempty,min=1,max=200,text"`
	CreatedBy   *string       `bson:"created_by,omitempty"  json:"created_by,omitempty"  validate:"omitempty,min=1,max=200,text"`

	// Rev is 1 at first and goes up by one with every change. DateModified is when the last one was made.
	Rev          *int64           `bson:"rev,omitempty"          json:"rev,omitempty"`
	DateModified *instant.Instant `bson:"dateModified,omitempty" json:"dateModified,omitempty"`

	CreatedAt *instant.Instant `bson:"created_at,omitempty" json:"created_at,omitempty"`
	UpdatedAt *instant.Instant `bson:"updated_at,omitempty" json:"updated_at,omitempty"`
	DueAt     *instant.Instant `bson:"due_at,omitempty"     json:"due_at,omitempty"`
	ClosedAt  *instant.Instant `bson:"closed_at,omitempty"  json:"closed_at,omitempty"`

	Mode   *string        `bson:"mode,omitempty"   json:"mode,omitempty"   validate:"required,oneof=live test"`
	Source *origin.Source `bson:"source,omitempty" json:"source,omitempty"`
}
