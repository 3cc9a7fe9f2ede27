package querybuilder

import (
	"strconv"
	"strings"
)

// placeholder stands as field or operator of a rule that is not finished yet.
const placeholder = "~"

// reactNode reads a rule or group of react-querybuilder. independent tells the variant with combinators between the
// rules, which holds for the whole document.
func reactNode(r *raw, independent bool) *node {
	n := &node{at: &r.place}
	if n.out = flag(n, "muted", r.muted); n.out {
		return n
	}
	switch {
	case r.isGroup() && r.field.given():
		n.group = true
		n.fault("", CodeMalformed, "it has both rules and a field: it is a group or a rule")
	case r.isGroup() && independent:
		n.group, n.not = true, flag(n, "not", r.not)
		reactIndependent(n, r)
	case r.isGroup():
		n.group, n.not = true, flag(n, "not", r.not)
		n.or = combinator(n, "combinator", r.combinator)
		n.rules = children(r, func(c *raw) *node { return reactNode(c, false) })
	case r.field.kind == text && (r.field.text == placeholder || r.operator.text == placeholder):
		n.out = true
	default:
		readRule(n, r, reactName, true)
	}
	return n
}

// reactIndependent reads the rules of a group with a combinator between each two: "and" binds tighter than "or". Rules
// that are out leave the run of and-ed rules that they stand in, and a run that nothing is left of is out itself.
func reactIndependent(n *node, r *raw) {
	if r.combinator.kind != missing {
		n.fault("combinator", CodeMalformed,
			"the outermost group has its combinators between the rules, so no group has a member combinator")
	}
	n.or = true
	run := &node{at: n.at, group: true, out: true}
	for i, c := range r.rules {
		if i%2 == 0 {
			child := element(c, func(c *raw) *node { return reactNode(c, true) })
			run.rules = append(run.rules, child)
			run.out = run.out && child.out
			continue
		}
		between := &node{at: &c.place}
		if c.object {
			between.fault("", CodeMalformed, `between two rules stands "and" or "or"`)
		} else if combinator(between, "", c.word) {
			n.rules = append(n.rules, run)
			run = &node{at: n.at, group: true, out: true}
		}
		n.faults = append(n.faults, between.faults...)
	}
	if last := len(r.rules) - 1; last%2 == 1 && !r.rules[last].object {
		n.fault("rules", CodeMalformed, "a combinator stands at the end, with no rule behind it")
	}
	n.rules = append(n.rules, run)
}

// combinator reads "and" or "or" and reports whether it is "or".
func combinator(n *node, key string, v value) bool {
	switch {
	case v.kind == text && strings.EqualFold(v.text, "and"):
		return false
	case v.kind == text && strings.EqualFold(v.text, "or"):
		return true
	case v.kind == missing:
		n.fault(key, CodeMalformed, "the group has no "+key)
	default:
		n.fault(key, CodeMalformed, `it must be "and" or "or", not `+v.describe())
	}
	return false
}

// flag reads a member that is true, false or absent.
func flag(n *node, key string, v value) bool {
	if v.given() && v.kind != boolean {
		n.fault(key, CodeMalformed, key+" must be true or false, not "+v.describe())
	}
	return v.text == "true" && v.kind == boolean
}

// children reads the rules of a group, each of which is an object.
func children(r *raw, read func(*raw) *node) []*node {
	out := make([]*node, 0, len(r.rules))
	for _, c := range r.rules {
		out = append(out, element(c, read))
	}
	return out
}

func element(c *raw, read func(*raw) *node) *node {
	if c.object {
		return read(c)
	}
	child := &node{at: &c.place, group: true}
	child.fault("", CodeMalformed, "a rule or group is an object, not "+c.word.describe())
	return child
}

// readRule reads a rule of either format. Only react-querybuilder writes lists as one text.
func readRule(n *node, r *raw, name func(operator) string, textLists bool) {
	switch {
	case !r.object:
		n.group = true
		n.fault("", CodeMalformed, "a rule or group is an object, not "+r.word.describe())
		return
	case r.hasRules != list && r.field.kind != text:
		n.group = true
		n.fault("", CodeMalformed, "it is neither a group, which has an array rules, nor a rule, which has a field")
		return
	}
	n.field, n.value = r.field.text, r.value
	switch {
	case r.operator.kind != text:
		n.fault("operator", CodeMalformed, "the rule has no operator")
	default:
		n.op = findOperator(n, r.operator.text, name)
	}
	switch {
	case !r.source.given() || r.source.text == "value":
	case r.source.text == "field" && r.source.kind == text:
		n.fieldValue = true
	default:
		n.fault("valueSource", CodeMalformed, `valueSource must be "value" or "field", not `+r.source.describe())
	}
	readText(n, textLists)
}

// readText splits a list that is one text, and measures any other text, now that the operator is known.
func readText(n *node, textLists bool) {
	if n.value.kind != text {
		return
	}
	if takes := n.op.info().takes; textLists && (takes == takesList || takes == takesTwo) {
		var fault *Fault
		if n.value, fault = splitList(n.value.text); fault != nil {
			n.fault("value", fault.Code, fault.Message)
		}
		return
	}
	if fault := checkLength(n.value.text, MaxText); fault != nil {
		n.fault("value", fault.Code, fault.Message)
	}
}

// splitList reads "a, b" as two items; \, is a comma inside one. Blank items are left out.
func splitList(s string) (value, *Fault) {
	out := value{kind: list}
	for s != "" {
		end := 0
		for end < len(s) && (s[end] != ',' || (end > 0 && s[end-1] == '\\')) {
			end++
		}
		item := strings.TrimSpace(strings.ReplaceAll(s[:end], `\,`, ","))
		s = s[min(end+1, len(s)):]
		if item == "" {
			continue
		}
		if len(out.items) == MaxListItems {
			return value{kind: list}, tooManyItems()
		}
		if fault := checkLength(item, MaxText); fault != nil {
			return value{kind: list}, fault
		}
		out.items = append(out.items, value{kind: text, text: item})
	}
	return out, nil
}

func findOperator(n *node, name string, column func(operator) string) Operator {
	var known []string
	for _, o := range &operators {
		switch column(o) {
		case "":
		case name:
			return o.op
		default:
			known = append(known, column(o))
		}
	}
	f := Fault{Path: n.at.path("operator"), Code: CodeOperatorUnknown, Allowed: known}
	f.Message = "there is no operator " + quote(name) + nearest(name, known)
	if otherFormat(name) {
		f.Message += "; " + strconv.Quote(name) + " is one of the other front-end format " +
			"(a document with a condition is in that of jQuery QueryBuilder)"
	}
	n.faults = append(n.faults, f)
	return 0
}

func otherFormat(name string) bool {
	for _, o := range &operators {
		if name != "" && (o.react == name || o.jquery == name) {
			return true
		}
	}
	return false
}
