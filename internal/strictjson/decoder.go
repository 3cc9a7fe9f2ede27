package strictjson

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"catalogue/internal/problem"
)

// Decoder reads objects into T, a struct with json tags. It knows the types that entities have: texts, integers,
// floats, booleans, times, ids, pointers to these, lists and maps of texts, and pointers to structs of all of them.
// Fields of type Value or []Value take any value, or any array, for another decoder to read. A field whose tag is "-"
// does not exist.
type Decoder[T any] struct{ root *fields }

// New learns the fields of T. readOnly are the paths that a client may not give, such as "metrics.ctr". It panics where
// T has a field of a type that it cannot decode, or not the field that a path names: these are mistakes in the program,
// found at its start.
func New[T any](readOnly ...string) *Decoder[T] {
	left := slices.Clone(readOnly)
	root := fieldsOf(reflect.TypeFor[T](), "", &left)
	if len(left) > 0 {
		panic(fmt.Sprintf("strictjson: %s has no %s", reflect.TypeFor[T](), strings.Join(left, ", ")))
	}
	return &Decoder[T]{root: root}
}

// Create makes a T of an object. A member that is null is absent.
func (d *Decoder[T]) Create(v Value) (T, []problem.FieldError) {
	var out T
	patch, wrong := d.Patch(v) // one that is applied to nothing
	patch.Apply(&out)
	return out, wrong
}

// Patch reads a merge patch (RFC 7396) of a T. It tells of everything that is wrong with v, in v's order, of at most 100
// things; the patch is then of what was right.
func (d *Decoder[T]) Patch(v Value) (Patch[T], []problem.FieldError) {
	var f faults
	if v.kind != object {
		f.add("", problem.FieldType, mustBe("an object", v))
		return Patch[T]{}, f.list
	}
	return Patch[T]{value: v, change: d.root.read(v, "", &f)}, f.list
}

// fields are those of one struct.
type fields struct {
	byName map[string]field
	names  []string // those that may be given, in the struct's order
}

type field struct {
	index    int
	readOnly bool
	read     reading
}

// reading makes of a value the change of a field that it asks for. What does not fit is told, and changes nothing: the
// change is nil then.
type reading func(v Value, path string, f *faults) change

// change changes target, a settable value of a field's type. It may be made more than once, of several targets, and
// gives none of them memory that another has.
type change func(target reflect.Value)

// fieldsOf learns the fields of t, a struct that lies at path. It takes the paths that it meets out of readOnly.
func fieldsOf(t reflect.Type, path string, readOnly *[]string) *fields {
	out := &fields{byName: make(map[string]field, t.NumField())}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if name == "" || !f.IsExported() {
			panic(fmt.Sprintf("strictjson: %s.%s is not exported or has no json name", t, f.Name))
		}
		if _, twice := out.byName[name]; twice {
			panic(fmt.Sprintf("strictjson: %s has two fields %s", t, name))
		}
		at := member(path, name)
		known := field{index: i, read: readingOf(f.Type, at, readOnly)}
		if i := slices.Index(*readOnly, at); i >= 0 {
			*readOnly = slices.Delete(*readOnly, i, i+1)
			known.readOnly = true
		} else {
			out.names = append(out.names, name)
		}
		out.byName[name] = known
	}
	return out
}

// read makes of an object the change of a struct.
func (fs *fields) read(v Value, path string, f *faults) change {
	f.names(v, path, member)
	changes := make(map[int]change, len(v.inside.names))
	for i, name := range v.inside.names {
		known, ok := fs.byName[name]
		switch {
		case !ok:
			f.unknown(path, name, fs.names)
		case known.readOnly:
			f.add(member(path, name), problem.FieldReadOnly, "is read-only")
		default:
			if c := known.read(v.inside.values[i], member(path, name), f); c != nil {
				changes[known.index] = c
			}
		}
	}
	return func(target reflect.Value) {
		for index, c := range changes {
			c(target.Field(index))
		}
	}
}
