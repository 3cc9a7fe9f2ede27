package pagination

import "errors"

// A list is walked in phases that are always in this sequence, whatever the direction: rows with a value by
// (value, id), rows without one by id, and rows whose value is of a type that the sort is not declared for by id.
// Null never becomes a sentinel value: a sentinel collides with a real value sooner or later.
//
// This file knows nothing of databases. V is the type of a sort value, R that of a row.

// Phase is one of the three parts of a list.
type Phase int32

// The phases, in the order in which they are walked.
const (
	Values Phase = iota + 1
	Nulls
	Strays
)

// ID is a row's identity, the tie-break of every order.
type ID = [12]byte

// Key is the place of a row in a list.
type Key[V any] struct {
	Phase Phase
	Value V // in Values alone
	ID    ID
}

// Position is the place where a page begins.
type Position[V any] struct {
	Phase Phase
	// After says that the rows of the phase up to (Value, ID), and that one, are behind. Without it the page
	// begins with the phase.
	After bool
	Value V
	ID    ID
	// Tie says that the next row may have the same Value. Where it is false, no row that was there when the
	// position was made is tied, and the read for ties is saved.
	Tie bool
	// Passed is how many rows up to this one have the same Value, where the tie is known to begin with them; else 0. One
	// read from the beginning of the tie then serves the page, where the rest of the tie and what lies beyond take two.
	Passed int
	// Cut is set where Value is only the beginning of a longer one: a digest of the whole.
	Cut string
}

// Start is the position of a list's first page.
func Start[V any]() Position[V] { return Position[V]{Phase: Values} }

// ReadKind tells the four forms of range reads apart.
type ReadKind int

// The reads. Each is one range of one index.
const (
	ReadTies   ReadKind = iota + 1 // value equal to Value, id beyond ID
	ReadValues                     // value beyond Value, or every value
	ReadNulls                      // no value, id beyond ID, or every id
	ReadStrays                     // value of a type not declared, id beyond ID, or every id
	ReadFrom                       // value equal to Value or beyond it, Passed rows of it up to ID
)

// Read is one range read. Bounded says that it starts behind Value (ReadValues), ID (ReadNulls, ReadStrays) or both
// (ReadTies), or with Value (ReadFrom); otherwise it starts with its phase.
type Read[V any] struct {
	Kind    ReadKind
	Bounded bool
	Value   V
	ID      ID
	Passed  int // rows to ask for beyond those that are wanted
}

// Phase is the phase that the rows of the read belong to.
func (r Read[V]) Phase() Phase {
	switch r.Kind {
	case ReadNulls:
		return Nulls
	case ReadStrays:
		return Strays
	default:
		return Values
	}
}

// Reads lists the reads that together give every row from p on, in the list's order.
func (p Position[V]) Reads() []Read[V] {
	reads := make([]Read[V], 0, 4)
	switch p.Phase {
	case Values:
		tied := p.After && p.Tie
		if tied && p.Passed > 0 {
			return append(reads,
				Read[V]{Kind: ReadFrom, Bounded: true, Value: p.Value, ID: p.ID, Passed: p.Passed},
				Read[V]{Kind: ReadNulls}, Read[V]{Kind: ReadStrays})
		}
		if tied {
			reads = append(reads, Read[V]{Kind: ReadTies, Bounded: true, Value: p.Value, ID: p.ID})
		}
		reads = append(reads,
			Read[V]{Kind: ReadValues, Bounded: p.After, Value: p.Value}, Read[V]{Kind: ReadNulls}, Read[V]{Kind: ReadStrays})
	case Nulls:
		reads = append(reads, Read[V]{Kind: ReadNulls, Bounded: p.After, ID: p.ID}, Read[V]{Kind: ReadStrays})
	case Strays:
		reads = append(reads, Read[V]{Kind: ReadStrays, Bounded: p.After, ID: p.ID})
	}
	return reads
}

// ErrOvertaken says that a ReadFrom did not show where its position is: rows came into the tie before it, or their
// values cannot be told apart for certain. Collect then makes the two reads that need not know.
var ErrOvertaken = errors.New("the position is not where the tie's beginning says")

// Collect runs the reads of a position one after the other until it has n rows or the list ends. fetch answers with
// at most limit rows of one read, in order; of a ReadFrom with what Behind makes of it.
func Collect[V, R any](p Position[V], n int, fetch func(r Read[V], limit int) ([]R, error)) ([]R, error) {
	var rows []R
	for _, read := range p.Reads() {
		missing := n - len(rows)
		if missing <= 0 {
			break
		}
		found, err := fetch(read, missing)
		if p.Passed > 0 && errors.Is(err, ErrOvertaken) {
			return Collect(p.careful(), n, fetch)
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, found...)
	}
	return rows, nil
}

// careful is the position without what it knows of its tie.
func (p Position[V]) careful() Position[V] {
	p.Passed = 0
	return p
}

// Side is where a row lies in regard to a position.
type Side int

// The sides. A row is of an unclear side where its value may or may not be equal to the position's.
const (
	UpTo Side = iota
	Beyond
	Unclear
)

// Behind keeps the rows of a ReadFrom that lie behind its position, at most limit. rows are all that there are, or as many as
// were asked for, which has to be limit and the read's Passed.
func Behind[V, R any](read Read[V], rows []R, limit int, side func(row R) Side) ([]R, error) {
	exhausted := len(rows) < limit+read.Passed
	for len(rows) > 0 {
		where := side(rows[0])
		if where == Unclear {
			return nil, ErrOvertaken
		}
		if where == Beyond {
			break
		}
		rows = rows[1:]
	}
	if len(rows) < limit && !exhausted {
		return nil, ErrOvertaken
	}
	return rows[:min(limit, len(rows))], nil
}

// Passed counts the last rows of a page that have one value. It is 0 where rows before the page may have it too. equal and
// mayTie report whether two values are equal in the list's order: where they cannot tell, equal must say no and mayTie yes.
func Passed[V, R any](page []R, value func(row R) V, equal, mayTie func(a, b V) bool) int {
	last := value(page[len(page)-1])
	for n := 1; n < len(page); n++ {
		before := value(page[len(page)-1-n])
		switch {
		case equal(before, last):
		case mayTie(before, last):
			return 0
		default:
			return n
		}
	}
	return 0
}

// Next is the position behind last, the last row served, where leftOut is the first row that was not. mayTie reports
// whether two values may be equal in the list's order; where it cannot tell it must say yes, which costs a read
// and never a row.
func Next[V any](last, leftOut Key[V], mayTie func(a, b V) bool) Position[V] {
	if leftOut.Phase != last.Phase {
		return Position[V]{Phase: leftOut.Phase}
	}
	p := Position[V]{Phase: last.Phase, After: true, ID: last.ID}
	if last.Phase == Values {
		p.Value = last.Value
		p.Tie = mayTie(last.Value, leftOut.Value)
	}
	return p
}
