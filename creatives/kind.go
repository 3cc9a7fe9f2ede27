package creatives

import (
	"catalogue/internal/changes"
	"catalogue/internal/strictbson"
)

// Entity is what one creative is called in tombstones.
const Entity = "creative"

// Kind tells how creatives are written.
func Kind() changes.Kind[Creative] {
	return changes.Kind[Creative]{
		Entity: Entity, Collection: Collection, Decoder: strictbson.New[Creative](), UpdatedAt: true,
		Settle: func(old, next *Creative, _ string) (changes.Effects, error) {
			if old == nil {
				next.Derive()
			} else {
				next.follow(old)
			}
			return changes.Effects{}, nil
		},
	}
}
