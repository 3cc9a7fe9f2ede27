package strictjson

import (
	"strconv"
	"strings"

	"catalogue/internal/problem"
)

// faults collects what is wrong with a body, as far as it is told.
type faults struct{ list []problem.FieldError }

func (f *faults) full() bool { return len(f.list) == maxErrors }

func (f *faults) add(path string, code problem.Code, message string) {
	if !f.full() {
		f.list = append(f.list, problem.FieldError{Field: path, Code: code, Message: subject(path) + " " + message})
	}
}

// subject is a path for people.
func subject(path string) string {
	if path == "" {
		return "the body"
	}
	return path
}

// member is the path of a member of the object at path.
func member(path, name string) string {
	if name == "" {
		name = `""` // an empty path is the body's
	}
	if path == "" {
		return problem.Short(name)
	}
	return path + "." + problem.Short(name)
}

// entry is the path of a member of the map at path.
func entry(path, name string) string { return path + "[" + problem.Short(name) + "]" }

func item(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// names tells of the wrong names of an object; join makes their paths.
func (f *faults) names(v Value, path string, join func(path, name string) string) {
	for _, w := range v.inside.wrong {
		at := join(path, w.name)
		switch w.flaw {
		case repeated:
			f.add(at, problem.FieldRepeated, "is there twice; give it once")
		case nul:
			f.add(at, problem.FieldText, "holds the character NUL in its name")
		case surrogate:
			f.add(at, problem.FieldText, "holds a lone surrogate in its name, which is no character")
		case sound, deep:
		}
	}
}

// text reports whether a value is free of what no text may hold, and tells of it where it is not.
func (f *faults) text(v Value, path string) bool {
	switch v.flaw {
	case nul:
		f.add(path, problem.FieldText, "holds the character NUL")
	case surrogate:
		f.add(path, problem.FieldText, "holds a lone surrogate, which is no character")
	case deep:
		f.add(path, problem.FieldType, "is nested more than "+strconv.Itoa(maxDepth)+" deep")
	case sound, repeated:
		return true
	}
	return false
}

// unknown tells of a name that an object does not have; allowed are those that it has.
func (f *faults) unknown(path, name string, allowed []string) {
	if f.full() {
		return
	}
	at := member(path, name)
	message := at + " is unknown"
	for _, right := range allowed {
		if strings.EqualFold(right, name) {
			message = at + " is unknown; names are exact: " + right
		}
	}
	f.list = append(f.list, problem.FieldError{
		Field: at, Code: problem.FieldUnknown, Message: message, Allowed: allowed,
	})
}

// mustBe ends the message on a value that is something else.
func mustBe(expected string, v Value) string {
	given := [...]string{null: "null", text: "a text", array: "an array", object: "an object"}
	out := "must be " + expected + ", not "
	if v.kind == number || v.kind == boolean {
		return out + problem.Short(v.literal)
	}
	return out + given[v.kind]
}
