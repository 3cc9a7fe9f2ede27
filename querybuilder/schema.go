package querybuilder

import "slices"

// Kind is the type that a field is declared to have: values of rules are converted to it. Kinds are bits, so that a
// set of them is one value.
type Kind uint8

// The kinds of fields.
const (
	String Kind = 1 << iota
	Enum
	Number
	Date
	Bool
	ID         // an ObjectID, outside 24 hexadecimal digits
	StringList // operators ask whether one of the items matches, negated ones whether none does
)

// Field is a field that a list may be filtered by.
type Field struct {
	Name   string   // as it is stored, which is the name outside too
	Label  string   // for people
	Kind   Kind     //
	Values []string // of an Enum
	// Operators are those that the field has, where they are fewer than its kind has.
	Operators []Operator
	// Short names the field as a parameter; the name itself where empty.
	Short string
	// Integer tells a screen to offer whole numbers. Comparing with others stays possible.
	Integer bool
	// FoldCase makes contains, begins with and ends with ignore the case of letters. Equality stays exact.
	FoldCase bool
	// NegationSkipsNull keeps null and missing out of what negated operators match.
	NegationSkipsNull bool
}

// Schema is what a list may be filtered by.
type Schema struct {
	Fields []Field
	// Search are the fields that the short form q looks for words in.
	Search []string
}

// Field finds a field by its name.
func (s Schema) Field(name string) (Field, bool) {
	i := slices.IndexFunc(s.Fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return Field{}, false
	}
	return s.Fields[i], true
}

// Names lists the fields.
func (s Schema) Names() []string {
	out := make([]string, 0, len(s.Fields))
	for _, f := range s.Fields {
		out = append(out, f.Name)
	}
	return out
}

// has reports whether the field has the operator.
func (f Field) has(o operator) bool {
	return o.kinds&f.Kind != 0 && (f.Operators == nil || slices.Contains(f.Operators, o.op))
}

// label is the field's label, or its name.
func (f Field) label() string {
	if f.Label == "" {
		return f.Name
	}
	return f.Label
}

// parameter is the field's name as a short parameter.
func (f Field) parameter() string {
	if f.Short == "" {
		return f.Name
	}
	return f.Short
}
