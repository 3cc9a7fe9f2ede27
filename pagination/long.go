package pagination

import (
	"context"
	"crypto/sha256"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/mongodb"
)

// A cursor cannot carry a text of any length. Of a longer one it carries the beginning, a digest of the whole and, as
// always, the row's id: the next page reads the whole text from the row. Where the row is gone or has changed since,
// the page begins at the first row that may come behind the text. Then rows with the same long beginning
// may come again; none is ever lost, and the walk ends, since those rows are there and carry it on.

// beyondBeginning is behind every text that goes on with ordinary characters.
const beyondBeginning = "\U0010FFFF\U0010FFFF\U0010FFFF"

// shorten makes a position fit into a cursor.
func shorten(p RowPosition) RowPosition {
	if len(p.Value.Value) <= maxCursorValue {
		return p
	}
	digest := sha256.Sum256(p.Value.Value)
	text := textOf(p.Value)
	end := maxCursorValue - cutAllowance
	for end > maxCursorValue-cutAllowance-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end-- // not inside a character: servers refuse texts that are no UTF-8
	}
	p.Value, p.Cut, p.Passed = textValue(text[:end]), string(digest[:]), 0
	return p
}

// lengthen is the other way: it finds the whole value of a position that shorten has cut.
func (r *Repository[T]) lengthen(ctx context.Context, order Order, p RowPosition) (RowPosition, error) {
	if p.Cut == "" {
		return p, nil
	}
	doc, found, err := mongodb.ByID(ctx, r.coll, p.ID, bson.D{{Key: order.Field, Value: int32(1)}})
	if err != nil {
		return RowPosition{}, err
	}
	digest := p.Cut
	p.Cut = ""
	if value, array := lookup(doc, order.Field); found && !array {
		if sum := sha256.Sum256(value.Value); string(sum[:]) == digest {
			p.Value = value
			return p, nil
		}
	}
	p.Tie = false // nothing is equal to what follows
	if order.Descending {
		p.Value = textValue(textOf(p.Value) + beyondBeginning)
	}
	return p, nil
}

func textOf(v bson.RawValue) string {
	if s, ok := v.StringValueOK(); ok {
		return s
	}
	s, _ := v.SymbolOK() // only texts are long
	return s
}

func textValue(s string) bson.RawValue {
	_, data, err := bson.MarshalValue(s)
	if err != nil {
		panic(err) // a text always has a form
	}
	return bson.RawValue{Type: bson.TypeString, Value: data}
}
