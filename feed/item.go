package feed

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/instant"
	"catalogue/internal/strictbson"
)

// asStored is the place of public_modified in a catalogue of fields: it is no field of T.
const asStored = -1

// shape is how objects of one resource are shown.
type shape[T any] struct {
	decoder *strictbson.Decoder[T]
	fields  map[string]field // by JSON name; those that can be asked for
}

// field is one that an item may show beyond id and dateModified.
type field struct {
	name   string // in JSON
	stored string
	index  int // in T, or asStored
}

// newShape learns the fields of T. Whatever stands under json:"-" is not shown.
func newShape[T any](decoder *strictbson.Decoder[T]) shape[T] {
	s := shape[T]{decoder: decoder, fields: map[string]field{
		fieldPublicModified: {name: fieldPublicModified, stored: fieldPublicModified, index: asStored},
	}}
	for i, f := range slices.Collect(reflect.TypeFor[T]().Fields()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		stored, _, _ := strings.Cut(f.Tag.Get("bson"), ",")
		switch name {
		case "", "-", "id", fieldDateModified, fieldPublicModified:
		default:
			s.fields[name] = field{name: name, stored: stored, index: i}
		}
	}
	return s
}

// choose finds the fields that a client names, separated by commas. Unknown ones, and those that are shown anyway, are
// passed over. They come sorted, each once.
func (s shape[T]) choose(names string) []field {
	var out []field
	for name := range strings.SplitSeq(names, ",") {
		if f, known := s.fields[name]; known {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, byName)
	return slices.CompactFunc(out, func(a, b field) bool { return a.name == b.name })
}

// everything is what a single object shows where nothing is asked for: all but public_modified.
func (s shape[T]) everything() []field {
	out := make([]field, 0, len(s.fields))
	for _, f := range s.fields {
		if f.index != asStored {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, byName)
	return out
}

func byName(a, b field) int { return strings.Compare(a.name, b.name) }

// projection names what has to be read to show fields. _id comes by itself.
func projection(fields []field) bson.D {
	out := places()
	out = append(out, bson.E{Key: fieldDateModified, Value: int32(1)})
	for _, f := range fields {
		if f.index != asStored {
			out = append(out, bson.E{Key: f.stored, Value: int32(1)})
		}
	}
	return out
}

// places is the projection of a row's place.
func places() bson.D { return bson.D{{Key: fieldPublicModified, Value: int32(1)}} }

// itemWriter appends items to an answer.
type itemWriter[T any] struct {
	shape[T]
	shown []field
	out   *bytes.Buffer
	json  *json.Encoder // to out
}

func (s shape[T]) writer(out *bytes.Buffer, shown []field) itemWriter[T] {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return itemWriter[T]{shape: s, shown: shown, out: out, json: encoder}
}

// write appends one item: id, dateModified, and the chosen fields that the object has. It names the values that do not
// fit, which are shown as absent. It fails only where a type of T cannot be written, a mistake in the program.
func (w itemWriter[T]) write(r row) (misfits []string, err error) {
	var b [len(bson.NilObjectID) * 2]byte
	w.out.WriteString(`{"id":"`)
	w.out.Write(hex.AppendEncode(b[:0], r.id[:]))
	w.out.WriteString(`","dateModified":"`)
	w.out.WriteString(dateModified(r).String())
	w.out.WriteByte('"')
	if len(w.shown) > 0 {
		item, wrong := w.decoder.Decode(r.doc)
		misfits = wrong
		if err := w.writeFields(r, reflect.ValueOf(&item).Elem()); err != nil {
			return nil, err
		}
	}
	w.out.WriteByte('}')
	return misfits, nil
}

func (w itemWriter[T]) writeFields(r row, item reflect.Value) error {
	for _, f := range w.shown {
		if f.index == asStored {
			fmt.Fprintf(w.out, `,"%s":%s`, f.name, plainDecimal(r.at))
			continue
		}
		value := item.Field(f.index)
		if isAbsent(value) {
			continue
		}
		w.out.WriteString(`,"`)
		w.out.WriteString(f.name)
		w.out.WriteString(`":`)
		if err := w.json.Encode(value.Interface()); err != nil {
			return fmt.Errorf("encode %s: %w", f.name, err)
		}
		w.out.Truncate(w.out.Len() - 1) // the encoder ends each value with a newline
	}
	return nil
}

// isAbsent reports whether the API leaves the value out: fields that may be absent are pointers, zero ids, or empty.
func isAbsent(v reflect.Value) bool {
	if k := v.Kind(); k == reflect.Slice || k == reflect.Map {
		return v.Len() == 0
	}
	return v.IsZero()
}

// dateModified is the stored one, or the row's timestamp where that is missing or no date: a page that cannot be shown
// would stop its readers for good.
func dateModified(r row) instant.Instant {
	if ms, ok := r.doc.Lookup(fieldDateModified).DateTimeOK(); ok {
		if moment, err := instant.FromMillis(ms); err == nil {
			return moment
		}
	}
	moment, _ := instant.FromMillis(int64(math.Round(r.at * millisPerSecond))) // in range, as every timestamp shown is
	return moment
}
