package strictbson

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// eachElement visits the names and values of a document or an array, one level deep. It reports false where the bytes end
// or go wrong early; what was read before the damage is visited all the same. The driver's own list loses it, and gives
// up at damage that lies deeper, inside of one field. What is visited points into doc.
func eachElement(doc []byte, visit func(name []byte, v bson.RawValue)) (whole bool) {
	if len(doc) == 0 { // the zero bson.Raw
		return true
	}
	length, _, ok := bsoncore.ReadLength(doc)
	if !ok || length < 5 {
		return false
	}
	whole = int(length) <= len(doc)
	rest := doc[4:min(int(length), len(doc))]
	for len(rest) > 0 && rest[0] != 0 {
		kind := bsoncore.Type(rest[0])
		name, behind, ok := bsoncore.ReadKeyBytes(rest[1:])
		if !ok {
			return false
		}
		v, behind, ok := bsoncore.ReadValue(behind, kind)
		if !ok {
			return false
		}
		visit(name, bson.RawValue{Type: bson.Type(kind), Value: v.Data})
		rest = behind
	}
	return whole && len(rest) == 1
}

// eachText visits the texts of an array and names what is none by its position: the names in an array mean nothing.
func eachText(array []byte, path string, misfits *[]string, visit func(text []byte)) {
	i := 0
	var wrong []int
	whole := eachElement(array, func(_ []byte, v bson.RawValue) {
		if text, ok := textOf(v); ok {
			visit(text)
		} else if v.Type != bson.TypeNull && len(wrong) < maxMisfits {
			wrong = append(wrong, i)
		}
		i++
	})
	if !whole {
		note(misfits, path)
	}
	for _, i := range wrong {
		note(misfits, join(path, strconv.Itoa(i)))
	}
}

// eachNamedText visits the texts of a document and names what is none. Of a repeated name the first counts.
func eachNamedText(doc []byte, path string, misfits *[]string, visit func(name, text []byte)) {
	seen := map[string]bool{}
	var wrong []string
	whole := eachElement(doc, func(name []byte, v bson.RawValue) {
		if seen[string(name)] {
			return
		}
		seen[string(name)] = true
		if text, ok := textOf(v); ok && utf8.Valid(name) {
			visit(name, text)
		} else if v.Type != bson.TypeNull && len(wrong) < maxMisfits {
			wrong = append(wrong, string(name))
		}
	})
	if !whole {
		note(misfits, path)
	}
	for _, name := range wrong {
		note(misfits, join(path, name))
	}
}

// join makes the path of a name, in UTF-8 whatever the name is: paths go into logs.
func join(path, name string) string {
	name = strings.ToValidUTF8(name, "\uFFFD")
	if path == "" {
		return name
	}
	return path + "." + name
}
