package strictbson

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/instant"
)

// appenderOf chooses the appender of a type, of the same types as setterOf, for values at path.
func appenderOf(t reflect.Type, path string) appender {
	switch t {
	case reflect.TypeFor[bson.ObjectID]():
		return scalarJSON(bson.RawValue.ObjectIDOK, appendObjectID)
	case reflect.TypeFor[instant.Instant]():
		return scalarJSON(toInstant, appendInstant)
	case reflect.TypeFor[string]():
		return appendTextValue
	case reflect.TypeFor[int64]():
		return scalarJSON(toInteger, func(dst []byte, i int64) []byte { return strconv.AppendInt(dst, i, 10) })
	case reflect.TypeFor[float64]():
		return scalarJSON(toFloat, appendFloat)
	case reflect.TypeFor[bool]():
		return scalarJSON(bson.RawValue.BooleanOK, strconv.AppendBool)
	case reflect.TypeFor[[]string]():
		return textsJSON(path)
	case reflect.TypeFor[map[string]string]():
		return textMapJSON(path)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return pointerJSON(t.Elem(), path)
	case reflect.Struct:
		return objectOf(t, path).nested
	default:
		panic(fmt.Sprintf("strictbson: no way to write %s", t))
	}
}

func scalarJSON[V comparable](
	convert func(bson.RawValue) (V, bool), write func([]byte, V) []byte,
) appender {
	return func(dst []byte, v bson.RawValue, _ *[]string) ([]byte, outcome) {
		value, ok := convert(v)
		if !ok {
			return dst, unsaid
		}
		return write(dst, value), outcomeOf(value)
	}
}

// outcomeOf tells a value that fits from the zero value.
func outcomeOf[V comparable](value V) outcome {
	if value == *new(V) {
		return zero
	}
	return shown
}

// pointerJSON writes what is pointed to. A pointer to zero is a value, except to a document of which nothing is left.
func pointerJSON(t reflect.Type, path string) appender {
	write := appenderOf(t, path)
	if t.Kind() == reflect.Struct && t != reflect.TypeFor[instant.Instant]() {
		return write
	}
	return func(dst []byte, v bson.RawValue, misfits *[]string) ([]byte, outcome) {
		dst, result := write(dst, v, misfits)
		if result == zero {
			result = shown
		}
		return dst, result
	}
}

func appendObjectID(dst []byte, id bson.ObjectID) []byte {
	dst = append(dst, '"')
	dst = hex.AppendEncode(dst, id[:])
	return append(dst, '"')
}

func appendInstant(dst []byte, at instant.Instant) []byte {
	dst = append(dst, '"')
	dst = at.Time().AppendFormat(dst, instant.Layout)
	return append(dst, '"')
}

func appendTextValue(dst []byte, v bson.RawValue, _ *[]string) ([]byte, outcome) {
	text, ok := textOf(v)
	if !ok {
		return dst, unsaid
	}
	if len(text) == 0 {
		return append(dst, `""`...), zero
	}
	return appendText(dst, text), shown
}

// appendText quotes valid UTF-8. Most texts need no escape; encoding/json writes the others.
func appendText(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if c < ' ' || c == '"' || c == '\\' {
				return appendMarshalled(dst, string(text))
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if r == '\u2028' || r == '\u2029' { // line ends to JavaScript, and so escaped by encoding/json
			return appendMarshalled(dst, string(text))
		}
		i += size
	}
	dst = append(dst, '"')
	dst = append(dst, text...)
	return append(dst, '"')
}

// appendFloat writes a finite number with the fewest digits that give it back.
func appendFloat(dst []byte, f float64) []byte {
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) { // with an exponent, in encoding/json's form of it
		return appendMarshalled(dst, f)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}

// appendMarshalled lets encoding/json write a text or a finite number, which cannot fail.
func appendMarshalled(dst []byte, v any) []byte {
	out := sink{dst}
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("strictbson: %v", err))
	}
	return out.bytes[:len(out.bytes)-1] // without the encoder's line feed
}

// sink appends what is written to it.
type sink struct{ bytes []byte }

func (s *sink) Write(p []byte) (int, error) {
	s.bytes = append(s.bytes, p...)
	return len(p), nil
}
