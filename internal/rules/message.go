package rules

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/go-playground/validator/v10"
)

// maxPath bounds a path in bytes: the keys of a map, which are part of it, come from outside.
const maxPath = 300

// path drops the type's name that the validator puts in front.
func path(fe validator.FieldError) string {
	_, p, _ := strings.Cut(fe.Namespace(), ".")
	if len(p) > maxPath {
		p = strings.ToValidUTF8(p[:maxPath], "") + "…"
	}
	return p
}

func message(entity any, fe validator.FieldError) string {
	p := path(fe)
	if isKey(entity, fe) {
		p = "the name of " + p
	}
	switch fe.Tag() {
	case "required":
		return p + " is required"
	case "required_with":
		return p + " is required together with " + sibling(entity, fe)
	case "oneof":
		return p + " must be one of " + strings.ReplaceAll(fe.Param(), " ", ", ")
	case "min", "gte":
		return p + " must be at least " + fe.Param() + unit(fe)
	case "max", "lte":
		return p + " must be at most " + fe.Param() + unit(fe)
	case "text":
		return p + " must be UTF-8 text without NUL"
	case "attribute_name":
		return p + " must be UTF-8 text without dots, NUL, and a dollar sign in front"
	case "http_url":
		return p + " must be an http or https URL"
	case "iso4217":
		return p + " must be a currency code of ISO 4217 in capitals, such as EUR"
	default:
		return p + " breaks the rule " + strings.TrimSuffix(fe.Tag()+"="+fe.Param(), "=")
	}
}

// unit tells characters and items from plain amounts.
func unit(fe validator.FieldError) string {
	var unit string
	switch fe.Kind() {
	case reflect.String:
		unit = " character"
	case reflect.Slice, reflect.Map:
		unit = " item"
	default:
		return ""
	}
	if fe.Param() != "1" {
		unit += "s"
	}
	return unit
}

// isKey reports whether a rule of a map's keys is broken. The validator gives a key and its value one path.
func isKey(entity any, fe validator.FieldError) bool {
	_, field, _ := declaration(entity, fe)
	if field.Type == nil || field.Type.Kind() != reflect.Map {
		return false
	}
	key, ok := fe.Value().(string)
	return ok && strings.HasSuffix(fe.StructNamespace(), field.Name+"["+key+"]")
}

// sibling is the path of the field beside fe's that the rule names by its name in Go.
func sibling(entity any, fe validator.FieldError) string {
	parent, _, ok := declaration(entity, fe)
	if !ok {
		return fe.Param()
	}
	other, ok := parent.FieldByName(fe.Param())
	if !ok {
		return fe.Param()
	}
	p := path(fe)
	return p[:strings.LastIndex(p, ".")+1] + name(other)
}

// declaration finds where fe's field, or the map or slice that it is in, is declared.
func declaration(entity any, fe validator.FieldError) (parent reflect.Type, field reflect.StructField, ok bool) {
	path, _, _ := strings.Cut(fe.StructNamespace(), "[")
	field.Type = reflect.TypeOf(entity)
	for _, step := range strings.Split(path, ".")[1:] {
		parent = field.Type
		if parent.Kind() == reflect.Pointer {
			parent = parent.Elem()
		}
		if parent.Kind() != reflect.Struct {
			return nil, reflect.StructField{}, false
		}
		if field, ok = parent.FieldByName(step); !ok {
			return nil, reflect.StructField{}, false
		}
	}
	return parent, field, ok
}

// sortRuns puts the violations of one map in the order of its keys: the validator takes them as Go does, in another
// order each time.
func sortRuns(all []Violation) {
	base := func(v Violation) string {
		before, _, _ := strings.Cut(v.Field, "[")
		return before
	}
	for start := 0; start < len(all); {
		end := start + 1
		for end < len(all) && base(all[end]) == base(all[start]) {
			end++
		}
		slices.SortStableFunc(all[start:end], func(a, b Violation) int {
			// Numbers by their size, which is the order that the items of a list have already.
			x, y := index(a.Field), index(b.Field)
			return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y), cmp.Compare(a.Field, b.Field))
		})
		start = end
	}
}

// index is the number in the brackets of a path, empty where something else stands there.
func index(path string) string {
	_, rest, _ := strings.Cut(path, "[")
	digits, _, _ := strings.Cut(rest, "]")
	if strings.Trim(digits, "0123456789") != "" {
		return ""
	}
	return digits
}
