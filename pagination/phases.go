package pagination

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
)

// Read is one range read. Bounded says that it starts behind Value (ReadValues), ID (ReadNulls, ReadStrays) or both
// (ReadTies); otherwise it starts with its phase.
type Read[V any] struct {
	Kind    ReadKind
	Bounded bool
	Value   V
	ID      ID
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
		if p.After && p.Tie {
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

// Collect runs the reads of a position one after the other until it has n rows or the list ends. fetch answers with
// at most limit rows of one read, in order.
func Collect[V, R any](p Position[V], n int, fetch func(r Read[V], limit int) ([]R, error)) ([]R, error) {
	var rows []R
	for _, read := range p.Reads() {
		missing := n - len(rows)
		if missing <= 0 {
			break
		}
		found, err := fetch(read, missing)
		if err != nil {
			return nil, err
		}
		rows = append(rows, found...)
	}
	return rows, nil
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
