package querybuilder

import "go.mongodb.org/mongo-driver/v2/bson"

// The functions of this file make terms of rules whose parts are checked. A date without a time becomes the two ends
// of its day here, so that nothing behind knows of days.

func lowerNothing(f Field, op Operator) term {
	switch op {
	case Null, NotNull:
		return leafOf(presence{field: f.Name, present: op == NotNull})
	case Empty:
		return leafOf(comparison{field: f.Name, op: "$eq", value: ""})
	default: // NotEmpty
		return leafOf(membership{field: f.Name, values: []any{""}, negated: true, nulls: true})
	}
}

func lowerOne(f Field, op Operator, v operand) term {
	if s, ok := v.(span); ok && s.day {
		return lowerDay(f, op, s)
	}
	c := comparison{field: f.Name, value: stored(v)}
	switch op {
	case Equal:
		c.op = "$eq"
	case NotEqual:
		c.op, c.skipNull = "$ne", f.NegationSkipsNull
	case Less:
		c.op = "$lt"
	case LessOrEqual:
		c.op = "$lte"
	case Greater:
		c.op = "$gt"
	case GreaterOrEqual:
		c.op = "$gte"
	default:
		return lowerText(f, op, v)
	}
	return leafOf(c)
}

// lowerDay compares with a whole day: < and >= take its start, <= and > its end.
func lowerDay(f Field, op Operator, day span) term {
	c := comparison{field: f.Name}
	switch op {
	case Less:
		c.op, c.value = "$lt", day.from
	case GreaterOrEqual:
		c.op, c.value = "$gte", day.from
	case LessOrEqual:
		c.op, c.value = "$lt", day.until
	case Greater:
		c.op, c.value = "$gte", day.until
	default: // Equal, NotEqual
		negated := op == NotEqual
		return leafOf(interval{
			field: f.Name, from: day.from, to: day.until, open: true,
			negated: negated, skipNull: negated && f.NegationSkipsNull,
		})
	}
	return leafOf(c)
}

func lowerText(f Field, op Operator, v operand) term {
	m := match{field: f.Name, op: op, fold: f.FoldCase}
	m.text, _ = v.(string)
	switch op {
	case NotContains:
		m.op, m.negated = Contains, true
	case NotBeginsWith:
		m.op, m.negated = BeginsWith, true
	case NotEndsWith:
		m.op, m.negated = EndsWith, true
	default:
	}
	m.skipNull = m.negated && f.NegationSkipsNull
	return leafOf(m)
}

func lowerTwo(f Field, op Operator, a, b operand) term {
	open := false
	from, to := a, b
	if x, ok := a.(span); ok {
		y, _ := b.(span)
		if y.last() < x.from {
			x, y = y, x
		}
		from, to, open = x.from, y.until, y.day
	} else if compareOperands(a, b) > 0 {
		from, to = b, a
	}
	if op == Between {
		return leafOf(interval{field: f.Name, from: from, to: to, open: open})
	}
	above := comparison{field: f.Name, op: "$gt", value: to}
	if open {
		above.op = "$gte"
	}
	return anyOf([]term{leafOf(comparison{field: f.Name, op: "$lt", value: from}), leafOf(above)})
}

// last is the last moment of the span, in the resolution that dates are stored in.
func (s span) last() bson.DateTime {
	if s.day {
		return s.until - 1
	}
	return s.from
}

func lowerList(f Field, op Operator, items []operand) term {
	var terms []term
	values := make([]any, 0, len(items))
	single := map[Operator]Operator{In: Equal, NotIn: NotEqual}[op]
	for _, item := range items {
		if s, ok := item.(span); ok && s.day {
			terms = append(terms, lowerDay(f, single, s))
			continue
		}
		values = append(values, stored(item))
	}
	values = canonicalOrder(values)
	switch {
	case len(values) == 1:
		terms = append(terms, lowerOne(f, single, values[0]))
	case len(values) > 1 && op == In:
		terms = append(terms, leafOf(membership{field: f.Name, values: values}))
	case len(values) > 1:
		terms = append(terms, leafOf(membership{field: f.Name, values: values, negated: true, nulls: f.NegationSkipsNull}))
	}
	if op == In {
		return anyOf(terms)
	}
	return allOf(terms)
}

// lowerFields compares a field with others of its kind. Bounds may be reversed in one document and not in the next.
func lowerFields(f Field, op Operator, others []Field) term {
	each := func(op Operator) []term {
		terms := make([]term, 0, len(others))
		for _, other := range others {
			terms = append(terms, leafOf(pairOf(op, f, other)))
		}
		return terms
	}
	reversed := func(lower, upper Operator) []term {
		a, b := each(lower), each(upper)
		return []term{allOf([]term{a[0], b[1]}), allOf([]term{a[1], b[0]})}
	}
	switch op {
	case In:
		return anyOf(each(Equal))
	case NotIn:
		return allOf(each(NotEqual))
	case Between:
		return anyOf(reversed(GreaterOrEqual, LessOrEqual))
	case NotBetween:
		return anyOf([]term{allOf(each(Less)), allOf(each(Greater))})
	default:
		return each(op)[0]
	}
}
