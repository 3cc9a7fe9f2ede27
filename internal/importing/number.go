package importing

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"catalogue/internal/importing/cell"
	"catalogue/internal/jsonnumber"
)

// numberFormat is how a file writes numbers: its decimal sign and its thousands sign, "" where it has none.
type numberFormat struct {
	decimal   string
	thousands string
}

var (
	wholePart    = regexp.MustCompile(`^-?\d+$`)
	fractionPart = regexp.MustCompile(`^\d+$`)
)

// plain turns a number as the file writes it into -digits.digits, the only form that is read: no +, exponent, hex,
// underscore, space, Inf or NaN, and a thousands sign only between groups of three.
func (f numberFormat) plain(s string) (string, error) {
	whole, fraction, hasFraction := s, "", false
	if f.decimal != "" {
		whole, fraction, hasFraction = strings.Cut(s, f.decimal)
	}
	if f.thousands != "" && strings.Contains(whole, f.thousands) {
		groups := strings.Split(strings.TrimPrefix(whole, "-"), f.thousands)
		for i, group := range groups {
			if len(group) > 3 || len(group) == 0 || (i > 0 && len(group) != 3) {
				return "", fmt.Errorf("%s is no plain decimal number: its groups are not of three digits", cell.Quote(s))
			}
		}
		whole = strings.ReplaceAll(whole, f.thousands, "")
	}
	// Each part is checked by itself: a point that is no sign of this file must not become one.
	if !wholePart.MatchString(whole) || (hasFraction && !fractionPart.MatchString(fraction)) {
		return "", fmt.Errorf("%s is no plain decimal number", cell.Quote(s))
	}
	if hasFraction {
		return whole + "." + fraction, nil
	}
	return whole, nil
}

// number reads a cell as a float64.
func (f numberFormat) number(c cell.Cell) (float64, error) {
	text := c.Text
	switch c.Kind {
	case cell.Text:
		var err error
		if text, err = f.plain(text); err != nil {
			return 0, err
		}
	case cell.Number: // JSON's grammar is checked already; 1e3 is a number there
	default:
		return 0, fmt.Errorf("%s is no number", describe(c))
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%s is too large for a number", cell.Quote(c.Text))
	}
	return v + 0, nil // -0 + 0 is 0
}

// integer reads a cell as an int64, exactly: 1.0 and 1e3 are integers in JSON, 1.5 is none.
func (f numberFormat) integer(c cell.Cell) (int64, error) {
	switch c.Kind {
	case cell.Text:
		text, err := f.plain(c.Text)
		if err != nil || strings.Contains(text, ".") {
			return 0, fmt.Errorf("%s is no plain whole number", cell.Quote(c.Text))
		}
		return parseInteger(text, c.Text)
	case cell.Number:
		text, whole := jsonnumber.Whole(c.Text)
		if !whole {
			return 0, fmt.Errorf("%s is no whole number of 64 bits", cell.Quote(c.Text))
		}
		return parseInteger(text, c.Text)
	default:
		return 0, fmt.Errorf("%s is no whole number", describe(c))
	}
}

func parseInteger(text, original string) (int64, error) {
	v, err := strconv.ParseInt(text, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%s is outside the 64-bit integers", cell.Quote(original))
	}
	if err != nil {
		return 0, fmt.Errorf("%s is no whole number", cell.Quote(original))
	}
	return v, nil
}
