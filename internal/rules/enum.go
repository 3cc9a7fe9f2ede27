package rules

import (
	"reflect"
	"strings"
)

// OneOf returns the values that a type's rules allow for the field with the JSON name, nil where they allow any.
func OneOf[T any](name string) []string {
	t := reflect.TypeFor[T]()
	for i := range t.NumField() {
		f := t.Field(i)
		if jsonName, _, _ := strings.Cut(f.Tag.Get("json"), ","); jsonName != name {
			continue
		}
		for rule := range strings.SplitSeq(f.Tag.Get("validate"), ",") {
			if values, ok := strings.CutPrefix(rule, "oneof="); ok {
				return strings.Fields(values)
			}
		}
	}
	return nil
}
