package indexes

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Difference is in what an index of the database is not the declared one.
type Difference string

// The differences. Name stands alone: another index holds the declared name, so ours gets a number behind it.
// ExpireAfter can be changed in place where the declaration has a time; all others, on the same key, are for a person.
const (
	DifferentName        Difference = "name"
	DifferentUnique      Difference = "unique"
	DifferentSparse      Difference = "sparse"
	DifferentPartial     Difference = "partialFilterExpression"
	DifferentCollation   Difference = "collation"
	DifferentExpireAfter Difference = "expireAfterSeconds"
)

// serves reports whether an index of the wanted key answers what the wanted one does. When rows expire is left out.
func (f found) serves(want Index) bool {
	return f.Unique == want.Unique && !f.Sparse && !f.collated() && filterText(f.Partial) == filterText(want.Partial)
}

// collated reports whether strings are compared by a language's rules. The simple collation is that of none.
func (f found) collated() bool {
	for _, e := range f.Collation {
		if e.Key == "locale" {
			return e.Value != "simple"
		}
	}
	return len(f.Collation) > 0
}

// differences lists in which options an index of the wanted key is another one.
func (f found) differences(want Index) []Difference {
	var out []Difference
	add := func(differs bool, d Difference) {
		if differs {
			out = append(out, d)
		}
	}
	add(f.Unique != want.Unique, DifferentUnique)
	add(f.Sparse, DifferentSparse)
	add(filterText(f.Partial) != filterText(want.Partial), DifferentPartial)
	add(f.collated(), DifferentCollation)
	add(!f.sameExpiry(want), DifferentExpireAfter)
	return out
}

// isID reports whether it is the index of _id, which every collection has and nobody declares.
func (f found) isID() bool { return len(f.Keys) == 1 && keyText(f.Keys) == "{_id: 1}" }

// filterText writes a partial filter so that equal ones have equal texts: the absent and the empty one are the same,
// and so are the types of a number. Records keep this text, so its form never changes.
func filterText(filter bson.D) string {
	if len(filter) == 0 {
		return ""
	}
	data, err := bson.Marshal(filter)
	if err != nil { // a Go value that BSON does not know: the database will refuse it
		return fmt.Sprint(filter)
	}
	var plainTypes bson.D
	if err := bson.Unmarshal(data, &plainTypes); err != nil {
		return fmt.Sprint(filter)
	}
	folded, _ := foldNumbers(plainTypes).(bson.D)
	return documentText(folded)
}

// foldNumbers makes every number in a document a double.
func foldNumbers(v any) any {
	switch v := v.(type) {
	case bson.D:
		out := make(bson.D, len(v))
		for i, e := range v {
			out[i] = bson.E{Key: e.Key, Value: foldNumbers(e.Value)}
		}
		return out
	case bson.A:
		out := make(bson.A, len(v))
		for i, e := range v {
			out[i] = foldNumbers(e)
		}
		return out
	default:
		return plain(v)
	}
}
