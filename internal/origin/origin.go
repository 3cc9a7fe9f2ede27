// Package origin says where an imported object came from.
package origin

// Source is an object's identity in the system that it was imported from. (system, id) is unique in a collection.
type Source struct {
	System string `bson:"system" json:"system" validate:"required,max=100,text"`
	ID     string `bson:"id"     json:"id"     validate:"required,max=500,text"`
	// Digest is that of the row last imported, so that a second import changes nothing. It is not shown.
	Digest string `bson:"digest,omitempty" json:"-"`
}
