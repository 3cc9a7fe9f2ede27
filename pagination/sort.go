package pagination

import "strings"

// Kind is the type that a sort field is declared to have. Values of the kind are ordered; values of other types
// ("strays") are served behind them.
type Kind int

// The kinds of sort fields.
const (
	Number Kind = iota + 1
	String
	Date
)

// Sort is a field that a list may be ordered by: the stored name, which is the name outside too.
type Sort struct {
	Field string
	Kind  Kind
}

// Order is a sort with its direction. The tie-break by _id takes the direction of the field.
type Order struct {
	Sort
	Descending bool
}

// Asc orders by s from the lowest value to the highest.
func Asc(s Sort) Order { return Order{Sort: s} }

// Desc orders by s from the highest value to the lowest.
func Desc(s Sort) Order { return Order{Sort: s, Descending: true} }

// String writes the order as clients do: "field" ascends, "-field" descends.
func (o Order) String() string {
	if o.Descending {
		return "-" + o.Field
	}
	return o.Field
}

// direction is 1 or -1, as sort documents have it.
func (o Order) direction() int32 {
	if o.Descending {
		return -1
	}
	return 1
}

// Sorts are the fields that a list may be ordered by, each in both directions.
type Sorts []Sort

// Parse finds the order that s names. It reports false where the list has none of that name.
func (s Sorts) Parse(text string) (Order, bool) {
	field, descending := strings.CutPrefix(text, "-")
	for _, sort := range s {
		if sort.Field == field {
			return Order{Sort: sort, Descending: descending}, true
		}
	}
	return Order{}, false
}

// Allowed lists every accepted order as clients write it.
func (s Sorts) Allowed() []string {
	out := make([]string, 0, 2*len(s))
	for _, sort := range s {
		out = append(out, Asc(sort).String(), Desc(sort).String())
	}
	return out
}
