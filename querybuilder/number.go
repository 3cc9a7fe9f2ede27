package querybuilder

import (
	"cmp"
	"errors"
	"math"
	"strconv"
	"strings"

	"catalogue/internal/jsonnumber"
)

// isNumber reports whether s is a number in JSON's grammar, the only form that is read, quoted or not: no +, hex,
// leading zero, underscore, Inf or NaN.
func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole := digits(s)
	if whole == 0 || (whole > 1 && s[0] == '0') {
		return false
	}
	s = s[whole:]
	if strings.HasPrefix(s, ".") {
		fraction := digits(s[1:])
		if fraction == 0 {
			return false
		}
		s = s[1+fraction:]
	}
	if s == "" {
		return true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && digits(s) == len(s)
}

// digits is how many digits s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

var (
	errNoNumber = errors.New("is no number")
	errTooLarge = errors.New("is too large for a number")
)

// parseNumber reads a number: an int64 where it is a whole number that fits, exact to the last digit, else a float64.
// One number has one result, however it is written.
func parseNumber(s string) (any, error) {
	if !isNumber(s) {
		return nil, errNoNumber
	}
	if whole, ok := jsonnumber.Whole(s); ok {
		if v, err := strconv.ParseInt(whole, 10, 64); err == nil {
			return v, nil
		}
		if !strings.ContainsAny(s, ".eE") {
			return nil, errTooLarge // written to the last digit, which a float64 would lose
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) {
		return nil, errTooLarge
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<63 {
		return int64(f), nil
	}
	return f, nil
}

// compareNumbers orders two results of parseNumber. Those that are no int64 have a fraction, so lie where float64 has
// every whole number, or lie outside the int64: as float64 the two compare right.
func compareNumbers(a, b any) int {
	x, okX := a.(int64)
	y, okY := b.(int64)
	if okX && okY {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(toFloat(a), toFloat(b))
}

func toFloat(v any) float64 {
	switch n := v.(type) {
	case int64:
		return float64(n)
	case float64:
		return n
	default:
		return 0
	}
}
