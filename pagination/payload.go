package pagination

import (
	"go.mongodb.org/mongo-driver/v2/bson"
)

// payload is the stored form of a cursor. Names are short because the text goes into every URL.
type payload struct {
	Version  int32          `bson:"v"`
	List     string         `bson:"l"`
	Entity   string         `bson:"e,omitempty"`
	Order    string         `bson:"o"`
	Filter   string         `bson:"q,omitempty"`
	Now      int64          `bson:"n,omitempty"`
	Position cursorPosition `bson:"p"`
}

// cursorPosition is the stored form of a position.
type cursorPosition struct {
	Phase int32          `bson:"p"`
	ID    *bson.ObjectID `bson:"i,omitempty"` // absent at the start of a phase
	Value *bson.RawValue `bson:"x,omitempty"` // in the values phase, with ID
	Tie   bool           `bson:"t,omitempty"`
	// Passed came later: servers that do not know it make two reads.
	Passed int    `bson:"s,omitempty"` // with Tie, at most MaxLimit
	Cut    []byte `bson:"c,omitempty"` // with Value
}

func toPayload(c Cursor) payload {
	return payload{
		Version: cursorVersion, List: c.scope.List, Entity: c.scope.Entity, Order: c.order,
		Filter: c.filter, Now: c.now, Position: positionOf(c.position),
	}
}

func positionOf(p RowPosition) cursorPosition {
	out := cursorPosition{Phase: int32(p.Phase), Tie: p.Tie, Passed: p.Passed}
	if p.After {
		out.ID = new(bson.ObjectID(p.ID))
		if p.Phase == Values {
			out.Value, out.Cut = &p.Value, []byte(p.Cut)
		}
	}
	return out
}

// fromPayload reads a payload whose signature was right. It still checks every part: the key may be shared with a
// later version that knows more.
func fromPayload(data []byte) (Cursor, error) {
	var in payload
	if err := bson.Unmarshal(data, &in); err != nil || in.Version != cursorVersion || in.List == "" || in.Order == "" {
		return Cursor{}, ErrCursorMalformed
	}
	p := RowPosition{
		Phase: Phase(in.Position.Phase), Tie: in.Position.Tie, Passed: in.Position.Passed, After: in.Position.ID != nil,
	}
	if p.Phase < Values || p.Phase > Strays || (in.Position.Value != nil) != (p.After && p.Phase == Values) || !in.Position.passedFits() {
		return Cursor{}, ErrCursorMalformed
	}
	if p.After {
		p.ID = *in.Position.ID
	}
	if in.Position.Value != nil {
		p.Value, p.Cut = *in.Position.Value, string(in.Position.Cut)
	}
	return Cursor{
		scope: Scope{List: in.List, Entity: in.Entity}, order: in.Order,
		filter: in.Filter, now: in.Now, position: p,
	}, nil
}

// passedFits: there is something to have passed, and no more than a page.
func (p cursorPosition) passedFits() bool {
	return p.Passed == 0 || p.Passed > 0 && p.Passed <= MaxLimit && p.Tie && p.Value != nil && p.Cut == nil
}
