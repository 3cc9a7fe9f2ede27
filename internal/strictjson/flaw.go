package strictjson

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// flaw is what is wrong with a text or a name though it is JSON.
type flaw uint8

const (
	sound     flaw = iota
	nul            // the character NUL
	surrogate      // one half of a surrogate pair without the other: no character at all
	repeated       // a name that is there before
	deep           // an array or object inside too many others, which was not looked into
)

// flawOf looks at a string as it was written, from quote to quote, for escapes that make no character. Other than by an
// escape they cannot be there: the text is JSON in UTF-8.
func flawOf(raw string) flaw {
	for {
		i := strings.IndexByte(raw, '\\')
		if i < 0 {
			return sound
		}
		unit, escaped := codeUnit(raw[i:])
		if !escaped {
			raw = raw[i+2:] // the byte behind a backslash begins no escape
			continue
		}
		raw = raw[i+escapeLength:]
		switch {
		case unit == 0:
			return nul
		case utf16.IsSurrogate(unit):
			second, _ := codeUnit(raw)
			if utf16.DecodeRune(unit, second) == utf8.RuneError {
				return surrogate
			}
			raw = raw[escapeLength:]
		}
	}
}

const escapeLength = len(`\uXXXX`)

// codeUnit reads the escape \uXXXX that s begins with. It reports false where s begins with none.
func codeUnit(s string) (rune, bool) {
	if !strings.HasPrefix(s, `\u`) {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:escapeLength], 16, 16)
	return rune(n), err == nil
}
