package querybuilder

import (
	"slices"
	"strconv"
	"unicode/utf8"
)

// Decode reads a rule document in either format. It stops at the first limit, and at the first place that is no JSON;
// its error is an Errors of one then. Mistakes of shape that leave the rest readable stay in the rule: Check reports
// them with all others.
func Decode(raw []byte) (Rule, error) {
	if len(raw) > MaxBytes {
		return Rule{}, Errors{{
			Code: CodeLimit, Message: "the rule document is longer than " + strconv.Itoa(MaxBytes) + " bytes",
		}}
	}
	if !utf8.Valid(raw) {
		return Rule{}, Errors{{Code: CodeJSON, Message: "the rule document is not UTF-8"}}
	}
	d := decoder{scanner: scanner{text: string(raw)}}
	root, fault := d.document()
	if fault != nil {
		return Rule{}, Errors{*fault}
	}
	if d.jquery {
		return Rule{root: jqueryNode(root)}, nil
	}
	return Rule{root: reactNode(root, root.isGroup() && root.combinator.kind == missing)}, nil
}

// raw is an object of the document, or what stands in its place, with the members that mean something in either
// format.
type raw struct {
	place
	word value // where there is no object: a combinator between rules, or a mistake

	object   bool
	rules    []*raw
	hasRules valueKind // list where rules is an array

	combinator, condition   value
	not, muted, valid       value
	field, operator, source value
	value                   value
}

// isGroup reports whether the object is a group: one with an array of rules.
func (r *raw) isGroup() bool { return r.hasRules == list }

type decoder struct {
	scanner
	rules   int
	entries int
	jquery  bool // some group has a condition
}

func (d *decoder) document() (*raw, *Fault) {
	root := &raw{}
	if fault := d.element(root, 1); fault != nil {
		return nil, fault
	}
	if d.peek(); d.pos < len(d.text) {
		return nil, malformed("something follows the rule document at byte " + strconv.Itoa(d.pos+1))
	}
	return root, nil
}

// element reads the document, or an item of an array of rules, into r.
func (d *decoder) element(r *raw, depth int) *Fault {
	if d.peek() == '{' {
		r.object = true
		return d.object(r, depth)
	}
	var fault *Fault
	r.word, fault = d.value(MaxText)
	return at(fault, &r.place, "")
}

func (d *decoder) object(r *raw, depth int) *Fault {
	d.pos++
	var seen memberNames
	for first := true; ; first = false {
		more, fault := d.more('}', first)
		if fault != nil {
			return at(fault, &r.place, "")
		}
		if !more {
			break
		}
		key, fault := d.key()
		if fault == nil {
			fault = seen.add(key)
		}
		if fault != nil {
			return at(fault, &r.place, "")
		}
		if fault := d.member(r, key, depth); fault != nil {
			return at(fault, &r.place, key)
		}
	}
	switch {
	case r.isGroup():
		d.jquery = d.jquery || r.condition.kind != missing
		return nil
	case d.rules == MaxRules:
		return &Fault{
			Path: r.path(""), Code: CodeLimit,
			Message: "there are more than " + strconv.Itoa(MaxRules) + " rules",
		}
	}
	d.rules++
	return nil
}

// member reads the value of a member, each of which may come in any order.
func (d *decoder) member(r *raw, key string, depth int) *Fault {
	if key == "rules" && d.peek() == '[' {
		r.hasRules = list
		return d.group(r, depth)
	}
	most := MaxText
	var into *value
	switch key {
	case "combinator":
		into = &r.combinator
	case "condition":
		into = &r.condition
	case "not":
		into = &r.not
	case "muted":
		into = &r.muted
	case "valid":
		into = &r.valid
	case "field":
		into = &r.field
	case "operator":
		into = &r.operator
	case "valueSource":
		into = &r.source
	case "value":
		into = &r.value
		most = MaxBytes // may be a list in one text: its items are measured when the operator is known
	default:
		return d.skip(maxExtra)
	}
	v, fault := d.value(most)
	*into = v
	return fault
}

