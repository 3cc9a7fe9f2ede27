package querybuilder

import (
	"math"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// pair compares two fields of one document. Both must have values of the declared kind.
type pair struct {
	left, right string
	op          Operator // Equal, NotEqual, Less, LessOrEqual, or one of text
	kind        Kind
	fold        bool
}

// pairOf writes a comparison of two fields in its one form: a > b is b < a, and a = b is b = a.
func pairOf(op Operator, left, right Field) test {
	p := pair{left: left.Name, right: right.Name, op: op, kind: left.Kind}
	switch op {
	case Greater, GreaterOrEqual:
		p.left, p.right = p.right, p.left
		p.op = map[Operator]Operator{Greater: Less, GreaterOrEqual: LessOrEqual}[op]
	case Equal, NotEqual:
		p.left, p.right = min(p.left, p.right), max(p.left, p.right)
	case Less, LessOrEqual:
	default:
		p.fold = left.FoldCase
	}
	return p
}

// compile guards the comparison with the types: what fails on a number is not reached with one.
func (p pair) compile(time.Time) bson.D {
	left, right := "$"+p.left, "$"+p.right
	guard := append(p.guard(left), p.guard(right)...)
	return bson.D{{Key: "$expr", Value: expr("$cond", expr("$and", guard...), p.compare(left, right), false)}}
}

// guard asks for a value of the kind. NaN is none: it is less than every number to an expression.
func (p pair) guard(path string) bson.A {
	switch p.kind {
	case Number:
		return bson.A{call1("$isNumber", path), expr("$gte", path, math.Inf(-1))}
	case Date:
		return bson.A{ofType(path, "date")}
	case Bool:
		return bson.A{ofType(path, "bool")}
	case ID:
		return bson.A{ofType(path, "objectId")}
	default:
		return bson.A{ofType(path, "string")}
	}
}

func (p pair) compare(left, right any) bson.D {
	if p.fold {
		left, right = call1("$toLower", left), call1("$toLower", right)
	}
	switch p.op {
	case Equal:
		return expr("$eq", left, right)
	case NotEqual:
		return expr("$ne", left, right)
	case Less:
		return expr("$lt", left, right)
	case LessOrEqual:
		return expr("$lte", left, right)
	case Contains:
		return expr("$gte", expr("$indexOfCP", left, right), int32(0))
	case NotContains:
		return expr("$lt", expr("$indexOfCP", left, right), int32(0))
	case BeginsWith:
		return expr("$eq", expr("$indexOfCP", left, right), int32(0))
	case NotBeginsWith:
		return expr("$ne", expr("$indexOfCP", left, right), int32(0))
	case EndsWith:
		return expr("$cond", longer(left, right), expr("$eq", tail(left, right), right), false)
	default: // NotEndsWith
		return expr("$cond", longer(left, right), expr("$ne", tail(left, right), right), true)
	}
}

func longer(left, right any) bson.D {
	return expr("$gte", call1("$strLenCP", left), call1("$strLenCP", right))
}

// tail is the end of left that is as long as right.
func tail(left, right any) bson.D {
	length := call1("$strLenCP", right)
	return expr("$substrCP", left, expr("$subtract", call1("$strLenCP", left), length), length)
}

func expr(operator string, args ...any) bson.D { return bson.D{{Key: operator, Value: bson.A(args)}} }

func call1(operator string, arg any) bson.D { return bson.D{{Key: operator, Value: arg}} }

func ofType(path, name string) bson.D { return expr("$eq", call1("$type", path), name) }

func (p pair) key() string {
	name := "fields-" + p.op.info().react
	if p.fold {
		name += "-fold"
	}
	return call(name, strconv.Quote(p.left), strconv.Quote(p.right))
}

func (pair) condition() (Condition, bool) { return Condition{}, false }
