// Package querybuilder turns the rule JSON of two front-end components into MongoDB filters: it decodes both formats
// into one tree, checks the tree against the fields of a list, and compiles it. It never takes an operator of the
// database from outside.
package querybuilder

import "strconv"

// Limits of a rule document, checked while it is decoded.
const (
	MaxBytes     = 16 << 10 // of the whole document
	MaxDepth     = 8        // of groups; the outermost is 1
	MaxRules     = 100      // groups not counted
	MaxListItems = 500      // of one list
	MaxText      = 256      // characters of one text or number
)

// maxEntries bounds what stands in all arrays of rules: rules, groups and combinators between them. Only a document of
// empty groups has more.
const maxEntries = 1000

// maxExtra is how deep a value that nobody reads may nest.
const maxExtra = 8

// Rule is a decoded rule document: shape only, not yet checked against a schema. The zero value is an empty group.
type Rule struct{ root *node }

// Join is the group that every one of the rules must match.
func Join(rules ...Rule) Rule {
	group := &node{group: true, at: &place{}}
	for _, r := range rules {
		if r.root != nil {
			group.rules = append(group.rules, r.root)
		}
	}
	return Rule{root: group}
}

// node is a rule or a group of either format.
type node struct {
	at     *place
	out    bool   // muted or unfinished: as if it were not there
	faults Errors // what is wrong with the shape; reported with everything else by Check

	group bool
	or    bool
	not   bool
	rules []*node

	field      string
	op         Operator // 0 where the format has none of that name
	value      value
	fieldValue bool // the value names a field
}

func (n *node) fault(key string, code Code, message string) {
	n.faults = append(n.faults, Fault{Path: n.at.path(key), Code: code, Message: message})
}

// valueKind is what a JSON value is.
type valueKind uint8

const (
	missing valueKind = iota
	null
	boolean
	number
	text
	list
	nested // an object, or a list inside a list: no operator takes one
)

// value is a JSON value that a rule may have.
type value struct {
	kind  valueKind
	text  string // of a text; the literal of a number or boolean
	items []value
}

// given reports whether the value is there. A null counts as absent where something is optional.
func (v value) given() bool { return v.kind != missing && v.kind != null }

// describe names the value in a message.
func (v value) describe() string {
	switch v.kind {
	case missing:
		return "no value"
	case null:
		return "null"
	case text:
		return quote(v.text)
	case list:
		return "a list of " + strconv.Itoa(len(v.items))
	case nested:
		return "an object or nested list"
	default:
		return short(v.text)
	}
}

// place is where a node stands in its document. Paths are written only where something is wrong.
type place struct {
	parent *place
	name   string // of a parameter, in place of a parent
	index  int
}

// path writes the place of a key of the node, such as rules[1].rules[0].value. Parts of a parameter are not told
// apart: its name is the whole path.
func (p *place) path(key string) string {
	if p.name != "" {
		return p.name
	}
	if p.parent == nil {
		return key
	}
	path := p.parent.path("rules") + "[" + strconv.Itoa(p.index) + "]"
	if key != "" && p.parent.name == "" {
		path += "." + key
	}
	return path
}
