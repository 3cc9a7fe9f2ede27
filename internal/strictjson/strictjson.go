// Package strictjson reads JSON bodies to the letter: names are exact and there once, texts and numbers are what they
// say, and everything that is wrong is told at once.
package strictjson

import (
	"slices"
	"strconv"

	"catalogue/internal/jsonnumber"
)

// Limits of a body, beside its length in bytes, which is its reader's to bound.
const (
	maxDepth  = 64      // arrays and objects within each other
	maxValues = 500_000 // a request of 1,000 items with 100 tags and 100 attributes each has half of that
	maxErrors = 100     // that are told of one body
)

// kind is the type of a JSON value. A Value that was never read is absent.
type kind uint8

const (
	absent kind = iota
	null
	boolean
	number
	text
	array
	object
)

// Value is a JSON value. The zero Value is absent: it stands for no value at all, which null is not.
type Value struct {
	kind    kind
	flaw    flaw   // of a text
	literal string // of a text its characters, of all else, a text with a flaw too, how it was written
	inside  *inside
}

// inside is what an array or an object holds.
type inside struct {
	values []Value
	names  []string       // of an object, those of the values
	index  map[string]int // of an object, where a name's value is
	wrong  []wrongMember  // of an object: these are not among the names and values
}

// wrongMember has a name that is there before, or that is no text: then it is as it was written.
type wrongMember struct {
	name  string
	flaw  flaw
	value Value
}

// Items are the members of an array, and false where the value is none.
func (v Value) Items() ([]Value, bool) {
	if v.kind != array {
		return nil, false
	}
	return slices.Clone(v.inside.values), true
}

// Member is a member of an object, and false where the value is no object or has none of that name.
func (v Value) Member(name string) (Value, bool) {
	if v.kind != object {
		return Value{}, false
	}
	i, ok := v.inside.index[name]
	if !ok {
		return Value{}, false
	}
	return v.inside.values[i], true
}

// Names are those of an object's members, in their order.
func (v Value) Names() []string {
	if v.kind != object {
		return nil
	}
	return slices.Clone(v.inside.names)
}

// Text is the value of a JSON string, and false where the value is none, or holds what no text may hold.
func (v Value) Text() (string, bool) {
	if v.kind != text || v.flaw != sound {
		return "", false
	}
	return v.literal, true
}

// Whole is the value of a whole number (1e3 and 1.0 are), and false where the value is none or none of int64.
func (v Value) Whole() (int64, bool) {
	if v.kind != number {
		return 0, false
	}
	digits, ok := jsonnumber.Whole(v.literal)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil
}

// Float is the value of a number that a double can hold, rounded to the nearest, and false where the value is none.
// There is no negative zero.
func (v Value) Float() (float64, bool) {
	if v.kind != number {
		return 0, false
	}
	f, err := strconv.ParseFloat(v.literal, 64)
	if f == 0 {
		f = 0 // whatever its sign was
	}
	return f, err == nil
}

// IsNull reports whether the value is null, which an absent one is not.
func (v Value) IsNull() bool { return v.kind == null }

// IsZero reports whether the value is absent.
func (v Value) IsZero() bool { return v.kind == absent }
