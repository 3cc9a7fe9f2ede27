package querybuilder

// jqueryNode reads a rule or group of jQuery QueryBuilder.
func jqueryNode(r *raw) *node {
	n := &node{at: &r.place}
	if r.valid.given() && (r.valid.kind != boolean || r.valid.text != "true") {
		n.fault("valid", CodeMalformed, "the component says that this is not valid")
	}
	switch {
	case r.isGroup() && r.field.given():
		n.group = true
		n.fault("", CodeMalformed, "it has both rules and a field: it is a group or a rule")
	case r.isGroup():
		n.group, n.not = true, flag(n, "not", r.not)
		if r.condition.kind != missing {
			n.or = combinator(n, "condition", r.condition)
		}
		if r.combinator.kind != missing {
			n.fault("combinator", CodeMalformed,
				"another group has a condition, as jQuery QueryBuilder writes; then none has a combinator")
		}
		n.rules = children(r, jqueryNode)
	default:
		if r.operator.kind == missing {
			r.operator = value{kind: text, text: Equal.info().jquery}
		}
		readRule(n, r, jqueryName, false)
	}
	return n
}
