// Package rules checks entities against the validation rules that stand on their types.
package rules

import (
	"errors"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-playground/validator/v10"
)

// Violation is one broken rule of one field.
type Violation struct {
	Field   string // the JSON path, such as "metrics.spend"
	Rule    string // the name of the rule, such as "oneof"
	Message string // for people
}

// Check returns every broken rule of entity, a struct or a pointer to one, in the order of its fields.
func Check(entity any) []Violation {
	err := engine().Struct(entity)
	wrong, ok := errors.AsType[validator.ValidationErrors](err)
	if !ok {
		return nil
	}
	out := make([]Violation, 0, len(wrong))
	for _, fe := range wrong {
		out = append(out, Violation{Field: path(fe), Rule: fe.Tag(), Message: message(fe)})
	}
	return out
}

// engine is made once: the validator caches what it learns of each type.
var engine = sync.OnceValue(func() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(func(f reflect.StructField) string {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		return name
	})
	// A text without NUL (MongoDB takes it, many clients do not) and in valid UTF-8.
	err := v.RegisterValidation("text", func(fl validator.FieldLevel) bool {
		s := fl.Field().String()
		return utf8.ValidString(s) && !strings.ContainsRune(s, 0)
	})
	if err != nil {
		panic(err) // the tag is a literal: only a typing mistake here can fail
	}
	return v
})

// path drops the type's name that the validator puts in front.
func path(fe validator.FieldError) string {
	_, p, _ := strings.Cut(fe.Namespace(), ".")
	return p
}

func message(fe validator.FieldError) string {
	p := path(fe)
	switch fe.Tag() {
	case "required":
		return p + " is required"
	case "oneof":
		return p + " must be one of " + strings.ReplaceAll(fe.Param(), " ", ", ")
	case "min", "gte":
		return p + " must be at least " + fe.Param() + unit(fe)
	case "max", "lte":
		return p + " must be at most " + fe.Param() + unit(fe)
	case "text":
		return p + " must be UTF-8 text without NUL"
	case "url", "http_url":
		return p + " must be an http or https URL"
	default:
		return p + " breaks the rule " + fe.Tag()
	}
}

// unit tells characters and items from plain amounts.
func unit(fe validator.FieldError) string {
	switch fe.Kind() {
	case reflect.String:
		return " characters"
	case reflect.Slice, reflect.Map:
		return " items"
	default:
		return ""
	}
}