// group reads an array of rules.
func (d *decoder) group(r *raw, depth int) *Fault {
	if depth > MaxDepth {
		return &Fault{
			Path: r.path(""), Code: CodeTooDeep,
			Message: "the groups nest deeper than " + strconv.Itoa(MaxDepth) + " levels",
		}
	}
	d.pos++
	for first := true; ; first = false {
		more, fault := d.more(']', first)
		if fault != nil || !more {
			return fault
		}
		if d.entries++; d.entries > maxEntries {
			return &Fault{
				Path: r.path("rules"), Code: CodeLimit,
				Message: "there are more than " + strconv.Itoa(maxEntries) + " groups, rules and combinators",
			}
		}
		child := &raw{place: place{parent: &r.place, index: len(r.rules)}}
		if fault := d.element(child, depth+1); fault != nil {
			return fault
		}
		r.rules = append(r.rules, child)
	}
}

// value reads any value; texts have at most so many characters. What nests is read over.
func (d *decoder) value(most int) (value, *Fault) {
	switch d.peek() {
	case '"':
		s, fault := d.string(most)
		return value{kind: text, text: s}, fault
	case '[':
		return d.list()
	case '{':
		return value{kind: nested}, d.skip(maxExtra)
	default:
		return d.literal()
	}
}

func (d *decoder) list() (value, *Fault) {
	d.pos++
	out := value{kind: list}
	for first := true; ; first = false {
		more, fault := d.more(']', first)
		if fault != nil || !more {
			return out, fault
		}
		if len(out.items) == MaxListItems {
			return out, tooManyItems()
		}
		item := value{kind: nested}
		if b := d.peek(); b == '[' || b == '{' {
			fault = d.skip(maxExtra)
		} else {
			item, fault = d.value(MaxText)
		}
		if fault != nil {
			return out, fault
		}
		out.items = append(out.items, item)
	}
}

func tooManyItems() *Fault {
	return &Fault{Code: CodeLimit, Message: "a list has more than " + strconv.Itoa(MaxListItems) + " items"}
}

// skip reads over a value that nests at most so deep.
func (d *decoder) skip(levels int) *Fault {
	b := d.peek()
	if b != '{' && b != '[' {
		_, fault := d.value(MaxText)
		return fault
	}
	if levels == 0 {
		return &Fault{Code: CodeTooDeep, Message: "a value nests deeper than " + strconv.Itoa(maxExtra) + " levels"}
	}
	d.pos++
	closing := b + 2 // } and ] stand two behind { and [
	var seen memberNames
	for first := true; ; first = false {
		more, fault := d.more(closing, first)
		if fault != nil || !more {
			return fault
		}
		if b == '{' {
			key, fault := d.key()
			if fault == nil {
				fault = seen.add(key)
			}
			if fault != nil {
				return fault
			}
		}
		if fault := d.skip(levels - 1); fault != nil {
			return fault
		}
	}
}

// at gives a mistake its place, unless it has one.
func at(fault *Fault, p *place, key string) *Fault {
	if fault != nil && fault.Path == "" && fault.Code != CodeJSON {
		fault.Path = p.path(key)
	}
	return fault
}

// memberNames are those of one object, to find a double one. A hostile object has thousands.
type memberNames struct {
	few  []string
	many map[string]struct{}
}

const fewNames = 16

func (n *memberNames) add(name string) *Fault {
	_, double := n.many[name]
	if double || slices.Contains(n.few, name) {
		return &Fault{Code: CodeMalformed, Message: "the name " + quote(name) + " stands twice in one object"}
	}
	if len(n.few) < fewNames {
		n.few = append(n.few, name)
		return nil
	}
	if n.many == nil {
		n.many = map[string]struct{}{}
	}
	n.many[name] = struct{}{}
	return nil
}
