package querybuilder

import (
	"slices"
	"strconv"
	"time"
)

// maxFaults bounds what is reported: more than rules can have. Empty groups are many more than that.
const maxFaults = 2 * MaxRules

// Check makes a filter of a rule: every field, operator and value is one that the schema has. Dates without a time
// are days in the zone, and so are the operators that name days. The error is an Errors with all that is wrong.
func (s Schema) Check(r Rule, zone *time.Location) (Filter, error) {
	if r.root == nil {
		return Filter{}, nil
	}
	if leaves(r.root) > MaxRules { // of a document and the short forms beside it together
		return Filter{}, Errors{{Code: CodeLimit, Message: "there are more than " + strconv.Itoa(MaxRules) + " rules"}}
	}
	c := checker{schema: s, zone: zone}
	root := c.node(r.root)
	if len(c.wrong) > 0 {
		return Filter{}, c.wrong[:min(len(c.wrong), maxFaults)]
	}
	if r.root.out {
		return Filter{}, nil
	}
	return Filter{root: root}, nil
}

// Parse is Decode and Check.
func (s Schema) Parse(raw []byte, zone *time.Location) (Filter, error) {
	r, err := Decode(raw)
	if err != nil {
		return Filter{}, err
	}
	return s.Check(r, zone)
}

func leaves(n *node) int {
	if !n.group {
		return 1
	}
	sum := 0
	for _, child := range n.rules {
		sum += leaves(child)
	}
	return sum
}

type checker struct {
	schema Schema
	zone   *time.Location
	wrong  Errors
}

func (c *checker) fault(n *node, key string, code Code, message string, allowed ...string) {
	c.wrong = append(c.wrong, Fault{Path: n.at.path(key), Code: code, Message: message, Allowed: allowed})
}

// node checks a rule or group. What it returns for a wrong one does not matter.
func (c *checker) node(n *node) term {
	c.wrong = append(c.wrong, n.faults...)
	if !n.group {
		return c.rule(n)
	}
	var terms []term
	for _, child := range n.rules {
		t := c.node(child)
		if !child.out {
			terms = append(terms, t)
		}
	}
	out := allOf(terms)
	if n.or && len(terms) > 0 { // an empty group matches everything, whatever its combinator
		out = anyOf(terms)
	}
	if n.not {
		out = not(out)
	}
	return out
}

func (c *checker) rule(n *node) term {
	if n.out {
		return term{}
	}
	f, ok := c.schema.Field(n.field)
	if !ok {
		names := c.schema.Names()
		c.fault(n, "field", CodeFieldUnknown, "there is no field "+quote(n.field)+nearest(n.field, names), names...)
		return term{}
	}
	if n.op == 0 || len(n.faults) > 0 {
		return term{}
	}
	o := n.op.info()
	if !f.has(o) {
		c.fault(n, "operator", CodeOperatorUnsupported, f.Name+" does not have this operator", f.operators(reactName)...)
		return term{}
	}
	if n.fieldValue {
		return c.fields(n, f, o)
	}
	return c.values(n, f, o)
}

// values reads the value of a rule as its operator wants it.
func (c *checker) values(n *node, f Field, o operator) term {
	switch o.takes {
	case takesNothing:
		if o.op.relative() {
			return leafOf(relative{field: f.Name, op: o.op, zone: c.zone})
		}
		return lowerNothing(f, o.op)
	case takesDays:
		days, err := readDays(n.value)
		if err != nil {
			c.fault(n, "value", CodeValueInvalid, "the value "+err.Error())
			return term{}
		}
		return leafOf(relative{field: f.Name, op: o.op, days: days})
	case takesOne:
		v, ok := c.read(n, f, n.value, "the value")
		if !ok {
			return term{}
		}
		return lowerOne(f, o.op, v)
	default:
		items, ok := c.items(n, f, o)
		if !ok {
			return term{}
		}
		if o.takes == takesTwo {
			return lowerTwo(f, o.op, items[0], items[1])
		}
		return lowerList(f, o.op, items)
	}
}

func (c *checker) read(n *node, f Field, v value, what string) (operand, bool) {
	out, err := reader{field: f, zone: c.zone}.read(v)
	if err != nil {
		c.fault(n, "value", CodeValueInvalid, what+" "+err.Error())
		return nil, false
	}
	return out, true
}

// items reads a list, all of whose wrong items are reported.
func (c *checker) items(n *node, f Field, o operator) ([]operand, bool) {
	if !c.isList(n, o) {
		return nil, false
	}
	out := make([]operand, 0, len(n.value.items))
	for i, item := range n.value.items {
		v, ok := c.read(n, f, item, "item "+strconv.Itoa(i+1)+" of the value")
		if ok {
			out = append(out, v)
		}
	}
	return out, len(out) == len(n.value.items)
}

func (c *checker) isList(n *node, o operator) bool {
	switch {
	case n.value.kind != list:
		c.fault(n, "value", CodeValueInvalid, "the value must be a list, not "+n.value.describe())
		return false
	case o.takes == takesTwo && len(n.value.items) != 2:
		c.fault(n, "value", CodeValueInvalid, "the value must be two bounds, not "+n.value.describe())
		return false
	}
	return true
}

// fields checks a comparison of fields and makes a term of it.
func (c *checker) fields(n *node, f Field, o operator) term {
	named := []value{n.value}
	switch o.takes {
	case takesOne:
	case takesList, takesTwo:
		if !c.isList(n, o) {
			return term{}
		}
		named = n.value.items
	default:
		return c.values(n, f, o)
	}
	others := make([]Field, 0, len(named))
	for _, v := range named {
		if other, ok := c.other(n, f, v); ok {
			others = append(others, other)
		}
	}
	if len(others) < len(named) {
		return term{}
	}
	return lowerFields(f, o.op, others)
}

// other finds the field that a value names.
func (c *checker) other(n *node, f Field, v value) (Field, bool) {
	if v.kind == list && len(v.items) == 1 {
		v = v.items[0]
	}
	if v.kind != text {
		c.fault(n, "value", CodeValueInvalid, "the value must name a field, not be "+v.describe())
		return Field{}, false
	}
	other, ok := c.schema.Field(v.text)
	if !ok {
		names := c.schema.Names()
		c.fault(n, "value", CodeFieldUnknown, "there is no field "+quote(v.text)+nearest(v.text, names), names...)
		return Field{}, false
	}
	if !oneType(f.Kind, other.Kind) {
		c.fault(n, "value", CodeValueInvalid, f.Name+" and "+other.Name+" cannot be compared")
		return Field{}, false
	}
	return other, true
}

// oneType reports whether fields of two kinds are stored as one type.
func oneType(a, b Kind) bool {
	const texts = String | Enum
	return a&StringList == 0 && (a == b || (a&texts != 0 && b&texts != 0))
}

// canonicalOrder sorts values and keeps each once.
func canonicalOrder(values []any) []any {
	slices.SortFunc(values, func(a, b any) int { return compareOperands(a, b) })
	return slices.CompactFunc(values, func(a, b any) bool { return canonical(a) == canonical(b) })
}

// stored is an operand as it stands in a filter. Of a day it is the first moment.
func stored(v operand) any {
	if s, ok := v.(span); ok {
		return s.from
	}
	return v
}
