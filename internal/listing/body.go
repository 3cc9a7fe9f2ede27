package listing

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"catalogue/internal/jsonnumber"
	"catalogue/internal/problem"
)

// maxBody is the longest body of a search, in bytes.
const maxBody = 64 << 10

// fromBody takes the members of a search's body, the same as the plain parameters of a URL. A member that is null is
// absent. A body that is no JSON text or too long is an error; what is wrong in it is noted.
func (v vocabulary) fromBody(w http.ResponseWriter, body io.ReadCloser) (question, error) {
	data, err := io.ReadAll(http.MaxBytesReader(w, body, maxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return question{}, problem.New(problem.BodyTooLarge, "The body is longer than %d bytes.", maxBody)
	}
	if err != nil {
		return question{}, problem.New(problem.BodyMalformed, "The body could not be read to its end.")
	}
	if !utf8.Valid(data) || !json.Valid(data) {
		return question{}, problem.New(problem.BodyMalformed, "The body is not one JSON value in UTF-8.")
	}
	if first := bytes.TrimLeft(data, " \t\r\n"); first[0] != '{' {
		return question{}, problem.Invalid([]problem.FieldError{{
			Field: "", Code: problem.BodyMemberInvalid, Message: "The body must be an object with " + strings.Join(v.plain, ", ") + ".",
		}})
	}
	return v.members(data), nil
}

// members reads an object that is known to be JSON. Names are exact: encoding/json alone would take them in any case,
// and the last of two.
func (v vocabulary) members(object []byte) question {
	q := question{texts: map[string]string{}}
	dec := json.NewDecoder(bytes.NewReader(object))
	dec.UseNumber()
	_, _ = dec.Token() // the brace
	seen := map[string]bool{}
	for dec.More() {
		token, _ := dec.Token() // the text is valid, so errors cannot happen
		name, _ := token.(string)
		var raw json.RawMessage
		_ = dec.Decode(&raw)
		if e := v.member(name, raw, seen, &q); e != nil && len(q.wrong) < maxUnknown {
			q.wrong = append(q.wrong, *e)
		}
	}
	slices.SortStableFunc(q.wrong, func(a, b problem.FieldError) int { return v.rank(a.Field) - v.rank(b.Field) })
	return q
}

func (v vocabulary) member(name string, raw json.RawMessage, seen map[string]bool, q *question) *problem.FieldError {
	if !slices.Contains(v.plain, name) {
		e := vocabulary{plain: v.plain}.unknown(name) // short forms are for URLs
		return &e
	}
	if seen[name] {
		return &problem.FieldError{Field: name, Code: problem.ParameterRepeated, Message: name + " is there twice; give it once."}
	}
	seen[name] = true
	if string(raw) == "null" {
		return nil
	}
	text, expected := "", "a text"
	var ok bool
	switch name {
	case paramFilter:
		text, ok = string(raw), true
	case paramLimit:
		if raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9' {
			text, ok = jsonnumber.Whole(string(raw)) // 5, 5.0 and 5e0 are one
		}
		expected = "a whole number"
	default:
		ok = json.Unmarshal(raw, &text) == nil
	}
	switch {
	case !ok:
		return &problem.FieldError{Field: name, Code: problem.BodyMemberInvalid, Message: fmt.Sprintf("%s must be %s.", name, expected)}
	case text == "":
		return &problem.FieldError{Field: name, Code: problem.ParameterEmpty, Message: name + " is empty; leave it out or give it a value."}
	}
	q.texts[name] = text
	return nil
}
