package strictbson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxMembers is how many fields a type may have. The values of a document are kept on the stack while it is written.
const maxMembers = 32

// JSON makes of doc what encoding/json makes of the item that Decode returns, without HTML's escapes, and names the
// same misfits, in the order of the fields. It makes no item on the way, and looks at no type again.
func (d *Decoder[T]) JSON(doc bson.Raw) (item json.RawMessage, misfits []string) {
	item, _ = d.json.append(make([]byte, 0, 2*len(doc)), doc, &misfits)
	return item, misfits
}

// object writes the documents of one struct type in one place.
type object struct {
	path    string         // of the place, empty for whole documents
	places  map[string]int // of the members, by stored name
	members []member       // in the order of the struct, which is that of the answer
}

// member is one field of the struct.
type member struct {
	path   string // of its value
	prefix []byte // the name in JSON and a colon
	write  appender
	absent []byte // what stands for no value; nil where the member is left out then
	hidden bool   // it is never shown, but a document that has it is there
}

// appender writes a value behind dst and adds the paths of misfits deeper down. Where the outcome is not shown, what it has
// written is to be thrown away.
type appender func(dst []byte, v bson.RawValue, misfits *[]string) ([]byte, outcome)

// outcome is what became of a value.
type outcome int

const (
	shown  outcome = iota
	zero           // it fits, and is the zero value of its type
	unsaid         // it does not fit
)

// objectOf learns the fields of t, whose documents stand at path. It panics where json or bson tags leave a name open, or where there are too many
// fields: mistakes in the program, found at its start.
func objectOf(t reflect.Type, path string) *object {
	if t.NumField() > maxMembers {
		panic(fmt.Sprintf("strictbson: %s has more than %d fields", t, maxMembers))
	}
	o := &object{path: path, places: make(map[string]int, t.NumField())}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			panic(fmt.Sprintf("strictbson: %s.%s has no JSON name", t, f.Name))
		}
		stored := storedName(f)
		m := member{path: join(path, stored), hidden: name == "-", prefix: append(appendText(nil, []byte(name)), ':')}
		m.write = appenderOf(f.Type, m.path)
		if options == "" && !m.hidden {
			m.absent = zeroJSON(f.Type)
		}
		o.places[stored] = len(o.members)
		o.members = append(o.members, m)
	}
	return o
}

// zeroJSON is how encoding/json writes the zero value of t.
func zeroJSON(t reflect.Type) []byte {
	text, err := json.Marshal(reflect.Zero(t).Interface())
	if err != nil {
		panic(fmt.Sprintf("strictbson: %s cannot be written as JSON: %v", t, err))
	}
	return text
}

// append writes a document. The outcome is zero where none of its members has a value.
func (o *object) append(dst, doc []byte, misfits *[]string) ([]byte, outcome) {
	var values [maxMembers]bson.RawValue
	whole := eachElement(doc, func(name []byte, v bson.RawValue) {
		if i, known := o.places[string(name)]; known && values[i].Type == 0 { // of a repeated name the first counts
			values[i] = v
		}
	})
	if !whole { // what was read before the damage still counts
		note(misfits, o.path)
	}
	result := zero
	begin := len(dst)
	dst = append(dst, '{')
	for i := range o.members {
		m := &o.members[i]
		before := len(dst)
		if before > begin+1 {
			dst = append(dst, ',')
		}
		dst = append(dst, m.prefix...)
		start := len(dst)
		var said bool
		if dst, said = m.append(dst, values[i], misfits); said {
			result = shown
		}
		switch {
		case said && !m.hidden:
		case m.absent == nil:
			dst = dst[:before]
		default:
			dst = append(dst[:start], m.absent...)
		}
	}
	return append(dst, '}'), result
}

// append writes the member's value. It reports false where there is none.
func (m *member) append(dst []byte, v bson.RawValue, misfits *[]string) ([]byte, bool) {
	if v.Type == 0 || v.Type == bson.TypeNull {
		return dst, false
	}
	dst, result := m.write(dst, v, misfits)
	if result == unsaid {
		note(misfits, m.path)
	}
	return dst, result == shown
}

func (o *object) nested(dst []byte, v bson.RawValue, misfits *[]string) ([]byte, outcome) {
	doc, ok := v.DocumentOK()
	if !ok {
		return dst, unsaid
	}
	return o.append(dst, doc, misfits)
}

// textsJSON leaves out what is no text: the others stay.
func textsJSON(path string) appender {
	return func(dst []byte, v bson.RawValue, misfits *[]string) ([]byte, outcome) {
		array, ok := v.ArrayOK()
		if !ok {
			return dst, unsaid
		}
		begin := len(dst)
		dst = append(dst, '[')
		eachText(array, path, misfits, func(text []byte) {
			if len(dst) > begin+1 {
				dst = append(dst, ',')
			}
			dst = appendText(dst, text)
		})
		if len(dst) == begin+1 {
			return dst, zero
		}
		return append(dst, ']'), shown
	}
}

// textMapJSON writes the texts in the order of their names, as encoding/json does.
func textMapJSON(path string) appender {
	return func(dst []byte, v bson.RawValue, misfits *[]string) ([]byte, outcome) {
		doc, ok := v.DocumentOK()
		if !ok {
			return dst, unsaid
		}
		type entry struct{ name, text []byte }
		var entries []entry
		eachNamedText(doc, path, misfits, func(name, text []byte) { entries = append(entries, entry{name, text}) })
		if len(entries) == 0 {
			return dst, zero
		}
		slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a.name, b.name) })
		for i, e := range entries {
			dst = append(dst, "{,"[min(i, 1)])
			dst = append(appendText(dst, e.name), ':')
			dst = appendText(dst, e.text)
		}
		return append(dst, '}'), shown
	}
}
