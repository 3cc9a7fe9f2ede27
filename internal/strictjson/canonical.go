package strictjson

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// maxExponent bounds the exponents that are computed with, in digits: their sums fit an int64.
const maxExponent = 18

// Canonical writes the value in one way for one meaning: names sorted, numbers by their value, texts by their
// characters. It is JSON again, and its own canonical form. What no decoder takes stands as it was written, so that it is
// told apart from what they do take: texts that are none, repeated members, what is nested too deep, and numbers with an
// exponent of more than 18 digits.
func (v Value) Canonical() []byte {
	var out bytes.Buffer
	v.canonical(&out)
	return out.Bytes()
}

func (v Value) canonical(out *bytes.Buffer) {
	if v.flaw != sound {
		out.WriteString(v.literal)
		return
	}
	switch v.kind {
	case absent:
	case null:
		out.WriteString("null")
	case boolean:
		out.WriteString(v.literal)
	case number:
		out.WriteString(canonicalNumber(v.literal))
	case text:
		writeText(out, v.literal)
	case array:
		out.WriteByte('[')
		for i, item := range v.inside.values {
			separate(out, i)
			item.canonical(out)
		}
		out.WriteByte(']')
	case object:
		v.canonicalObject(out)
	}
}

func (v Value) canonicalObject(out *bytes.Buffer) {
	out.WriteByte('{')
	for i, name := range slices.Sorted(slices.Values(v.inside.names)) {
		separate(out, i)
		writeText(out, name)
		out.WriteByte(':')
		v.inside.values[v.inside.index[name]].canonical(out)
	}
	for i, w := range v.inside.wrong {
		separate(out, i+len(v.inside.names))
		if w.flaw == repeated {
			writeText(out, w.name)
		} else {
			out.WriteString(`"` + w.name + `"`)
		}
		out.WriteByte(':')
		w.value.canonical(out)
	}
	out.WriteByte('}')
}

func separate(out *bytes.Buffer, i int) {
	if i > 0 {
		out.WriteByte(',')
	}
}

func writeText(out *bytes.Buffer, s string) {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)             // a text can always be written
	out.Truncate(out.Len() - 1) // the encoder's line feed
}

// canonicalNumber writes a number as the shortest whole mantissa and an exponent: 15e-1 for 1.5, 1e3 for 1000.
func canonicalNumber(literal string) string {
	mantissa, exponent := strings.ToLower(literal), "0"
	if before, after, ok := strings.Cut(mantissa, "e"); ok {
		mantissa, exponent = before, after
	}
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(digits, "0")
	if short == "" {
		return "0"
	}
	if len(strings.TrimLeft(exponent, "+-0")) > maxExponent {
		return literal
	}
	shift, _ := strconv.ParseInt(exponent, 10, 64) // its digits were counted
	shift += int64(len(digits) - len(short) - len(fraction))
	if negative {
		short = "-" + short
	}
	if shift == 0 {
		return short
	}
	return short + "e" + strconv.FormatInt(shift, 10)
}
