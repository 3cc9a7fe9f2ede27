package jsonlfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"catalogue/internal/importing/cell"
)

// parse reads one line as an object. Numbers keep their literal, so that no digit of a long integer or of a key gets
// lost on the way through a float64.
func parse(raw string) (map[string]cell.Cell, error) {
	if err := checkText(raw); err != nil {
		return nil, err
	}
	if err := checkSyntax([]byte(raw)); err != nil {
		return nil, err
	}
	w := walker{text: raw}
	if w.peek() != '{' {
		return nil, errors.New("the row is no JSON object")
	}
	return w.object(1)
}

// checkSyntax makes sure that a line is exactly one JSON value, so that the walk over it meets no mistakes.
func checkSyntax(raw []byte) error {
	if json.Valid(raw) {
		return nil
	}
	var value json.RawMessage
	err := json.Unmarshal(raw, &value)
	if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("not one JSON object: %w (byte %d)", bad, bad.Offset)
	}
	return errors.New("not one JSON object")
}

// checkText refuses what encoding/json would replace by U+FFFD, and NUL.
func checkText(raw string) error {
	if !utf8.ValidString(raw) {
		for i, r := range raw {
			if r == utf8.RuneError && !strings.HasPrefix(raw[i:], "\uFFFD") {
				return fmt.Errorf("byte %d (0x%02X) is not UTF-8", i+1, raw[i])
			}
		}
	}
	for i := strings.IndexByte(raw, '\\'); i >= 0 && i+1 < len(raw); {
		size, err := checkEscape(raw[i:])
		if err != nil {
			return err
		}
		next := strings.IndexByte(raw[i+size:], '\\')
		if next < 0 {
			break
		}
		i += size + next
	}
	return nil
}

// checkEscape looks at the escape that s starts with and returns its length.
func checkEscape(s string) (int, error) {
	first, ok := hexEscape(s)
	if !ok {
		return 2, nil // a short escape, or bad syntax that the parser will name
	}
	if first == 0 {
		return 0, errors.New("the row holds the character NUL")
	}
	if !utf16.IsSurrogate(first) {
		return 6, nil
	}
	second, ok := hexEscape(s[6:])
	if !ok || utf16.DecodeRune(first, second) == utf8.RuneError {
		return 0, fmt.Errorf("the row holds the lone surrogate %s", s[:6])
	}
	return 12, nil
}

// hexEscape reads \uXXXX at the start of s.
func hexEscape(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n), err == nil
}
