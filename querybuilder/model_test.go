package querybuilder

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// spec is a rule or group as the tests draw it: what both formats write, and what the model of this file evaluates.
// The model shares nothing with the compiler but the numbers of the operators.
type spec struct {
	group   bool
	or, not bool
	kids    []spec

	field string
	op    Operator
	value any // as it stands in JSON
	other bool
}

// names of the operators in the two formats, written out: the tests do not read the compiler's table.
var names = map[Operator][2]string{
	Equal: {"=", "equal"}, NotEqual: {"!=", "not_equal"},
	Less: {"<", "less"}, LessOrEqual: {"<=", "less_or_equal"},
	Greater: {">", "greater"}, GreaterOrEqual: {">=", "greater_or_equal"},
	In: {"in", "in"}, NotIn: {"notIn", "not_in"},
	Between: {"between", "between"}, NotBetween: {"notBetween", "not_between"},
	Contains: {"contains", "contains"}, BeginsWith: {"beginsWith", "begins_with"}, EndsWith: {"endsWith", "ends_with"},
	NotContains: {"doesNotContain", "not_contains"}, NotBeginsWith: {"doesNotBeginWith", "not_begins_with"},
	NotEndsWith: {"doesNotEndWith", "not_ends_with"},
	Null:        {"null", "is_null"}, NotNull: {"notNull", "is_not_null"},
	LastDays: {"last_days_interval", "last_days_interval"}, NextDays: {"next_days_interval", "next_days_interval"},
	Today: {"today", "today"}, Yesterday: {"yesterday", "yesterday"},
	ThisWeek: {"this_week", "this_week"}, LastWeek: {"last_week", "last_week"},
	ThisMonth: {"this_month", "this_month"}, LastMonth: {"last_month", "last_month"},
}

// whole writes the spec as a document: one of jQuery QueryBuilder is a group.
func (s spec) whole(f format) map[string]any {
	if f == jquery && !s.group {
		s = spec{group: true, kids: []spec{s}}
	}
	return s.document(f)
}

// document writes the spec in a format.
func (s spec) document(f format) map[string]any {
	if !s.group {
		out := map[string]any{"field": s.field, "operator": names[s.op][0], "value": s.value}
		if f == jquery {
			out["operator"], out["id"] = names[s.op][1], "some id"
		}
		if s.other {
			out["valueSource"] = "field"
		}
		return out
	}
	word := map[bool]string{false: "and", true: "or"}[s.or]
	out := map[string]any{"not": s.not}
	if f == jquery {
		out["condition"] = strings.ToUpper(word)
	} else {
		out["combinator"] = word
	}
	rules := make([]any, 0, len(s.kids))
	for _, kid := range s.kids {
		rules = append(rules, kid.document(f))
	}
	out["rules"] = rules
	return out
}

// evaluate tells whether a document matches, by the reference's words.
func evaluate(t require.TestingT, schema Schema, s spec, doc bson.Raw, zone *time.Location) bool {
	if s.group {
		result := !s.or || len(s.kids) == 0
		for _, kid := range s.kids {
			if evaluate(t, schema, kid, doc, zone) == s.or {
				result = s.or
				break
			}
		}
		return result != s.not
	}
	f, _ := schema.Field(s.field)
	if s.other {
		return evaluateFields(t, schema, f, s, doc)
	}
	v := valueAt(doc, s.field)
	switch s.op {
	case NotEqual:
		return negated(f, v) && !positive(t, f, Equal, s.value, v, zone)
	case NotIn:
		if len(asList(s.value)) == 0 {
			return true
		}
		return negated(f, v) && !positive(t, f, In, s.value, v, zone)
	case NotContains:
		return negated(f, v) && !positive(t, f, Contains, s.value, v, zone)
	case NotBeginsWith:
		return negated(f, v) && !positive(t, f, BeginsWith, s.value, v, zone)
	case NotEndsWith:
		return negated(f, v) && !positive(t, f, EndsWith, s.value, v, zone)
	case NotNull:
		return !positive(t, f, Null, nil, v, zone)
	default:
		return positive(t, f, s.op, s.value, v, zone)
	}
}

