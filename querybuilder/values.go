package querybuilder

import (
	"bytes"
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/instant"
)

// operand is a value of a rule, converted by the kind of its field: a string, int64, float64, bool, bson.ObjectID or
// span.
type operand any

// span is a date: a moment, or the whole of a day in a zone.
type span struct {
	from  bson.DateTime
	until bson.DateTime // of a day: the first moment behind it
	day   bool
}

// reader converts values by the kind of a field.
type reader struct {
	field Field
	zone  *time.Location
}

// read converts one value. A list of one stands for its item.
func (r reader) read(v value) (operand, error) {
	if v.kind == list && len(v.items) == 1 {
		v = v.items[0]
	}
	switch r.field.Kind {
	case Number:
		return readNumber(v)
	case Date:
		return r.date(v)
	case Bool:
		return readBool(v)
	default:
		return r.text(v)
	}
}

// text reads the values of the kinds that are texts outside.
func (r reader) text(v value) (operand, error) {
	if v.kind != text {
		return nil, errors.New("must be a text, not " + v.describe())
	}
	switch {
	case r.field.Kind == ID:
		return readID(v.text)
	case r.field.Kind == Enum && !slices.Contains(r.field.Values, v.text):
		return nil, errors.New("must be one of " + strings.Join(r.field.Values, ", ") + ", not " + v.describe())
	}
	return v.text, nil
}

func readNumber(v value) (operand, error) {
	if v.kind != number && v.kind != text {
		return nil, errors.New("must be a number, not " + v.describe())
	}
	n, err := parseNumber(v.text)
	switch {
	case errors.Is(err, errTooLarge):
		return nil, errors.New("is too large for a number: " + v.describe())
	case err != nil:
		return nil, errors.New("must be a number, not " + v.describe())
	}
	return n, nil
}

func readBool(v value) (operand, error) {
	if (v.kind == boolean || v.kind == text) && (v.text == "true" || v.text == "false") {
		return v.text == "true", nil
	}
	return nil, errors.New("must be true or false, not " + v.describe())
}

func readID(s string) (operand, error) {
	id, err := bson.ObjectIDFromHex(s)
	if err != nil {
		return nil, errors.New("must be 24 hexadecimal digits, not " + quote(s))
	}
	return id, nil
}

var dateOnly = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

func (r reader) date(v value) (operand, error) {
	mistake := errors.New("must be a date such as 2026-01-31 or a time such as 2026-01-31T12:00:00Z, not " + v.describe())
	switch {
	case v.kind != text:
		return nil, mistake
	case dateOnly.MatchString(v.text):
		day, err := time.Parse(time.DateOnly, v.text)
		if err != nil || day.Year() < 1 {
			return nil, mistake
		}
		return daySpan(day.Year(), day.Month(), day.Day(), r.zone), nil
	}
	at, err := instant.Parse(v.text)
	if err != nil {
		return nil, mistake
	}
	return span{from: bson.DateTime(at.Millis()), until: bson.DateTime(at.Millis())}, nil
}

// days reads the number of days of a relative operator.
func readDays(v value) (int, error) {
	if v.kind == list && len(v.items) == 1 {
		v = v.items[0]
	}
	if v.kind == number || v.kind == text {
		if n, err := parseNumber(v.text); err == nil {
			if days, whole := n.(int64); whole && days >= 1 && days <= maxDays {
				return int(days), nil
			}
		}
	}
	return 0, errors.New("must be a whole number of days from 1 to " + strconv.Itoa(maxDays) + ", not " + v.describe())
}

// compareOperands orders two values of one field.
func compareOperands(a, b operand) int {
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			return cmp.Compare(x, y) // by bytes, as the database does
		}
	case bson.DateTime:
		if y, ok := b.(bson.DateTime); ok {
			return cmp.Compare(x, y)
		}
	case bson.ObjectID:
		if y, ok := b.(bson.ObjectID); ok {
			return bytes.Compare(x[:], y[:])
		}
	}
	return compareNumbers(a, b)
}
