package changes

import (
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// element is a name of a document with its value.
type element struct {
	name  string
	value bson.RawValue
}

// elements are those of one document, by first occurrence of each name, as the database reads them.
type elements []element

// encode lists the top-level fields that an object is stored with: without its id and stamp, which are not its own to
// say, and without what is absent or empty.
func encode(entity any) (elements, error) {
	raw, err := bson.Marshal(entity)
	if err != nil {
		return nil, err
	}
	all, err := elementsOf(raw)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(e element) bool {
		switch e.name {
		case fieldID, fieldRev, fieldModified, fieldPosition, fieldFeed:
			return true
		}
		return isAbsent(e.value)
	}), nil
}

func elementsOf(doc bson.Raw) (elements, error) {
	list, err := doc.Elements()
	if err != nil {
		return nil, err
	}
	out := make(elements, 0, len(list))
	for _, e := range list {
		if name := e.Key(); out.get(name).IsZero() {
			out = append(out, element{name: name, value: e.Value()})
		}
	}
	return out, nil
}

// get finds a value by its name. It is zero where there is none.
func (es elements) get(name string) bson.RawValue {
	for _, e := range es {
		if e.name == name {
			return e.value
		}
	}
	return bson.RawValue{}
}

// equal reports whether both have the same values under the same names, in any order.
func (es elements) equal(others elements) bool {
	return len(es) == len(others) && !slices.ContainsFunc(es, func(e element) bool {
		return !same(e.value, others.get(e.name))
	})
}

// isAbsent reports whether a value says no more than that there is none.
func isAbsent(v bson.RawValue) bool {
	if doc, ok := v.DocumentOK(); ok {
		return len(doc) <= emptyDocument
	}
	return v.IsZero() || v.Type == bson.TypeNull
}

// emptyDocument is how many bytes a document has that holds nothing.
const emptyDocument = 5

// same compares two values. Numbers are compared as numbers, documents by their names, and null is as good as nothing.
func same(a, b bson.RawValue) bool {
	if isAbsent(a) || isAbsent(b) {
		return isAbsent(a) && isAbsent(b)
	}
	if a.IsNumber() && b.IsNumber() {
		return sameNumber(a, b)
	}
	x, isDocument := a.DocumentOK()
	y, bothAre := b.DocumentOK()
	if !isDocument || !bothAre {
		return a.Equal(b)
	}
	left, errLeft := elementsOf(x)
	right, errRight := elementsOf(y)
	return errLeft == nil && errRight == nil && left.equal(right)
}

// sameNumber compares numbers of any types. A decimal, which no entity has, is equal to itself alone.
func sameNumber(a, b bson.RawValue) bool {
	if a.Equal(b) {
		return true
	}
	if a.Type == bson.TypeDouble {
		a, b = b, a
	}
	i, isInteger := integerOf(a)
	if j, ok := integerOf(b); ok {
		return isInteger && i == j
	}
	f, ok := b.DoubleOK()
	if g, bothAre := a.DoubleOK(); bothAre {
		return ok && f == g // 0 and -0
	}
	return ok && isInteger && -maxExact <= i && i <= maxExact && float64(i) == f
}

// integerOf is the value of one of the integer types.
func integerOf(v bson.RawValue) (int64, bool) {
	if v.Type != bson.TypeInt32 && v.Type != bson.TypeInt64 {
		return 0, false
	}
	return v.AsInt64OK()
}

// assignments are what a stage sets to make next of old, the two forms of an object that is stored as doc, without what
// lies at the paths in gone. Each is of a whole top-level field: names that mean something to the database inside a
// document, such as "a.b", stay names.
func assignments(doc bson.Raw, old, next elements, gone [][]string) (bson.D, error) {
	var out bson.D
	for _, name := range namesOf(old, next, gone) {
		before, after := old.get(name), next.get(name)
		stored, less, err := without(doc.Lookup(name), name, gone)
		if err == nil && !less && same(before, after) {
			continue
		}
		var value any
		if err == nil {
			value, err = assignment(stored, before, after)
		}
		if err != nil {
			return nil, fmt.Errorf("stored field %s: %w", name, err)
		}
		out = append(out, bson.E{Key: name, Value: value})
	}
	return out, nil
}

// namesOf are the top-level fields that may differ, each once.
func namesOf(old, next elements, gone [][]string) []string {
	var out []string
	add := func(name string) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, e := range slices.Concat(old, next) {
		add(e.name)
	}
	for _, path := range gone {
		add(path[0])
	}
	return out
}

// assignment is the expression that a field is set to. In an embedded document, what the object's type does not know
// stays as it is stored.
func assignment(stored, before, after bson.RawValue) (any, error) {
	if _, isDocument := after.DocumentOK(); !isDocument && !after.IsZero() {
		return literal(after), nil
	}
	merged, err := merge(stored, before, after)
	if err != nil || len(merged) == 0 {
		return remove, err
	}
	return literal(merged), nil
}

// merge makes before into after inside a stored document. A parent of another type is none.
func merge(stored, before, after bson.RawValue) (bson.D, error) {
	var lists [3]elements
	for i, v := range []bson.RawValue{stored, before, after} {
		doc, ok := v.DocumentOK()
		if !ok {
			continue
		}
		var err error
		if lists[i], err = elementsOf(doc); err != nil {
			return nil, err
		}
	}
	kept, old, next := lists[0], lists[1], lists[2]
	var out bson.D
	for _, e := range kept {
		value := next.get(e.name)
		if same(old.get(e.name), value) {
			value = e.value // it did not change, or is not the object's to change
		}
		if !value.IsZero() {
			out = append(out, bson.E{Key: e.name, Value: value})
		}
	}
	for _, e := range next {
		if kept.get(e.name).IsZero() {
			out = append(out, bson.E{Key: e.name, Value: e.value})
		}
	}
	return out, nil
}
