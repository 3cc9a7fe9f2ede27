// Package indexes keeps the database's indexes as the lists declare them: it compares, builds what is missing, hides and
// later drops what it once built and nothing declares any more, and knows by which name each one can be hinted.
package indexes

import (
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Index is a declared index. It is identified by its collection, key and options; the name is only the one that we
// give it, and the same index under another name is as good.
type Index struct {
	Collection string
	Keys       bson.D // field → 1, in order
	Unique     bool
	Partial    bson.D // partialFilterExpression, or nil
	// ExpireAfter lets the database remove each row that long after the date in the key's only field, in whole seconds.
	// Zero keeps the rows.
	ExpireAfter time.Duration
	Reason      string // what needs it, for people
}

// ForSort is the index that serves a list's sort in both directions: the list's equalities, the sort field, and _id
// as the tie-break. An index that ended before _id would mean a blocking sort.
func ForSort(collection string, equalities []string, field, reason string) Index {
	keys := make(bson.D, 0, len(equalities)+2)
	for _, f := range append(append([]string{}, equalities...), field, "_id") {
		keys = append(keys, bson.E{Key: f, Value: int32(1)})
	}
	return Index{Collection: collection, Keys: keys, Reason: reason}
}

// UniqueSource is the index that keeps an imported object from being stored twice. It holds only the objects that
// have a source: the others would collide on null.
func UniqueSource(collection string) Index {
	return Index{
		Collection: collection,
		Keys:       bson.D{{Key: "source.system", Value: int32(1)}, {Key: "source.id", Value: int32(1)}},
		Unique:     true,
		Partial:    bson.D{{Key: "source.id", Value: bson.D{{Key: "$exists", Value: true}}}},
		Reason:     "an imported object is stored once",
	}
}

// Name is the name that the index gets where we build it: MongoDB's own default form.
func (i Index) Name() string {
	parts := make([]string, 0, 2*len(i.Keys))
	for _, k := range i.Keys {
		parts = append(parts, k.Key, fmt.Sprint(k.Value))
	}
	return strings.Join(parts, "_")
}

// String names the index for people: collection and key.
func (i Index) String() string { return i.Collection + " " + keyText(i.Keys) }

// keyText writes a key so that equal keys have equal texts: the order counts, the type of the numbers does not
// (1, 1.0 and NumberLong(1) are one direction).
func keyText(keys bson.D) string {
	parts := make([]string, 0, len(keys))
	for _, k := range keys {
		parts = append(parts, fmt.Sprintf("%s: %v", k.Key, plain(k.Value)))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// plain folds the numeric types into one.
func plain(v any) any {
	switch n := v.(type) {
	case int32:
		return float64(n)
	case int64:
		return float64(n)
	default:
		return v
	}
}

// identity tells indexes apart: by collection, key and options, of which two declarations of one key may differ.
func (i Index) identity() string {
	return fmt.Sprintf("%s %t %s %s", i, i.Unique, documentText(i.Partial), i.ExpireAfter)
}

// documentText writes a document as extended JSON, which folds nothing but the absent and the empty document: the
// partial filters that we declare have one spelling.
func documentText(d bson.D) string {
	if len(d) == 0 {
		return ""
	}
	text, err := bson.MarshalExtJSON(d, false, false)
	if err != nil { // a Go value that BSON does not know: the database will refuse it
		return fmt.Sprint(d)
	}
	return string(text)
}

// Distinct drops the second and later declarations of one index: lists over one collection share theirs.
func Distinct(declared ...[]Index) []Index {
	var out []Index
	seen := map[string]bool{}
	for _, group := range declared {
		for _, i := range group {
			if id := i.identity(); !seen[id] {
				seen[id] = true
				out = append(out, i)
			}
		}
	}
	return out
}
