// Package strictbson decodes stored documents of unknown quality. The driver's own decoder turns true into 1, a
// timestamp into a date and null into a zero value, takes names in any case, and gives up at the first failing field;
// here each field is decoded by itself, and what does not fit its type is absent.
package strictbson

import (
	"fmt"
	"reflect"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// What is said of one document's misfits is bounded: an array of a million wrong values is one line in a log.
const (
	maxMisfits    = 20
	maxMisfitPath = 200 // bytes
)

// Decoder decodes documents into T, a struct with bson tags.
type Decoder[T any] struct {
	fields     fields
	json       *object
	projection bson.D
}

// New learns the fields of T once. It panics where T has a field of a type that it cannot decode: that is a mistake
// in the program, found at its start.
func New[T any]() *Decoder[T] {
	t := reflect.TypeFor[T]()
	d := &Decoder[T]{fields: fieldsOf(t), json: objectOf(t, "")}
	for i := range t.NumField() {
		d.projection = append(d.projection, bson.E{Key: storedName(t.Field(i)), Value: int32(1)})
	}
	return d
}

// Projection names the fields that T has, so that a query fetches no others: a document may hold anything else, of
// any size.
func (d *Decoder[T]) Projection() bson.D { return d.projection }

func storedName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("bson"), ",")
	return name
}

// Decode makes a T of doc and names the paths of the values that do not fit; the path of a damaged document is its
// own, of doc itself the empty text. At most 20 are named, the last of them as "…" where there are more. Null is absence, not a misfit. Names that T does not know are passed over; of a
// repeated name the first counts, as in the database.
func (d *Decoder[T]) Decode(doc bson.Raw) (item T, misfits []string) {
	d.fields.decode(doc, reflect.ValueOf(&item).Elem(), "", &misfits)
	return item, misfits
}

// note adds the path of a misfit, as far as there is room.
func note(misfits *[]string, path string) {
	switch n := len(*misfits); {
	case n < maxMisfits-1:
		*misfits = append(*misfits, strings.ToValidUTF8(path[:min(len(path), maxMisfitPath)], "\uFFFD"))
	case n == maxMisfits-1:
		*misfits = append(*misfits, "…")
	}
}

// fields are the fields of one struct by stored name.
type fields map[string]field

type field struct {
	index int
	set   setter
}

// setter stores v in target, a settable value of the field's type. It reports false where v does not fit.
// Misfits deeper down are added by path.
type setter func(v bson.RawValue, target reflect.Value, path string, misfits *[]string) bool

func fieldsOf(t reflect.Type) fields {
	out := make(fields, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		name := storedName(f)
		if name == "" || name == "-" {
			panic(fmt.Sprintf("strictbson: %s.%s has no bson name", t, f.Name))
		}
		if _, twice := out[name]; twice || !f.IsExported() {
			panic(fmt.Sprintf("strictbson: %s.%s is not exported, or another field has its name", t, f.Name))
		}
		out[name] = field{index: i, set: setterOf(f.Type)}
	}
	return out
}

func (fs fields) decode(doc bson.Raw, target reflect.Value, path string, misfits *[]string) {
	seen := make(map[string]bool, len(fs))
	whole := eachElement(doc, func(key []byte, v bson.RawValue) {
		f, known := fs[string(key)]
		if !known || seen[string(key)] {
			return
		}
		name := string(key)
		seen[name] = true
		if v.Type == bson.TypeNull {
			return
		}
		if !f.set(v, target.Field(f.index), join(path, name), misfits) {
			note(misfits, join(path, name))
		}
	})
	if !whole { // what was read before the damage still counts
		note(misfits, path)
	}
}
