package seeding

import "go.mongodb.org/mongo-driver/v2/bson"

// present is doc without what is null and without parents in which nothing is left, as the writer of all other objects
// stores it.
func present(doc bson.D) bson.D {
	out := make(bson.D, 0, len(doc))
	for _, e := range doc {
		if parent, ok := e.Value.(bson.D); ok {
			if parent = present(parent); len(parent) == 0 {
				continue
			}
			e.Value = parent
		}
		if e.Value != nil {
			out = append(out, e)
		}
	}
	return out
}
