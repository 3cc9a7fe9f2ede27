// Package comments holds what people say about tasks: the type, its rules and its list.
package comments

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/instant"
	"catalogue/internal/origin"
)

// Collection is the name of the collection that holds comments.
const Collection = "comments"

// Comment is a text that somebody wrote about an entity.
type Comment struct {
	ID         bson.ObjectID    `bson:"_id"                   json:"id"`
	EntityType *string          `bson:"entity_type,omitempty" json:"entity_type,omitempty" validate:"required,oneof=task"`
	EntityID   bson.ObjectID    `bson:"entity_id,omitempty"   json:"entity_id,omitzero"    validate:"required"`
	Author     *string          `bson:"author,omitempty"      json:"author,omitempty"      validate:"required,min=1,max=200,text"`
	Body       *string          `bson:"body,omitempty"        json:"body,omitempty"        validate:"required,min=1,max=100000,text"`
	CreatedAt  *instant.Instant `bson:"created_at,omitempty"  json:"created_at,omitempty"`
	// Mode is that of the entity when the comment was written.
	Mode *string `bson:"mode,omitempty" json:"mode,omitempty" validate:"omitempty,oneof=live test"`

	// Rev is 1 at first and goes up by one with every change. DateModified is when the last one was made.
	Rev          *int64           `bson:"rev,omitempty"          json:"rev,omitempty"`
	DateModified *instant.Instant `bson:"dateModified,omitempty" json:"dateModified,omitempty"`

	Source *origin.Source `bson:"source,omitempty"      json:"source,omitempty"`
}
