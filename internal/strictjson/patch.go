package strictjson

import (
	"reflect"
	"strings"
)

// Patch is a merge patch that fits T. The zero Patch changes nothing.
type Patch[T any] struct {
	value  Value
	change change // nil in the zero Patch
}

// Apply changes target in place: null removes, objects and maps are merged, all else is replaced. A parent, list or map
// that has nothing in it is absent afterwards. What target points to is replaced and never written to, so copies of it
// stay as they are.
func (p Patch[T]) Apply(target *T) {
	if p.change != nil {
		p.change(reflect.ValueOf(target).Elem())
	}
}

// Names reports whether the patch gives the field at a JSON path, such as "metrics.spend", "tags[3]" or
// "attributes[colour]", a value or removes it, or something that it is a part of, or some part of it.
func (p Patch[T]) Names(path string) bool {
	v := p.value
	for path != "" {
		if v.kind != object {
			return v.kind != absent // it is replaced as a whole
		}
		if key, ok := strings.CutPrefix(path, "["); ok {
			return v.hasEntry(key)
		}
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			end = len(path)
		}
		inner, ok := v.Member(path[:end])
		if !ok {
			return false
		}
		v, path = inner, strings.TrimPrefix(path[end:], ".")
	}
	return v.kind != absent
}

// Removes are the fields and entries of maps that the patch takes away: those that it makes null, and lists that it
// empties. Each is the names on the way there, such as {"tags"} or {"metrics", "spend"}; the patch is read two names deep.
func (p Patch[T]) Removes() [][]string {
	var out [][]string
	for _, name := range p.value.Names() {
		v, _ := p.value.Member(name)
		if v.removes() {
			out = append(out, []string{name})
		}
		for _, inner := range v.Names() {
			if w, _ := v.Member(inner); w.removes() {
				out = append(out, []string{name, inner})
			}
		}
	}
	return out
}

// removes reports whether a field that gets the value is absent then.
func (v Value) removes() bool {
	items, isList := v.Items()
	return v.IsNull() || isList && len(items) == 0
}

// hasEntry looks for a map's key as it stands in a path, behind the opening bracket. A long one is cut there.
func (v Value) hasEntry(key string) bool {
	if whole, ok := strings.CutSuffix(key, "]"); ok {
		_, has := v.Member(whole)
		return has
	}
	start := strings.TrimSuffix(key, "…")
	for _, name := range v.inside.names {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	return false
}
