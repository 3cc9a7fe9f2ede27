package querybuilder

import (
	"strings"
	"unicode/utf8"
)

// SearchParameter is the short form that looks for words.
const SearchParameter = "q"

// suffixes are the operators that a parameter's name may end in.
var suffixes = [...]struct {
	name string
	op   Operator
}{
	{".eq", Equal},
	{".ne", NotEqual},
	{".gte", GreaterOrEqual},
	{".gt", Greater},
	{".lte", LessOrEqual},
	{".lt", Less},
}

// ShortNames lists the parameters that Short knows.
func (s Schema) ShortNames() []string {
	var out []string
	if len(s.Search) > 0 {
		out = append(out, SearchParameter)
	}
	for _, f := range s.Fields {
		if f.has(Equal.info()) {
			out = append(out, f.parameter())
		}
		for _, suffix := range suffixes {
			if f.has(suffix.op.info()) {
				out = append(out, f.parameter()+suffix.name)
			}
		}
	}
	return out
}

// Short makes a rule of a parameter: status=active,paused is any of them (a backslash escapes a comma), created_at.gte
// and the like compare, and each word of q is contained in one of the fields that are searched. It is the rule that a
// document would have; mistakes are reported by Check under the name of the parameter. The error is an Errors that
// says that there is no such parameter.
func (s Schema) Short(name, content string) (Rule, error) {
	at := &place{name: name}
	n := &node{at: at}
	switch {
	case !utf8.ValidString(content):
		n.fault("", CodeValueInvalid, name+" is not UTF-8")
	case strings.ContainsRune(content, 0):
		n.fault("", CodeValueInvalid, name+" holds the character NUL")
	}
	if len(n.faults) > 0 {
		n.group = true
		return Rule{root: n}, nil
	}
	if name == SearchParameter && len(s.Search) > 0 {
		return Rule{root: s.words(at, content)}, nil
	}
	f, op, found := s.parameter(name)
	if !found {
		known := s.ShortNames()
		return Rule{}, Errors{{
			Path: name, Code: CodeFieldUnknown, Allowed: known,
			Message: "there is no parameter " + quote(name) + nearest(name, known),
		}}
	}
	n.field, n.op, n.value = f.Name, op, value{kind: text, text: content}
	readText(n, true)
	return Rule{root: n}, nil
}

// parameter finds the field and operator that a name stands for.
func (s Schema) parameter(name string) (Field, Operator, bool) {
	for _, f := range s.Fields {
		rest, ok := strings.CutPrefix(name, f.parameter())
		if !ok {
			continue
		}
		if rest == "" && f.has(In.info()) {
			return f, In, true
		}
		if rest == "" && f.has(Equal.info()) {
			return f, Equal, true
		}
		for _, suffix := range suffixes {
			if rest == suffix.name && f.has(suffix.op.info()) {
				return f, suffix.op, true
			}
		}
	}
	return Field{}, 0, false
}

// words asks that each word is contained in one of the fields.
func (s Schema) words(at *place, content string) *node {
	all := &node{at: at, group: true}
	words := strings.Fields(content)
	if fault := checkLength(content, MaxText); fault != nil {
		all.fault("", fault.Code, fault.Message)
		return all
	}
	if len(words) == 0 {
		all.fault("", CodeValueInvalid, "it has no word to look for")
	}
	for _, word := range words {
		anywhere := &node{at: at, group: true, or: true}
		for _, name := range s.Search {
			anywhere.rules = append(anywhere.rules, &node{
				at: at, field: name, op: Contains, value: value{kind: text, text: word},
			})
		}
		all.rules = append(all.rules, anywhere)
	}
	return all
}
