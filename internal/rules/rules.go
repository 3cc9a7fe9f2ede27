// Package rules checks entities against the validation rules that stand on their types.
package rules

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-playground/validator/v10"
)

// Violation is one broken rule of one field.
type Violation struct {
	Field   string // the JSON path, such as "metrics.spend", "tags[3]" or "attributes[colour]"
	Rule    string // the name of the rule, such as "oneof"
	Message string // for people
}

// Check returns the first broken rule of each wrong field of entity, a struct or a pointer to one, in the order of
// the fields; those of a map are in the order of its keys. It panics on anything else, a nil pointer too: that is a
// mistake in the program, and must not pass for a valid entity.
func Check(entity any) []Violation {
	err := engine().Struct(entity)
	if err == nil {
		return nil
	}
	wrong, ok := errors.AsType[validator.ValidationErrors](err)
	if !ok {
		panic(fmt.Sprintf("rules: %v", err))
	}
	out := make([]Violation, 0, len(wrong))
	for _, fe := range wrong {
		out = append(out, Violation{Field: path(fe), Rule: fe.Tag(), Message: message(entity, fe)})
	}
	sortRuns(out)
	return out
}

// engine is made once: the validator caches what it learns of each type.
var engine = sync.OnceValue(func() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(name)
	// A text without NUL (MongoDB takes it, many clients do not) and in valid UTF-8.
	err := v.RegisterValidation("text", func(fl validator.FieldLevel) bool {
		s := fl.Field().String()
		return utf8.ValidString(s) && !strings.ContainsRune(s, 0)
	})
	if err != nil {
		panic(err) // the tag is a literal: only a typing mistake here can fail
	}
	// A name that is part of a stored document: the database gives a dot and a dollar sign in front a meaning.
	err = v.RegisterValidation("attribute_name", func(fl validator.FieldLevel) bool {
		s := fl.Field().String()
		return utf8.ValidString(s) && !strings.ContainsAny(s, ".\x00") && !strings.HasPrefix(s, "$")
	})
	if err != nil {
		panic(err)
	}
	return v
})

// name is how people know a field: as in JSON, or as it is stored where JSON does not show it.
func name(f reflect.StructField) string {
	for _, tag := range []string{"json", "bson"} {
		if n, _, _ := strings.Cut(f.Tag.Get(tag), ","); n != "" && n != "-" {
			return n
		}
	}
	return f.Name
}
