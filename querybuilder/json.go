package querybuilder

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads JSON strictly, from a text that is known to be UTF-8. It copies nothing but texts with escapes.
type scanner struct {
	text string
	pos  int
}

func malformed(message string) *Fault { return &Fault{Code: CodeJSON, Message: message} }

// unexpected says that the document is no JSON from here on.
func (s *scanner) unexpected() *Fault {
	if s.pos >= len(s.text) {
		return malformed("the rule document ends in the middle")
	}
	return malformed("the rule document is not JSON at byte " + strconv.Itoa(s.pos+1))
}

// peek skips white space and returns the byte behind it, 0 at the end.
func (s *scanner) peek() byte {
	for ; s.pos < len(s.text); s.pos++ {
		switch b := s.text[s.pos]; b {
		case ' ', '\t', '\r', '\n':
		default:
			return b
		}
	}
	return 0
}

// take reads the byte b behind white space.
func (s *scanner) take(b byte) *Fault {
	if s.peek() != b || s.pos >= len(s.text) {
		return s.unexpected()
	}
	s.pos++
	return nil
}

// more reports whether another member follows, of an object or array that closes with the byte given, and reads what
// stands before it.
func (s *scanner) more(closing byte, first bool) (bool, *Fault) {
	b := s.peek()
	switch {
	case b == closing:
		s.pos++
		return false, nil
	case first:
		return true, nil
	case b == ',':
		s.pos++
		return true, nil
	default:
		return false, s.unexpected()
	}
}

// key reads the name of a member and its colon.
func (s *scanner) key() (string, *Fault) {
	if s.peek() != '"' {
		return "", s.unexpected()
	}
	name, fault := s.string(MaxText)
	if fault != nil {
		return "", fault
	}
	return name, s.take(':')
}

// string reads a string from its quote on, of at most so many characters.
func (s *scanner) string(most int) (string, *Fault) {
	s.pos++
	start := s.pos
	for ; s.pos < len(s.text); s.pos++ {
		switch b := s.text[s.pos]; {
		case b == '"':
			out := s.text[start:s.pos]
			s.pos++
			return out, checkLength(out, most)
		case b == '\\':
			return s.escaped(start, most)
		case b < ' ':
			return "", s.unexpected()
		}
	}
	return "", s.unexpected()
}

// escaped reads on at the first escape of a string.
func (s *scanner) escaped(start, most int) (string, *Fault) {
	var out strings.Builder
	out.WriteString(s.text[start:s.pos])
	for s.pos < len(s.text) {
		switch b := s.text[s.pos]; {
		case b == '"':
			s.pos++
			return out.String(), checkLength(out.String(), most)
		case b < ' ':
			return "", s.unexpected()
		case b != '\\':
			out.WriteByte(b)
			s.pos++
		default:
			r, fault := s.escape()
			if fault != nil {
				return "", fault
			}
			out.WriteRune(r)
		}
	}
	return "", s.unexpected()
}

const (
	escapes = `"\/bfnrt`
	meaning = "\"\\/\b\f\n\r\t"
)

// escape reads one escape, or the two of a surrogate pair.
func (s *scanner) escape() (rune, *Fault) {
	if s.pos+1 < len(s.text) {
		if i := strings.IndexByte(escapes, s.text[s.pos+1]); i >= 0 {
			s.pos += 2
			return rune(meaning[i]), nil
		}
	}
	first, ok := s.hex()
	if !ok {
		return 0, s.unexpected()
	}
	if first == 0 {
		return 0, &Fault{Code: CodeValueInvalid, Message: "a text holds the character NUL"}
	}
	if !utf16.IsSurrogate(first) {
		return first, nil
	}
	second, ok := s.hex()
	if pair := utf16.DecodeRune(first, second); ok && pair != utf8.RuneError {
		return pair, nil
	}
	return 0, &Fault{Code: CodeValueInvalid, Message: "a text holds a lone surrogate"}
}

// hex reads \uXXXX.
func (s *scanner) hex() (rune, bool) {
	rest := s.text[s.pos:]
	if len(rest) < 6 || rest[0] != '\\' || rest[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(rest[2:6], 16, 16)
	if err != nil {
		return 0, false
	}
	s.pos += 6
	return rune(n), true
}

func checkLength(s string, most int) *Fault {
	if len(s) > most && utf8.RuneCountInString(s) > most {
		return &Fault{Code: CodeLimit, Message: "a text is longer than " + strconv.Itoa(most) + " characters"}
	}
	return nil
}

// literal reads a number, true, false or null.
func (s *scanner) literal() (value, *Fault) {
	start := s.pos
	for s.pos < len(s.text) && strings.IndexByte(",]}: \t\r\n\"[{", s.text[s.pos]) < 0 {
		s.pos++
	}
	out := value{text: s.text[start:s.pos]}
	switch {
	case out.text == "null":
		out.kind = null
	case out.text == "true" || out.text == "false":
		out.kind = boolean
	case isNumber(out.text):
		out.kind = number
	default:
		s.pos = start
		return value{}, s.unexpected()
	}
	return out, checkLength(out.text, MaxText)
}
