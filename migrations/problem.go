package migrations

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/instant"
	"catalogue/pagination"
)

// maxFound is how much of a value a problem shows, in bytes.
const maxFound = 80

// ProblemKind says what is wrong with a stored value.
type ProblemKind string

// The kinds of problems.
const (
	Stray      ProblemKind = "stray type"        // not of the declared type: served behind all others, as absent
	Array      ProblemKind = "array"             // takes the order away from the index
	DateRange  ProblemKind = "date out of range" // outside the years 0001 to 9999: served as absent
	NotFinite  ProblemKind = "not finite"        // NaN or an infinity: served as absent
	NamedTwice ProblemKind = "named twice"       // only the first of the values counts
)

// Problem is a stored value that would be served strangely.
type Problem struct {
	Collection string
	ID         string // of the document, as text
	Field      string // its path
	Kind       ProblemKind
	Found      string // type and value, cut; empty for a name that is there twice

	value bson.RawValue
}

func (p Problem) String() string {
	text := fmt.Sprintf("%s %s: %s: %s", p.Collection, p.ID, p.Field, p.Kind)
	if p.Found != "" {
		text += ": " + p.Found
	}
	return text
}

// misfits are the problems of the values of the fields. A document that stands where another type should is told
// of once, however many of the fields lie in it.
func misfits(doc bson.Raw, sorts pagination.Sorts) []Problem {
	var out []Problem
	for _, s := range sorts {
		p, wrong := misfit(doc, s)
		if wrong && !slices.ContainsFunc(out, func(other Problem) bool { return other.Field == p.Field }) {
			p.Found = found(p.value)
			out = append(out, p)
		}
	}
	return out
}

// misfit looks at the value of one field, and at the documents that it lies in. Null and missing are no problem.
func misfit(doc bson.Raw, s pagination.Sort) (Problem, bool) {
	rest := s.Field
	for path := ""; ; {
		name, deeper, nested := strings.Cut(rest, ".")
		path = strings.TrimPrefix(path+"."+name, ".")
		v, err := doc.LookupErr(name)
		if err != nil || v.Type == bson.TypeNull {
			return Problem{}, false
		}
		p := Problem{Field: path, value: v}
		switch sub, isDocument := v.DocumentOK(); {
		case v.Type == bson.TypeArray:
			p.Kind = Array
			return p, true
		case !nested:
			p.Kind = judge(s.Kind, v)
			return p, p.Kind != ""
		case !isDocument:
			p.Kind = Stray
			return p, true
		default:
			doc, rest = sub, deeper
		}
	}
}

// judge says what is wrong with a value, or nothing.
func judge(kind pagination.Kind, v bson.RawValue) ProblemKind {
	switch {
	case !fits(kind, v):
		return Stray
	case !isFinite(v):
		return NotFinite
	}
	if ms, ok := v.DateTimeOK(); ok {
		if _, err := instant.FromMillis(ms); err != nil {
			return DateRange
		}
	}
	return ""
}

func isFinite(v bson.RawValue) bool {
	if f, ok := v.DoubleOK(); ok {
		return !math.IsNaN(f) && !math.IsInf(f, 0)
	}
	d, ok := v.Decimal128OK()
	return !ok || !d.IsNaN() && d.IsInf() == 0
}

// twice lists the paths of names that a document has more than once, at any depth.
func twice(doc bson.Raw, path string) ([]string, error) {
	elements, err := doc.Elements()
	if err != nil {
		return nil, err
	}
	var out []string
	seen := make(map[string]bool, len(elements))
	for _, e := range elements {
		name := strings.TrimPrefix(path+"."+e.Key(), ".")
		if seen[name] && !slices.Contains(out, name) {
			out = append(out, name)
		}
		seen[name] = true
		inner, err := twiceWithin(e.Value(), name)
		if err != nil {
			return nil, err
		}
		out = append(out, inner...)
	}
	return out, nil
}

func twiceWithin(v bson.RawValue, path string) ([]string, error) {
	if doc, ok := v.DocumentOK(); ok {
		return twice(doc, path)
	}
	array, ok := v.ArrayOK()
	if !ok {
		return nil, nil
	}
	values, err := array.Values() // by position: the names in an array mean nothing
	if err != nil {
		return nil, err
	}
	var out []string
	for i, value := range values {
		inner, err := twiceWithin(value, path+"."+strconv.Itoa(i))
		if err != nil {
			return nil, err
		}
		out = append(out, inner...)
	}
	return out, nil
}

// found shows a value with its type.
func found(v bson.RawValue) string {
	text := v.Type.String()
	switch v.Type {
	case bson.TypeArray, bson.TypeEmbeddedDocument, bson.TypeBinary, bson.TypeUndefined:
		return text
	case bson.TypeString:
		return text + " " + strconv.Quote(cut(v.StringValue()))
	default:
		return text + " " + cut(v.String())
	}
}

// idText is an _id as people write it.
func idText(v bson.RawValue) string {
	if id, ok := v.ObjectIDOK(); ok {
		return id.Hex()
	}
	return v.String()
}

func cut(text string) string {
	if len(text) <= maxFound {
		return text
	}
	return strings.ToValidUTF8(text[:maxFound], "") + "…"
}
