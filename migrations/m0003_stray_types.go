package migrations

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/instant"
	"catalogue/pagination"
)

const (
	// rewritesPerSave is how many values are rewritten between two positions.
	rewritesPerSave = 100
	// maxNotes is how many values that were left alone are named for a field. Check names all.
	maxNotes = 3
)

// Rewrite gives one field of one stored object a value of another type.
type Rewrite struct {
	Collection string
	ID         bson.RawValue
	Field      string // path
	From, To   bson.RawValue
}

// Rewriter writes to stored objects as all writers do, with their stamps.
type Rewriter interface {
	// Rewrite changes the field where it still is as From says. It reports false where it is not.
	Rewrite(ctx context.Context, r Rewrite) (bool, error)
}

// strayTypes gives values of sort fields the declared type where that loses nothing, and names the others. A collection
// that was begun is read again after a stop: what was rewritten is no stray any more.
func strayTypes(fields Fields, rewriter Rewriter) Migration {
	fields = fields.normalised()
	return Migration{
		Number: 3, Name: "stray_types", Version: 1, Parameters: fields, Repeatable: true,
		Run: func(ctx context.Context, s *Step) error {
			var from struct {
				Collection string `bson:"collection"`
			}
			if s.Position() != nil {
				if err := bson.Unmarshal(s.Position(), &from); err != nil {
					return fmt.Errorf("decode the position: %w", err)
				}
			}
			for _, collection := range fields.collections() {
				if collection < from.Collection {
					continue
				}
				if err := rewriteStrays(ctx, s, rewriter, collection, fields[collection]); err != nil {
					return err
				}
			}
			return nil
		},
		Count: func(ctx context.Context, db *mongo.Database) (int64, error) {
			var n int64
			for _, collection := range fields.collections() {
				err := eachStray(ctx, db, collection, fields[collection], func(_ bson.RawValue, _ Problem, to bson.RawValue) error {
					if !to.IsZero() {
						n++
					}
					return nil
				})
				if err != nil {
					return 0, err
				}
			}
			return n, nil
		},
	}
}

// rewriteStrays goes through one collection.
func rewriteStrays(ctx context.Context, s *Step, rewriter Rewriter, collection string, sorts pagination.Sorts) error {
	position := bson.D{{Key: "collection", Value: collection}}
	if err := s.Save(ctx, position, 0); err != nil {
		return err
	}
	var rewritten int64
	left := map[string]int{}
	err := eachStray(ctx, s.Database(), collection, sorts, func(id bson.RawValue, p Problem, to bson.RawValue) error {
		if to.IsZero() {
			if left[p.Field]++; left[p.Field] <= maxNotes {
				s.Note("left as it is: " + p.String())
			}
			return nil
		}
		changed, err := rewriter.Rewrite(ctx, Rewrite{Collection: collection, ID: id, Field: p.Field, From: p.value, To: to})
		if err != nil {
			return fmt.Errorf("rewrite %s: %w", p, err)
		}
		if changed {
			rewritten++
		}
		if rewritten < rewritesPerSave {
			return nil
		}
		n := rewritten
		rewritten = 0
		return s.Save(ctx, position, n)
	})
	if err != nil {
		return err
	}
	for _, field := range slices.Sorted(maps.Keys(left)) {
		if n := left[field]; n > maxNotes {
			s.Note(fmt.Sprintf("left as they are: %d values of %s in %s", n, field, collection))
		}
	}
	return s.Save(ctx, position, rewritten)
}

// eachStray calls each with every value that is of another type than its field. to is zero where the value cannot be
// brought to the declared type without a loss.
func eachStray(
	ctx context.Context, db *mongo.Database, collection string, sorts pagination.Sorts,
	each func(id bson.RawValue, p Problem, to bson.RawValue) error,
) error {
	kinds := make(map[string]pagination.Kind, len(sorts))
	for _, s := range sorts {
		kinds[s.Field] = s.Kind
	}
	for doc, err := range documents(ctx, db.Collection(collection), projection(sorts)) {
		if err != nil {
			return err
		}
		id := doc.Lookup("_id")
		for _, p := range misfits(doc, sorts) {
			if p.Kind != Stray && p.Kind != Array {
				continue
			}
			p.Collection, p.ID = collection, idText(id)
			if err := each(id, p, converted(kinds[p.Field], p.value)); err != nil {
				return err
			}
		}
	}
	return nil
}

// projection fetches the fields, with all of the documents that they lie in.
func projection(sorts pagination.Sorts) bson.D {
	out := bson.D{}
	seen := map[string]bool{}
	for _, s := range sorts {
		name, _, _ := strings.Cut(s.Field, ".")
		if !seen[name] {
			seen[name] = true
			out = append(out, bson.E{Key: name, Value: int32(1)})
		}
	}
	return out
}

// converted is a value as one of the kind, or zero where something would be lost or guessed: which digits of a text are
// meant as a number, whether a number is a date in seconds or milliseconds, are not for a program to say.
func converted(kind pagination.Kind, v bson.RawValue) bson.RawValue {
	switch {
	case kind == pagination.String && v.Type == bson.TypeSymbol:
		return bson.RawValue{Type: bson.TypeString, Value: v.Value} // the bytes of both are the same
	case kind == pagination.Date && v.Type == bson.TypeString:
		return dateOf(v.StringValue())
	case kind == pagination.Date && v.Type == bson.TypeTimestamp:
		if seconds, ordinal, ok := v.TimestampOK(); ok && ordinal == 0 { // a date has no place for the ordinal
			return date(int64(seconds) * 1000)
		}
	}
	return bson.RawValue{}
}

// exactMillis is a time whose digits below the millisecond, if any, are zeros.
var exactMillis = regexp.MustCompile(`:\d\d(\.\d{1,3}0*)?(Z|[+-]\d\d:\d\d)$`)

// dateOf reads a time in RFC 3339 that says nothing below the millisecond.
func dateOf(text string) bson.RawValue {
	at, err := instant.Parse(text)
	if err != nil || !exactMillis.MatchString(text) {
		return bson.RawValue{}
	}
	return date(at.Millis())
}

func date(ms int64) bson.RawValue {
	_, data, err := bson.MarshalValue(bson.DateTime(ms))
	if err != nil { // an integer of eight bytes always encodes
		return bson.RawValue{}
	}
	return bson.RawValue{Type: bson.TypeDateTime, Value: data}
}
