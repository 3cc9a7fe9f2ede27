package querybuilder

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Filter is a checked rule document in its simplest form: what commutes is sorted, values are converted, and relative
// operators are still relative. The zero value matches everything.
type Filter struct{ root term }

// And matches what every filter matches.
func And(filters ...Filter) Filter {
	terms := make([]term, 0, len(filters))
	for _, f := range filters {
		terms = append(terms, f.root)
	}
	return Filter{root: allOf(terms)}
}

// Empty reports whether the filter matches everything.
func (f Filter) Empty() bool { return f.root.kind == everything }

// Relative reports whether the filter depends on the time of the query.
func (f Filter) Relative() bool { return f.root.relative() }

// Condition is a field that a filter asks something of.
type Condition struct {
	Field string
	// Single: every match has one value, which is not null.
	Single bool
}

// Conditions tells, for the choice of an index, which fields the filter asks something of, each once, in the order of
// their names. It reports false where every match has to meet more than that: one of several alternatives, or a
// comparison of two fields.
func (f Filter) Conditions() (conditions []Condition, all bool) {
	terms := []term{f.root}
	switch f.root.kind {
	case everything:
		return nil, true
	case both:
		terms = f.root.terms
	default:
	}
	for _, t := range terms {
		if t.kind != leaf {
			return nil, false
		}
		c, ok := t.test.condition()
		if !ok {
			return nil, false
		}
		conditions = append(conditions, c)
	}
	slices.SortFunc(conditions, func(a, b Condition) int {
		if a.Field == b.Field && a.Single != b.Single && a.Single {
			return -1
		}
		return cmp.Compare(a.Field, b.Field)
	})
	return slices.CompactFunc(conditions, func(a, b Condition) bool { return a.Field == b.Field }), true
}

// test is a leaf of a filter.
type test interface {
	compile(now time.Time) bson.D
	key() string                  // the canonical form
	condition() (Condition, bool) // false where it asks of more than one field
}

type termKind uint8

const (
	everything termKind = iota
	nothing
	leaf
	both
	either
	negation
)

// term is a node of a filter. Terms are made by the functions below, which keep them in their simplest form.
type term struct {
	kind  termKind
	test  test
	terms []term
	key   string // the canonical form
}

func leafOf(t test) term { return term{kind: leaf, test: t, key: t.key()} }

func none() term { return term{kind: nothing, key: "none"} }

func allOf(terms []term) term { return join(both, "and", terms, everything, nothing) }

func anyOf(terms []term) term { return join(either, "or", terms, nothing, everything) }

// join makes a group. A neutral term changes nothing in it, a ruling one decides it.
func join(kind termKind, name string, terms []term, neutral, ruling termKind) term {
	flat := make([]term, 0, len(terms))
	for _, t := range terms {
		switch t.kind {
		case neutral:
		case ruling:
			return t
		case kind:
			flat = append(flat, t.terms...)
		default:
			flat = append(flat, t)
		}
	}
	slices.SortFunc(flat, func(a, b term) int { return cmp.Compare(a.key, b.key) })
	flat = slices.CompactFunc(flat, func(a, b term) bool { return a.key == b.key })
	switch {
	case len(flat) == 1:
		return flat[0]
	case len(flat) == 0 && neutral == nothing:
		return none()
	case len(flat) == 0:
		return term{}
	}
	keys := make([]string, 0, len(flat))
	for _, t := range flat {
		keys = append(keys, t.key)
	}
	return term{kind: kind, terms: flat, key: call(name, keys...)}
}

func not(t term) term {
	switch t.kind {
	case everything:
		return none()
	case nothing:
		return term{}
	case negation:
		return t.terms[0]
	default:
		return term{kind: negation, terms: []term{t}, key: call("not", t.key)}
	}
}

func call(name string, args ...string) string { return name + "(" + strings.Join(args, ",") + ")" }

func (t term) relative() bool {
	if _, ok := t.test.(relative); ok {
		return true
	}
	return slices.ContainsFunc(t.terms, term.relative)
}
