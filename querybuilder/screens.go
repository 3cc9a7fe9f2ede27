package querybuilder

// ReactField is an item of the fields that react-querybuilder takes.
type ReactField struct {
	Name            string          `json:"name"`
	Label           string          `json:"label"`
	InputType       string          `json:"inputType,omitempty"`
	ValueEditorType string          `json:"valueEditorType"`
	Values          []Option        `json:"values,omitempty"`
	Operators       []ReactOperator `json:"operators"`
	ValueSources    []string        `json:"valueSources"`
	Indexed         bool            `json:"indexed"`
}

// Option is something to choose.
type Option struct {
	Name  string `json:"name"`
	Label string `json:"label"`
}

// ReactOperator is an operator of a field. Arity "unary" hides the editor of values.
type ReactOperator struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	Arity string `json:"arity,omitempty"`
}

// JQueryFilter is an item of the filters that jQuery QueryBuilder takes.
type JQueryFilter struct {
	ID             string              `json:"id"`
	Field          string              `json:"field"`
	Label          string              `json:"label"`
	Type           string              `json:"type"`
	Input          string              `json:"input"`
	Values         []map[string]string `json:"values,omitempty"`   // one entry each, in order
	Multiple       bool                `json:"multiple,omitempty"` // a select gives a list, also for in and not_in
	ValueSeparator string              `json:"value_separator,omitempty"`
	Operators      []string            `json:"operators"`
	Indexed        bool                `json:"indexed"`
}

// ReactFields describes the schema to react-querybuilder. indexed tells whether an index serves a field.
func (s Schema) ReactFields(indexed func(field string) bool) []ReactField {
	out := make([]ReactField, 0, len(s.Fields))
	for _, f := range s.Fields {
		r := ReactField{
			Name: f.Name, Label: f.label(), InputType: "text", ValueEditorType: "text",
			ValueSources: []string{"value"}, Indexed: indexed(f.Name),
		}
		switch f.Kind {
		case Enum:
			r.InputType, r.ValueEditorType = "", "select"
		case Number:
			r.InputType = "number"
		case Date:
			r.InputType = "date"
		case Bool:
			r.InputType, r.ValueEditorType = "", "checkbox"
		default:
		}
		for _, v := range f.Values {
			r.Values = append(r.Values, Option{Name: v, Label: v})
		}
		if oneType(f.Kind, f.Kind) {
			r.ValueSources = append(r.ValueSources, "field")
		}
		for _, o := range &operators {
			if f.has(o) && o.react != "" {
				r.Operators = append(r.Operators, reactOperator(o))
			}
		}
		out = append(out, r)
	}
	return out
}

func reactOperator(o operator) ReactOperator {
	out := ReactOperator{Name: o.react, Label: o.label}
	if o.takes == takesNothing {
		out.Arity = "unary"
	}
	return out
}

// JQueryFilters describes the schema to jQuery QueryBuilder. indexed tells whether an index serves a field.
func (s Schema) JQueryFilters(indexed func(field string) bool) []JQueryFilter {
	out := make([]JQueryFilter, 0, len(s.Fields))
	for _, f := range s.Fields {
		q := JQueryFilter{
			ID: f.Name, Field: f.Name, Label: f.label(), Type: "string", Input: "text",
			Operators: f.operators(jqueryName), Indexed: indexed(f.Name),
		}
		switch f.Kind {
		case Enum:
			q.Input, q.Multiple = "select", true
		case Number:
			q.Type, q.Input = "double", "number"
			if f.Integer {
				q.Type = "integer"
			}
		case Date:
			q.Type = "date"
		case Bool:
			q.Type, q.Input = "boolean", "radio"
			q.Values = []map[string]string{{"true": "true"}, {"false": "false"}}
		default:
		}
		for _, v := range f.Values {
			q.Values = append(q.Values, map[string]string{v: v})
		}
		if q.Input == "text" || q.Input == "number" {
			q.ValueSeparator = "," // the component makes arrays of its lists then
		}
		out = append(out, q)
	}
	return out
}

// operators names the operators that the field has.
func (f Field) operators(column func(operator) string) []string {
	var out []string
	for _, o := range &operators {
		if f.has(o) && column(o) != "" {
			out = append(out, column(o))
		}
	}
	return out
}
