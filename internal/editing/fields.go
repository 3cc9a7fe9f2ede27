package editing

import (
	"errors"
	"slices"
	"strings"

	"catalogue/internal/problem"
	"catalogue/internal/rules"
	"catalogue/internal/strictjson"
)

// newItem makes a new object of a body, with its defaults. Its error tells of everything that is wrong with the body.
func (e *endpoint[T]) newItem(v strictjson.Value) (T, error) {
	item, wrong := e.created.Create(v)
	if e.Defaults != nil {
		e.Defaults(&item)
	}
	broken := slices.DeleteFunc(rules.Check(&item), func(b rules.Violation) bool {
		return slices.Contains(e.ReadOnly, b.Field) // set elsewhere: not the client's to give
	})
	return item, problem.Invalid(join[T](wrong, broken))
}

// newPatch reads a merge patch.
func (e *endpoint[T]) newPatch(v strictjson.Value) (strictjson.Patch[T], error) {
	patch, wrong := ReadPatch(e.patched, v)
	return patch, problem.Invalid(wrong)
}

// Read makes a T of an object, and tells everything that is wrong with it.
func Read[T any](d *strictjson.Decoder[T], v strictjson.Value) (T, []problem.FieldError) {
	item, wrong := d.Create(v)
	wrong = join[T](wrong, rules.Check(&item))
	return item, wrong
}

// ReadPatch reads a merge patch, and tells everything that is wrong with it whatever object it meets.
func ReadPatch[T any](d *strictjson.Decoder[T], v strictjson.Value) (strictjson.Patch[T], []problem.FieldError) {
	patch, wrong := d.Patch(v)
	return patch, join[T](wrong, alone(patch))
}

// alone are the rules that a patch breaks by itself: those of the fields that it names, on an object that has no others.
func alone[T any](patch strictjson.Patch[T]) []rules.Violation {
	var empty T
	patch.Apply(&empty)
	return slices.DeleteFunc(rules.Check(&empty), func(b rules.Violation) bool { return !patch.Names(b.Field) })
}

// Apply changes an object by a patch. It fails where the object then breaks a rule that it kept before: what was stored
// by other programs stays as it is until somebody puts it right.
func Apply[T any](patch strictjson.Patch[T], item *T) error {
	before := rules.Check(item)
	patch.Apply(item)
	after := slices.DeleteFunc(rules.Check(item), func(b rules.Violation) bool {
		return slices.ContainsFunc(before, func(old rules.Violation) bool {
			return old.Field == b.Field && old.Rule == b.Rule
		})
	})
	return problem.Invalid(join[T](nil, after))
}

// Within puts the paths of wrong fields where they stand in an item: below a member of it.
func Within(member string, wrong []problem.FieldError) []problem.FieldError {
	out := slices.Clone(wrong)
	for i, w := range out {
		if w.Field == "" {
			out[i].Field, out[i].Message = member, strings.Replace(w.Message, "the body", member, 1)
			continue
		}
		out[i].Field = member + "." + w.Field
	}
	return out
}

// WithinError is Within for the problem that an error is, if it is one of fields.
func WithinError(member string, err error) error {
	if p, ok := errors.AsType[*problem.Problem](err); ok && len(p.Errors) > 0 {
		return problem.Invalid(Within(member, p.Errors))
	}
	return err
}

// join lists what could not be read and the rules that the rest breaks. A field is told once: one that could not be read
// is missing, but not since its client has left it out.
func join[T any](wrong []problem.FieldError, broken []rules.Violation) []problem.FieldError {
	out := slices.Clone(wrong)
	for _, b := range broken {
		if slices.ContainsFunc(wrong, func(w problem.FieldError) bool { return hides(w.Field, b.Field) }) {
			continue
		}
		e := problem.FieldError{Field: b.Field, Code: problem.FieldInvalid, Message: b.Message}
		if b.Rule == "oneof" {
			e.Allowed = rules.OneOf[T](b.Field)
		}
		out = append(out, e)
	}
	return out
}

// hides reports whether a value at one path that could not be read makes what is said of another one wrong: it is the
// same, it lies below, or it is an item of the same list, whose places have shifted.
func hides(unread, path string) bool {
	if rest, below := strings.CutPrefix(path, unread); below {
		return rest == "" || unread == "" || rest[0] == '.' || rest[0] == '['
	}
	list, _, _ := strings.Cut(unread, "[")
	return isIndex(unread, list) && isIndex(path, list)
}

// isIndex reports whether a path is that of an item of a list.
func isIndex(path, list string) bool {
	index, inside := strings.CutPrefix(path, list+"[")
	return inside && len(index) > 1 && strings.TrimLeft(index, "0123456789") == "]"
}
