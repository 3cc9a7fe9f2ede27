package strictjson

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/instant"
	"catalogue/internal/problem"
)

// readingOf chooses how a field of type t is read, which lies at path.
func readingOf(t reflect.Type, path string, readOnly *[]string) reading {
	switch t {
	case reflect.TypeFor[string]():
		return scalar(toText)
	case reflect.TypeFor[int64]():
		return scalar(toInteger)
	case reflect.TypeFor[float64]():
		return scalar(toFloat)
	case reflect.TypeFor[bool]():
		return scalar(toBoolean)
	case reflect.TypeFor[instant.Instant]():
		return scalar(toInstant)
	case reflect.TypeFor[bson.ObjectID]():
		return scalar(toID)
	case reflect.TypeFor[[]string]():
		return readTexts
	case reflect.TypeFor[map[string]string]():
		return readMap
	case reflect.TypeFor[Value]():
		return readValue
	case reflect.TypeFor[[]Value]():
		return readValues
	}
	if t.Kind() != reflect.Pointer {
		panic(fmt.Sprintf("strictjson: no way to decode %s", t))
	}
	if inner := t.Elem(); inner.Kind() == reflect.Struct && inner != reflect.TypeFor[instant.Instant]() {
		return nested(inner, fieldsOf(inner, path, readOnly))
	}
	return pointerTo(t.Elem(), readingOf(t.Elem(), path, readOnly))
}

// remove is the change that null asks for.
func remove(target reflect.Value) { target.SetZero() }

// scalar reads with a conversion, which says what is wrong with a value that does not fit.
func scalar[V any](convert func(Value) (value V, wrong string)) reading {
	return func(v Value, path string, f *faults) change {
		if v.kind == null {
			return remove
		}
		if !f.text(v, path) {
			return nil
		}
		value, wrong := convert(v)
		if wrong != "" {
			f.add(path, problem.FieldType, wrong)
			return nil
		}
		return func(target reflect.Value) { target.Set(reflect.ValueOf(value)) }
	}
}

func pointerTo(t reflect.Type, read reading) reading {
	return func(v Value, path string, f *faults) change {
		inner := read(v, path, f)
		if v.kind == null || inner == nil {
			return inner
		}
		return func(target reflect.Value) {
			value := reflect.New(t)
			inner(value.Elem())
			target.Set(value)
		}
	}
}

// nested merges objects. One of which nothing is left is absent: empty parents are not stored.
func nested(t reflect.Type, fs *fields) reading {
	return func(v Value, path string, f *faults) change {
		if v.kind == null {
			return remove
		}
		if v.kind != object {
			f.add(path, problem.FieldType, mustBe("an object", v))
			return nil
		}
		inner := fs.read(v, path, f)
		return func(target reflect.Value) {
			value := reflect.New(t) // a copy: other versions of the object may share the one that is there
			if !target.IsNil() {
				value.Elem().Set(target.Elem())
			}
			inner(value.Elem())
			if value.Elem().IsZero() {
				target.SetZero()
				return
			}
			target.Set(value)
		}
	}
}

// readTexts replaces a list as a whole. An empty one is absent.
func readTexts(v Value, path string, f *faults) change {
	if v.kind == null {
		return remove
	}
	if v.kind != array {
		f.add(path, problem.FieldType, mustBe("an array of texts", v))
		return nil
	}
	texts := make([]string, 0, len(v.inside.values))
	for i, inner := range v.inside.values {
		if s, ok := textAt(inner, item(path, i), f); ok {
			texts = append(texts, s)
		}
	}
	if len(texts) == 0 {
		return remove
	}
	return func(target reflect.Value) { target.Set(reflect.ValueOf(slices.Clone(texts))) }
}

// readMap merges the members of a map. An empty one is absent.
func readMap(v Value, path string, f *faults) change {
	if v.kind == null {
		return remove
	}
	if v.kind != object {
		f.add(path, problem.FieldType, mustBe("an object of texts", v))
		return nil
	}
	f.names(v, path, entry)
	set := make(map[string]string, len(v.inside.names))
	var gone []string
	for i, name := range v.inside.names {
		if inner := v.inside.values[i]; inner.kind == null {
			gone = append(gone, name)
		} else if s, ok := textAt(inner, entry(path, name), f); ok {
			set[name] = s
		}
	}
	return func(target reflect.Value) {
		old, _ := target.Interface().(map[string]string)
		merged := make(map[string]string, len(old)+len(set))
		maps.Copy(merged, old)
		maps.Copy(merged, set)
		for _, name := range gone {
			delete(merged, name)
		}
		if len(merged) == 0 {
			target.SetZero()
			return
		}
		target.Set(reflect.ValueOf(merged))
	}
}

func textAt(v Value, path string, f *faults) (string, bool) {
	if !f.text(v, path) {
		return "", false
	}
	s, wrong := toText(v)
	if wrong != "" {
		f.add(path, problem.FieldType, wrong)
	}
	return s, wrong == ""
}

func readValue(v Value, _ string, _ *faults) change {
	if v.kind == null {
		return remove
	}
	return func(target reflect.Value) { target.Set(reflect.ValueOf(v)) }
}

func readValues(v Value, path string, f *faults) change {
	if v.kind == null {
		return remove
	}
	items, ok := v.Items()
	if !ok {
		f.add(path, problem.FieldType, mustBe("an array", v))
		return nil
	}
	return func(target reflect.Value) { target.Set(reflect.ValueOf(items)) }
}

func toText(v Value) (value, wrong string) {
	if v.kind != text {
		return "", mustBe("a text", v)
	}
	return v.literal, ""
}

func toInteger(v Value) (value int64, wrong string) {
	n, ok := v.Whole()
	if !ok {
		return 0, mustBe("a whole number of 64 bits", v)
	}
	return n, ""
}

func toFloat(v Value) (value float64, wrong string) {
	n, ok := v.Float()
	if !ok {
		return 0, mustBe("a number of at most 1.8e308", v)
	}
	return n, ""
}

func toBoolean(v Value) (value bool, wrong string) {
	if v.kind != boolean {
		return false, mustBe("true or false", v)
	}
	return v.literal == "true", ""
}

func toInstant(v Value) (value instant.Instant, wrong string) {
	const expected = "a time in RFC 3339, such as 2026-01-31T12:00:00Z"
	if v.kind != text {
		return instant.Instant{}, mustBe(expected, v)
	}
	at, err := instant.Parse(v.literal)
	if err != nil {
		return instant.Instant{}, "must be " + expected + ": " + err.Error()
	}
	return at, ""
}

// toID takes no id of zeros alone: that is how an absent one looks in Go.
func toID(v Value) (value bson.ObjectID, wrong string) {
	const expected = "an id of 24 hexadecimal digits"
	if v.kind != text {
		return bson.NilObjectID, mustBe(expected, v)
	}
	id, err := bson.ObjectIDFromHex(v.literal)
	if err != nil || id.IsZero() {
		return bson.NilObjectID, "must be " + expected + ", not all zero"
	}
	return id, ""
}
