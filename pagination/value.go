package pagination

import (
	"bytes"
	"math"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// RowPosition is a position among stored rows: values keep their BSON type and every bit.
type RowPosition = Position[bson.RawValue]

// RowKey is the place of a stored row.
type RowKey = Key[bson.RawValue]

// holds reports whether values of type t are of the kind. Each kind is one bracket of BSON's comparison order.
func (k Kind) holds(t bson.Type) bool {
	switch k {
	case Number:
		return t == bson.TypeDouble || t == bson.TypeInt32 || t == bson.TypeInt64 || t == bson.TypeDecimal128
	case String:
		return t == bson.TypeString || t == bson.TypeSymbol
	case Date:
		return t == bson.TypeDateTime
	default:
		return false
	}
}

// lowest is the least value of the kind: `$gte` it selects the whole bracket. NaN is below -Infinity and answers to
// no comparison, so it counts as a stray.
func (k Kind) lowest() any {
	switch k {
	case Number:
		return math.Inf(-1)
	case String:
		return ""
	default:
		return bson.DateTime(math.MinInt64)
	}
}

// mayTie reports whether two values of one bracket may be equal in the database's order. Numbers of different types
// can be equal (5 and 5.0), and Decimal128 has many spellings of one number: there the answer is a cautious yes.
func mayTie(a, b bson.RawValue) bool {
	if isText(a) || a.Type == bson.TypeDateTime {
		return bytes.Equal(a.Value, b.Value)
	}
	if x, ok := a.AsInt64OK(); ok && isInteger(a) {
		if y, ok := b.AsInt64OK(); ok && isInteger(b) {
			return x == y
		}
	}
	x, okA := asFloat(a)
	y, okB := asFloat(b)
	// An integer rounds to the nearest double: different doubles are different numbers, equal ones may be equal.
	return !okA || !okB || x == y
}

// PositionBehind is the position behind a page of rows, where leftOut is the first row that is not on it.
func PositionBehind[R any](page []R, leftOut R, key func(row R) RowKey) RowPosition {
	p := Next(key(page[len(page)-1]), key(leftOut), mayTie)
	if p.Tie {
		p.Passed = Passed(page, func(row R) bson.RawValue { return key(row).Value }, identical, mayTie)
	}
	return p
}

// identical reports whether two values are the same to the bit, and so equal in the database's order.
func identical(a, b bson.RawValue) bool { return a.Type == b.Type && bytes.Equal(a.Value, b.Value) }

// side tells where a row lies in regard to the position of a read.
func (o Order) side(read Read[bson.RawValue], key RowKey) Side {
	switch {
	case identical(key.Value, read.Value):
		if (bytes.Compare(key.ID[:], read.ID[:]) > 0) != o.Descending && key.ID != read.ID {
			return Beyond
		}
		return UpTo
	case mayTie(key.Value, read.Value):
		return Unclear
	default:
		return Beyond
	}
}

func isText(v bson.RawValue) bool { return v.Type == bson.TypeString || v.Type == bson.TypeSymbol }

func isInteger(v bson.RawValue) bool { return v.Type == bson.TypeInt32 || v.Type == bson.TypeInt64 }

func asFloat(v bson.RawValue) (float64, bool) {
	if isInteger(v) {
		i, ok := v.AsInt64OK()
		return float64(i), ok
	}
	return v.DoubleOK()
}

// lookup finds the value at a dotted path. array reports that an array stands on the path, its end included: such a
// row has many index entries or none, and no place in the order.
func lookup(doc bson.Raw, path string) (value bson.RawValue, array bool) {
	for {
		name, rest, nested := strings.Cut(path, ".")
		v, err := doc.LookupErr(name)
		if err != nil {
			return bson.RawValue{}, false
		}
		if v.Type == bson.TypeArray {
			return v, true
		}
		if !nested {
			return v, false
		}
		sub, ok := v.DocumentOK()
		if !ok {
			return bson.RawValue{}, false
		}
		doc, path = sub, rest
	}
}
