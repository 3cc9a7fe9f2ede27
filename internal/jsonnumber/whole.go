// Package jsonnumber reads numbers in JSON's grammar to the last digit.
package jsonnumber

import (
	"strconv"
	"strings"
)

// maxExponent is beyond every exponent that an int64 can have with as many digits as a text may have.
const maxExponent = 400

// Whole writes a number in JSON's grammar without fraction and exponent, by moving digits: a float64 would lose
// some. It reports false where the number is not whole, or far too large.
func Whole(literal string) (string, bool) {
	mantissa, exponent := literal, "0"
	if i := strings.IndexAny(literal, "eE"); i >= 0 {
		mantissa, exponent = literal[:i], literal[i+1:]
	}
	sign := ""
	if strings.HasPrefix(mantissa, "-") {
		sign, mantissa = "-", mantissa[1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	fraction = strings.TrimRight(fraction, "0")
	all := strings.TrimLeft(whole+fraction, "0")
	if all == "" {
		return "0", true
	}
	shift, err := strconv.Atoi(exponent)
	if err != nil || shift > maxExponent || shift < -maxExponent {
		return "", false
	}
	shift -= len(fraction)
	if shift >= 0 {
		return sign + all + strings.Repeat("0", shift), true
	}
	if len(all)-len(strings.TrimRight(all, "0")) < -shift {
		return "", false
	}
	return sign + all[:len(all)+shift], true
}
