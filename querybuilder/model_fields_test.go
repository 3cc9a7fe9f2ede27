package querybuilder

import (
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// evaluateFields compares fields: both values are there and of the kind, or nothing matches.
func evaluateFields(t require.TestingT, schema Schema, f Field, s spec, doc bson.Raw) bool {
	v := valueAt(doc, f.Name)
	type answer struct{ comparable, result bool }
	with := func(name any, op Operator) answer {
		text, ok := name.(string)
		require.True(t, ok)
		g, ok := schema.Field(text)
		require.True(t, ok)
		w := valueAt(doc, g.Name)
		if v.Type == bson.TypeArray || w.Type == bson.TypeArray {
			return answer{}
		}
		c, ok := compareStored(t, f.Kind, v, w)
		if !ok {
			return answer{}
		}
		switch op {
		case Equal:
			return answer{true, c == 0}
		case NotEqual:
			return answer{true, c != 0}
		case Less:
			return answer{true, c < 0}
		case LessOrEqual:
			return answer{true, c <= 0}
		case Greater:
			return answer{true, c > 0}
		case GreaterOrEqual:
			return answer{true, c >= 0}
		case Contains, BeginsWith, EndsWith:
			return answer{true, hasText(op, v.StringValue(), w.StringValue(), f.FoldCase)}
		default:
			op = map[Operator]Operator{NotContains: Contains, NotBeginsWith: BeginsWith, NotEndsWith: EndsWith}[op]
			return answer{true, !hasText(op, v.StringValue(), w.StringValue(), f.FoldCase)}
		}
	}
	yes := func(name any, op Operator) bool {
		a := with(name, op)
		return a.comparable && a.result
	}
	list := asList(s.value)
	switch s.op {
	case In:
		return slices.ContainsFunc(list, func(name any) bool { return yes(name, Equal) })
	case NotIn:
		return !slices.ContainsFunc(list, func(name any) bool { return !yes(name, NotEqual) })
	case Between:
		a, b := list[0], list[1]
		return yes(a, GreaterOrEqual) && yes(b, LessOrEqual) || yes(b, GreaterOrEqual) && yes(a, LessOrEqual)
	case NotBetween:
		a, b := list[0], list[1]
		return yes(a, Less) && yes(b, Less) || yes(a, Greater) && yes(b, Greater)
	default:
		return yes(s.value, s.op)
	}
}

func compareStored(t require.TestingT, k Kind, v, w bson.RawValue) (int, bool) {
	switch k {
	case Number:
		x, okX := exact(t, v)
		y, okY := exact(t, w)
		if !okX || !okY {
			return 0, false
		}
		return x.Cmp(y), true
	case Date:
		x, okX := v.DateTimeOK()
		y, okY := w.DateTimeOK()
		return int(min(1, max(-1, x-y))), okX && okY
	case Bool:
		x, okX := v.BooleanOK()
		y, okY := w.BooleanOK()
		return map[bool]int{true: 0, false: 1}[x == y], okX && okY
	case ID:
		x, okX := v.ObjectIDOK()
		y, okY := w.ObjectIDOK()
		return strings.Compare(x.Hex(), y.Hex()), okX && okY
	default:
		x, okX := v.StringValueOK()
		y, okY := w.StringValueOK()
		return strings.Compare(x, y), okX && okY
	}
}
