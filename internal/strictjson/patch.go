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
