package changes

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// storedPaths are those of paths that hold something in a stored object: null is nothing. A path has one or two names.
func storedPaths(doc bson.Raw, paths [][]string) [][]string {
	return slices.DeleteFunc(slices.Clone(paths), func(path []string) bool {
		value := doc.Lookup(path[0])
		if len(path) > 1 {
			inner, _ := value.DocumentOK() // an array has no names
			value = inner.Lookup(path[1])
		}
		return value.IsZero() || value.Type == bson.TypeNull
	})
}

// without is a stored top-level field without what lies at the paths in gone, and whether that is less. It is zero where
// the field goes itself.
func without(stored bson.RawValue, name string, gone [][]string) (left bson.RawValue, less bool, err error) {
	var inner []string
	for _, path := range gone {
		switch {
		case path[0] != name:
		case len(path) == 1:
			return bson.RawValue{}, true, nil
		default:
			inner = append(inner, path[1])
		}
	}
	doc, isDocument := stored.DocumentOK()
	if len(inner) == 0 || !isDocument {
		return stored, false, nil
	}
	list, err := elementsOf(doc)
	if err != nil {
		return bson.RawValue{}, false, err
	}
	kept := bson.D{}
	for _, e := range list {
		if !slices.Contains(inner, e.name) {
			kept = append(kept, bson.E{Key: e.name, Value: e.value})
		}
	}
	raw, err := bson.Marshal(kept)
	return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: raw}, true, err
}
