package strictbson

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// element is one name of a document and its value.
type element struct {
	name  string
	value bson.RawValue
}

// elements lists a document or an array, one level deep. It reports false where the bytes end or go wrong early;
// what was read before the damage is returned all the same. The driver's own list loses it, and gives up at damage
// that lies deeper, inside of one field.
func elements(doc []byte) (out []element, whole bool) {
	if len(doc) == 0 { // the zero bson.Raw
		return nil, true
	}
	length, _, ok := bsoncore.ReadLength(doc)
	if !ok || length < 5 {
		return nil, false
	}
	whole = int(length) <= len(doc)
	rest := doc[4:min(int(length), len(doc))]
	for len(rest) > 0 && rest[0] != 0 {
		var e bsoncore.Element
		if e, rest, ok = bsoncore.ReadElement(rest); !ok {
			return out, false
		}
		v := e.Value()
		out = append(out, element{name: e.Key(), value: bson.RawValue{Type: bson.Type(v.Type), Value: v.Data}})
	}
	return out, whole && len(rest) == 1
}

// join makes the path of a name, in UTF-8 whatever the name is: paths go into logs.
func join(path, name string) string {
	name = strings.ToValidUTF8(name, "\uFFFD")
	if path == "" {
		return name
	}
	return path + "." + name
}
