package strictjson

import "catalogue/internal/problem"

// Parse is Read for tests that look at all that is wrong with a text without a type.
func Parse(data []byte) (Value, error) {
	v, err := Read(data)
	if err != nil {
		return Value{}, err
	}
	var f faults
	f.inside(v, "")
	return v, problem.Invalid(f.list)
}

// inside tells of wrong names and texts anywhere in a value.
func (f *faults) inside(v Value, path string) {
	f.text(v, path)
	if v.inside == nil || f.full() {
		return
	}
	f.names(v, path, member)
	for i, inner := range v.inside.values {
		if v.kind == object {
			f.inside(inner, member(path, v.inside.names[i]))
		} else {
			f.inside(inner, item(path, i))
		}
	}
}
