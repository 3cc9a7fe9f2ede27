package strictbson

import (
	"fmt"
	"math"
	"reflect"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"catalogue/internal/instant"
)

// setterOf chooses the setter of a type: the scalars that entities have, pointers to them, structs, slices of text
// and maps of text.
func setterOf(t reflect.Type) setter {
	switch t {
	case reflect.TypeFor[bson.ObjectID]():
		return scalar(bson.RawValue.ObjectIDOK)
	case reflect.TypeFor[instant.Instant]():
		return scalar(toInstant)
	case reflect.TypeFor[string]():
		return scalar(toText)
	case reflect.TypeFor[int64]():
		return scalar(toInteger)
	case reflect.TypeFor[float64]():
		return scalar(toFloat)
	case reflect.TypeFor[bool]():
		return scalar(bson.RawValue.BooleanOK)
	case reflect.TypeFor[[]string]():
		return setTexts
	case reflect.TypeFor[map[string]string]():
		return setTextMap
	}
	switch t.Kind() {
	case reflect.Pointer:
		return pointerTo(t.Elem())
	case reflect.Struct:
		return nested(t)
	default:
		panic(fmt.Sprintf("strictbson: no way to decode %s", t))
	}
}

func scalar[V any](convert func(bson.RawValue) (V, bool)) setter {
	return func(v bson.RawValue, target reflect.Value, _ string, _ *[]string) bool {
		value, ok := convert(v)
		if ok {
			*target.Addr().Interface().(*V) = value //nolint:errcheck,forcetypeassert // setterOf chose V by the target's type
		}
		return ok
	}
}

// pointerTo makes the value only where something fits, so that absent stays nil. A nested document of which nothing
// is left is absent as a whole.
func pointerTo(t reflect.Type) setter {
	set := setterOf(t)
	return func(v bson.RawValue, target reflect.Value, path string, misfits *[]string) bool {
		value := reflect.New(t)
		if !set(v, value.Elem(), path, misfits) {
			return false
		}
		if t.Kind() != reflect.Struct || t == reflect.TypeFor[instant.Instant]() || !value.Elem().IsZero() {
			target.Set(value)
		}
		return true
	}
}

func nested(t reflect.Type) setter {
	inner := fieldsOf(t)
	return func(v bson.RawValue, target reflect.Value, path string, misfits *[]string) bool {
		doc, ok := v.DocumentOK()
		if ok {
			inner.decode(doc, target, path, misfits)
		}
		return ok
	}
}

// setTexts leaves out what is no text: the others stay.
func setTexts(v bson.RawValue, target reflect.Value, path string, misfits *[]string) bool {
	array, ok := v.ArrayOK()
	if !ok {
		return false
	}
	var out []string
	eachText(array, path, misfits, func(text []byte) { out = append(out, string(text)) })
	target.Set(reflect.ValueOf(out))
	return true
}

// setTextMap leaves out what is no text: the others stay.
func setTextMap(v bson.RawValue, target reflect.Value, path string, misfits *[]string) bool {
	doc, ok := v.DocumentOK()
	if !ok {
		return false
	}
	out := map[string]string{}
	eachNamedText(doc, path, misfits, func(name, text []byte) { out[string(name)] = string(text) })
	if len(out) > 0 {
		target.Set(reflect.ValueOf(out))
	}
	return true
}

// toText takes valid UTF-8 only: JSON cannot carry anything else.
func toText(v bson.RawValue) (string, bool) {
	text, ok := textOf(v)
	return string(text), ok
}

// textOf is toText without a copy.
func textOf(v bson.RawValue) ([]byte, bool) {
	if v.Type != bson.TypeString {
		return nil, false
	}
	length, rest, ok := bsoncore.ReadLength(v.Value)
	if !ok || length < 1 || int(length) > len(rest) {
		return nil, false
	}
	text := rest[:length-1] // the last byte ends it
	return text, utf8.Valid(text)
}

// toInteger takes whole doubles too: many programs, the database's own shell among them, store every number as one.
func toInteger(v bson.RawValue) (int64, bool) {
	switch v.Type {
	case bson.TypeInt32, bson.TypeInt64:
		return v.AsInt64OK()
	case bson.TypeDouble:
		f := v.Double()
		if f != math.Trunc(f) || math.Abs(f) > 1<<53 { // NaN is unequal to itself
			return 0, false
		}
		return int64(f), true
	default:
		return 0, false
	}
}

// toFloat takes integers that a double holds exactly. NaN and the infinities have no form in JSON.
func toFloat(v bson.RawValue) (float64, bool) {
	switch v.Type {
	case bson.TypeDouble:
		f := v.Double()
		return f, !math.IsNaN(f) && !math.IsInf(f, 0)
	case bson.TypeInt32, bson.TypeInt64:
		i, ok := v.AsInt64OK()
		return float64(i), ok && i >= -1<<53 && i <= 1<<53
	default:
		return 0, false
	}
}

func toInstant(v bson.RawValue) (instant.Instant, bool) {
	ms, ok := v.DateTimeOK()
	if !ok {
		return instant.Instant{}, false
	}
	i, err := instant.FromMillis(ms)
	return i, err == nil
}
