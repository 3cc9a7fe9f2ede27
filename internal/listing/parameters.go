package listing

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"catalogue/internal/problem"
	"catalogue/querybuilder"
)

// maxUnknown is how many unknown parameters are named.
const maxUnknown = 20

// The parameters of every list, and those of lists that can be filtered.
const (
	paramSort   = "sort"
	paramLimit  = "limit"
	paramCursor = "cursor"
	paramZone   = "tz"
	paramFilter = "filter"
)

// question is what a client asks for, not yet understood: texts by the names of parameters.
type question struct {
	texts map[string]string
	short []string // the names of the short filters among them, sorted
	wrong []problem.FieldError
}

// vocabulary is what the parameters of a list may be called.
type vocabulary struct {
	plain []string // in the order in which their mistakes are reported
	short []string // the short forms of filters
}

func newVocabulary(fields querybuilder.Schema) vocabulary {
	v := vocabulary{plain: []string{paramSort, paramLimit, paramCursor}}
	if len(fields.Fields) > 0 {
		v.plain = append(v.plain, paramZone, paramFilter)
		v.short = fields.ShortNames()
	}
	return v
}

// fromQuery takes the parameters of a URL. Each is there once and not empty; others than those of the list are mistakes.
func (v vocabulary) fromQuery(query url.Values) question {
	q := question{texts: map[string]string{}}
	names := make([]string, 0, len(query))
	for name := range query {
		names = append(names, name)
	}
	slices.SortFunc(names, v.compare)
	unknown := 0
	for _, name := range names {
		values, short := query[name], slices.Contains(v.short, name)
		switch {
		case !short && !slices.Contains(v.plain, name):
			if unknown++; unknown <= maxUnknown {
				q.wrong = append(q.wrong, v.unknown(name))
			}
		case len(values) > 1:
			q.wrong = append(q.wrong, problem.FieldError{
				Field: name, Code: problem.ParameterRepeated,
				Message: fmt.Sprintf("%s is given %d times; give it once.", name, len(values)),
			})
		case values[0] == "":
			q.wrong = append(q.wrong, problem.FieldError{
				Field: name, Code: problem.ParameterEmpty, Message: name + " is empty; leave it out or give it a value.",
			})
		default:
			q.texts[name] = values[0]
			if short {
				q.short = append(q.short, name)
			}
		}
	}
	return q
}

// compare puts names into the order of the documentation: plain ones first, then short ones, then what is unknown.
func (v vocabulary) compare(a, b string) int {
	if c := v.rank(a) - v.rank(b); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

func (v vocabulary) rank(name string) int {
	if i := slices.Index(v.plain, name); i >= 0 {
		return i
	}
	if slices.Contains(v.short, name) {
		return len(v.plain)
	}
	return len(v.plain) + 1
}

// unknown names the nearest known name where there is one, else all plain ones.
func (v vocabulary) unknown(name string) problem.FieldError {
	known := slices.Concat(v.plain, v.short)
	e := problem.FieldError{Field: problem.Short(name), Code: problem.ParameterUnknown, Allowed: v.plain}
	hint := "this list has " + strings.Join(v.plain, ", ")
	if len(v.plain) == 0 {
		hint = "those of a search stand in its body"
	}
	if near := querybuilder.Nearest(name, known); len(near) > 0 {
		e.Allowed, hint = near, "did you mean "+strings.Join(near, " or ")+"?"
	}
	e.Message = fmt.Sprintf("There is no parameter %q; %s", problem.Short(name), hint)
	return e
}
