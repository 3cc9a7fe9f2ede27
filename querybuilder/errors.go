package querybuilder

import (
	"fmt"
	"strconv"
	"strings"
)

// Code names a kind of mistake for programs. Codes never change their meaning.
type Code string

// The codes.
const (
	CodeJSON                Code = "rule_json_malformed" // the document is not one JSON value in UTF-8
	CodeMalformed           Code = "rule_malformed"      // JSON, but no rule or group of the format
	CodeTooDeep             Code = "rule_too_deep"
	CodeLimit               Code = "rule_limit"
	CodeFieldUnknown        Code = "rule_field_unknown"
	CodeOperatorUnknown     Code = "rule_operator_unknown"
	CodeOperatorUnsupported Code = "rule_operator_unsupported" // the field's kind does not have it
	CodeValueInvalid        Code = "rule_value_invalid"
)

// Fault is one mistake and where it is.
type Fault struct {
	Path    string // such as rules[1].rules[0].value; empty for the document; the name of a short parameter
	Code    Code
	Message string   // for people
	Allowed []string // what would have been right, where that is a short list
}

// Errors are all mistakes of a document, in its order. There is at least one.
type Errors []Fault

func (e Errors) Error() string {
	lines := make([]string, 0, len(e))
	for _, f := range e {
		lines = append(lines, strings.TrimPrefix(f.Path+": ", ": ")+f.Message)
	}
	return strings.Join(lines, "; ")
}

// shown is how many characters of a text from outside a message repeats.
const shown = 60

func short(s string) string { return fmt.Sprintf("%.*s", shown, s) }

func quote(s string) string { return strconv.Quote(short(s)) }