// negated reports whether negated operators look at the value at all. To the database an array with a null in it is
// null, too.
func negated(f Field, v bson.RawValue) bool { return !f.NegationSkipsNull || !isNull(v) }

func isNull(v bson.RawValue) bool {
	return slices.ContainsFunc(append(elements(v), v), func(v bson.RawValue) bool { return v.Type == bson.TypeNull || v.IsZero() })
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

// elements are what a test of an array looks at; a test of anything else looks at the value.
func elements(v bson.RawValue) []bson.RawValue {
	array, ok := v.ArrayOK()
	if !ok {
		return []bson.RawValue{v}
	}
	out, _ := array.Values()
	return out
}

func positive(t require.TestingT, f Field, op Operator, value any, v bson.RawValue, zone *time.Location) bool {
	some := func(test func(v bson.RawValue) bool) bool { return slices.ContainsFunc(elements(v), test) }
	compare := func(value any, accept func(low, high int) bool) bool {
		return some(func(v bson.RawValue) bool {
			low, high, ok := compareWith(t, f.Kind, v, value, zone)
			return ok && accept(low, high)
		})
	}
	switch op {
	case Null:
		return isNull(v)
	case Equal:
		return compare(value, func(low, high int) bool { return low >= 0 && high <= 0 })
	case Less:
		return compare(value, func(low, _ int) bool { return low < 0 })
	case GreaterOrEqual:
		return compare(value, func(low, _ int) bool { return low >= 0 })
	case LessOrEqual:
		return compare(value, func(_, high int) bool { return high <= 0 })
	case Greater:
		return compare(value, func(_, high int) bool { return high > 0 })
	case In:
		return slices.ContainsFunc(asList(value), func(item any) bool { return positive(t, f, Equal, item, v, zone) })
	case Between, NotBetween:
		bounds := asList(value)
		if reversed(t, f.Kind, bounds, zone) {
			bounds = []any{bounds[1], bounds[0]}
		}
		if op == Between {
			return positive(t, f, GreaterOrEqual, bounds[0], v, zone) && positive(t, f, LessOrEqual, bounds[1], v, zone)
		}
		return positive(t, f, Less, bounds[0], v, zone) || positive(t, f, Greater, bounds[1], v, zone)
	case Contains, BeginsWith, EndsWith:
		want, _ := value.(string)
		return some(func(v bson.RawValue) bool {
			s, ok := v.StringValueOK()
			return ok && hasText(op, s, want, f.FoldCase)
		})
	default:
		from, until := window(op, value, zone)
		return some(func(v bson.RawValue) bool {
			ms, ok := v.DateTimeOK()
			return ok && !time.UnixMilli(ms).Before(from) && time.UnixMilli(ms).Before(until)
		})
	}
}

func hasText(op Operator, s, want string, fold bool) bool {
	if fold {
		s, want = strings.ToLower(s), strings.ToLower(want)
	}
	return map[Operator]func(s, want string) bool{
		Contains: strings.Contains, BeginsWith: strings.HasPrefix, EndsWith: strings.HasSuffix,
	}[op](s, want)
}

func valueAt(doc bson.Raw, path string) bson.RawValue { return doc.Lookup(strings.Split(path, ".")...) }

// compareWith compares a stored value with the two ends of a rule's value, which differ for a day only. It reports false
// for a value of another type.
func compareWith(t require.TestingT, k Kind, v bson.RawValue, value any, zone *time.Location) (low, high int, ok bool) {
	switch k {
	case Number:
		x, ok := exact(t, v)
		if !ok {
			return 0, 0, false
		}
		c := x.Cmp(rat(t, value))
		return c, c, true
	case Date:
		ms, ok := v.DateTimeOK()
		if !ok {
			return 0, 0, false
		}
		first, last := day(t, value, zone)
		return time.UnixMilli(ms).Compare(first), time.UnixMilli(ms).Compare(last), true
	case Bool:
		b, ok := v.BooleanOK()
		same := ok && (value == b || value == map[bool]any{true: "true", false: "false"}[b])
		return 0, map[bool]int{true: 0, false: 1}[same], ok
	case ID:
		id, ok := v.ObjectIDOK()
		text, _ := value.(string)
		c := strings.Compare(id.Hex(), strings.ToLower(text))
		return c, c, ok
	default:
		s, ok := v.StringValueOK()
		text, _ := value.(string)
		c := strings.Compare(s, text)
		return c, c, ok
	}
}

func reversed(t require.TestingT, k Kind, bounds []any, zone *time.Location) bool {
	switch k {
	case Number:
		return rat(t, bounds[0]).Cmp(rat(t, bounds[1])) > 0
	case Date:
		first, _ := day(t, bounds[0], zone)
		_, last := day(t, bounds[1], zone)
		return first.After(last)
	default:
		a, okA := bounds[0].(string)
		b, okB := bounds[1].(string)
		require.True(t, okA && okB)
		return a > b
	}
}

func day(t require.TestingT, value any, zone *time.Location) (first, last time.Time) {
	text, _ := value.(string)
	if start, err := time.ParseInLocation("2006-01-02", text, zone); err == nil {
		return start, start.AddDate(0, 0, 1).Add(-time.Millisecond)
	}
	moment, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return moment, moment
}

func rat(t require.TestingT, value any) *big.Rat {
	text, ok := value.(string)
	if l, isLiteral := value.(literal); isLiteral {
		text, ok = string(l), true
	}
	require.True(t, ok, "%v", value)
	if strings.Contains(text, ".") { // what is not whole is a float64 to the database
		f, ok := new(big.Float).SetPrec(53).SetString(text)
		require.True(t, ok)
		r, _ := f.Rat(nil)
		return r
	}
	r, ok := new(big.Rat).SetString(text)
	require.True(t, ok)
	return r
}

func exact(t require.TestingT, v bson.RawValue) (*big.Rat, bool) {
	switch v.Type {
	case bson.TypeInt32, bson.TypeInt64:
		return new(big.Rat).SetInt64(v.AsInt64()), true
	case bson.TypeDouble:
		if f := v.Double(); math.IsNaN(f) {
			return nil, false
		} else if math.IsInf(f, 0) { // beyond every other number here
			beyond := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(400), nil))
			return beyond.Mul(beyond, big.NewRat(int64(math.Copysign(1, f)), 1)), true
		}
		return new(big.Rat).SetFloat64(v.Double()), true
	case bson.TypeDecimal128:
		if v.Decimal128().IsNaN() {
			return nil, false
		}
		r, ok := new(big.Rat).SetString(v.Decimal128().String())
		require.True(t, ok)
		return r, true
	default:
		return nil, false
	}
}

func window(op Operator, value any, zone *time.Location) (from, until time.Time) {
	here := now.In(zone)
	today := time.Date(here.Year(), here.Month(), here.Day(), 0, 0, 0, 0, zone)
	monday := today.AddDate(0, 0, -2) // now is a Wednesday
	first := today.AddDate(0, 0, 1-today.Day())
	n, ok := value.(int)
	if !ok {
		n = 30
	}
	switch op {
	case LastDays:
		return now.Add(-time.Duration(n) * 24 * time.Hour), now.AddDate(1000, 0, 0)
	case NextDays:
		return now, now.Add(time.Duration(n)*24*time.Hour + time.Millisecond)
	case Yesterday:
		return today.AddDate(0, 0, -1), today
	case ThisWeek:
		return monday, monday.AddDate(0, 0, 7)
	case LastWeek:
		return monday.AddDate(0, 0, -7), monday
	case ThisMonth:
		return first, first.AddDate(0, 1, 0)
	case LastMonth:
		return first.AddDate(0, -1, 0), first
	default:
		return today, today.AddDate(0, 0, 1)
	}
}
