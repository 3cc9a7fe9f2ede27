package querybuilder

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// compiled are the only operators that a compiled filter has.
var compiled = [...]string{
	"$and", "$or", "$nor", "$not",
	"$eq", "$ne", "$lt", "$lte", "$gt", "$gte", "$in", "$nin", "$regex", "$options",
	"$expr", "$cond", "$isNumber", "$type", "$toLower", "$indexOfCP", "$strLenCP", "$substrCP", "$subtract",
}

// CompiledOperators lists the only operators of the database that compiled filters have.
func CompiledOperators() []string { return slices.Clone(compiled[:]) }

// Compile makes the query filter. It depends on nothing but its arguments; now is the time that relative operators
// are seen from, rounded as the caller needs it.
func (f Filter) Compile(now time.Time) bson.D { return f.root.compile(now) }

func (t term) compile(now time.Time) bson.D {
	switch t.kind {
	case nothing:
		return field("_id", bson.E{Key: "$in", Value: bson.A{}})
	case leaf:
		return t.test.compile(now)
	case both:
		return t.group("$and", now)
	case either:
		return t.group("$or", now)
	case negation:
		return t.group("$nor", now)
	default:
		return bson.D{}
	}
}

func (t term) group(operator string, now time.Time) bson.D {
	parts := make(bson.A, 0, len(t.terms))
	for _, part := range t.terms {
		parts = append(parts, part.compile(now))
	}
	return bson.D{{Key: operator, Value: parts}}
}

// field asks one field for several things at once.
func field(name string, conditions ...bson.E) bson.D {
	return bson.D{{Key: name, Value: bson.D(conditions)}}
}

// comparison compares a field with one value.
type comparison struct {
	field    string
	op       string // $eq, $ne, $lt, …
	value    any
	skipNull bool // with $ne: null and missing do not match
}

func (c comparison) compile(time.Time) bson.D {
	if c.skipNull {
		return field(c.field, bson.E{Key: "$nin", Value: bson.A{c.value, nil}})
	}
	return field(c.field, bson.E{Key: c.op, Value: c.value})
}

func (c comparison) key() string {
	return call(c.op+skipMark(c.skipNull), strconv.Quote(c.field), canonical(c.value))
}

func (c comparison) condition() (Condition, bool) {
	return Condition{Field: c.field, Single: c.op == "$eq"}, true
}

func skipMark(skipNull bool) string {
	if skipNull {
		return "!"
	}
	return ""
}

// membership asks whether a field has one of several values, or none of them.
type membership struct {
	field   string
	values  []any // sorted, each once
	negated bool
	nulls   bool // null counts as one more of the values
}

func (m membership) compile(time.Time) bson.D {
	values := make(bson.A, 0, len(m.values)+1)
	values = append(values, m.values...)
	if m.nulls {
		values = append(values, nil)
	}
	return field(m.field, bson.E{Key: m.op(), Value: values})
}

func (m membership) op() string {
	if m.negated {
		return "$nin"
	}
	return "$in"
}

func (m membership) key() string {
	args := make([]string, 0, len(m.values)+1)
	args = append(args, strconv.Quote(m.field))
	for _, v := range m.values {
		args = append(args, canonical(v))
	}
	return call(m.op()+skipMark(m.nulls), args...)
}

func (m membership) condition() (Condition, bool) { return Condition{Field: m.field}, true }

// interval asks whether a field lies within two bounds.
type interval struct {
	field    string
	from, to any
	open     bool // to is the first value behind it
	negated  bool // whatever lies not within, null and missing included
	skipNull bool // with negated: null and missing do not match
}

func (i interval) compile(time.Time) bson.D {
	upper := "$lte"
	if i.open {
		upper = "$lt"
	}
	within := bson.D{{Key: "$gte", Value: i.from}, {Key: upper, Value: i.to}}
	if !i.negated {
		return field(i.field, within...)
	}
	conditions := bson.D{{Key: "$not", Value: within}}
	if i.skipNull {
		conditions = append(conditions, bson.E{Key: "$ne", Value: nil})
	}
	return field(i.field, conditions...)
}

func (i interval) key() string {
	name := "within"
	if i.open {
		name = "until"
	}
	if i.negated {
		name = "not-" + name
	}
	return call(name+skipMark(i.skipNull), strconv.Quote(i.field), canonical(i.from), canonical(i.to))
}

func (i interval) condition() (Condition, bool) { return Condition{Field: i.field}, true }

// match asks for a text at the start, at the end or anywhere.
type match struct {
	field    string
	op       Operator // Contains, BeginsWith or EndsWith
	text     string
	fold     bool
	negated  bool
	skipNull bool
}

func (m match) compile(time.Time) bson.D {
	pattern := regexp.QuoteMeta(m.text)
	switch m.op {
	case BeginsWith:
		pattern = "^" + pattern
	case EndsWith:
		pattern += `\z` // $ would match before a line feed at the end, too
	default:
	}
	conditions := bson.D{{Key: "$regex", Value: pattern}}
	if m.fold {
		conditions = append(conditions, bson.E{Key: "$options", Value: "i"})
	}
	if !m.negated {
		return field(m.field, conditions...)
	}
	conditions = bson.D{{Key: "$not", Value: conditions}}
	if m.skipNull {
		conditions = append(conditions, bson.E{Key: "$ne", Value: nil})
	}
	return field(m.field, conditions...)
}

func (m match) key() string {
	name := m.op.info().react
	if m.negated {
		name = "not-" + name
	}
	if m.fold {
		name += "-fold"
	}
	return call(name+skipMark(m.skipNull), strconv.Quote(m.field), strconv.Quote(m.text))
}

func (m match) condition() (Condition, bool) { return Condition{Field: m.field}, true }

// presence asks whether a field has a value at all.
type presence struct {
	field   string
	present bool
}

func (p presence) compile(time.Time) bson.D {
	if p.present {
		return field(p.field, bson.E{Key: "$ne", Value: nil})
	}
	return bson.D{{Key: p.field, Value: nil}}
}

func (p presence) key() string {
	return call(strings.ToLower(Null.info().react)+skipMark(p.present), strconv.Quote(p.field))
}

func (p presence) condition() (Condition, bool) { return Condition{Field: p.field}, true }
