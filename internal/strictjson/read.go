package strictjson

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"catalogue/internal/problem"
)

// Read reads one JSON value for decoders. Names that are there twice, lone surrogates, NUL and what is nested too deep are
// left for them, which tell of these together with all else that is wrong: so one bad item of a list spoils none of the
// others. Its errors are problems: body_malformed for what is no JSON in UTF-8, body_too_large for more values than any
// request needs.
func Read(data []byte) (Value, error) {
	if !utf8.Valid(data) || !json.Valid(data) {
		return Value{}, problem.New(problem.BodyMalformed, "The body is not one JSON value in UTF-8.")
	}
	r := reader{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	r.dec.UseNumber()
	return r.value(0)
}

// reader builds values of a text that is known to be JSON, so that the decoder's errors cannot happen.
type reader struct {
	data []byte
	dec  *json.Decoder
	end  int64 // of the token before
	read int   // values so far
}

// next is the next token, and how it was written: a token alone has lone surrogates replaced already.
func (r *reader) next() (token json.Token, raw string) {
	token, _ = r.dec.Token()
	start := r.end
	r.end = r.dec.InputOffset()
	return token, strings.TrimLeft(string(r.data[start:r.end]), " \t\r\n,:")
}

// value reads a value that lies within so many others.
func (r *reader) value(depth int) (Value, error) {
	if r.read++; r.read > maxValues {
		return Value{}, problem.New(problem.BodyTooLarge, "The body holds more than %d values.", maxValues)
	}
	token, raw := r.next()
	switch t := token.(type) {
	case json.Delim:
		if depth == maxDepth {
			return r.skip(t), nil
		}
		if t == '[' {
			return r.array(depth + 1)
		}
		return r.object(depth + 1)
	case string:
		if flaw := flawOf(raw); flaw != sound {
			return Value{kind: text, literal: raw, flaw: flaw}, nil
		}
		return Value{kind: text, literal: t}, nil
	case json.Number:
		return Value{kind: number, literal: t.String()}, nil
	case bool:
		return Value{kind: boolean, literal: raw}, nil
	default:
		return Value{kind: null}, nil
	}
}

// skip passes over an array or object whose first character was read, and keeps it as it was written.
func (r *reader) skip(first json.Delim) Value {
	start := r.end - 1
	for open := 1; open > 0; {
		token, _ := r.dec.Token()
		switch token {
		case json.Delim('['), json.Delim('{'):
			open++
		case json.Delim(']'), json.Delim('}'):
			open--
		}
	}
	r.end = r.dec.InputOffset()
	v := Value{kind: array, literal: string(r.data[start:r.end]), flaw: deep, inside: &inside{}}
	if first == '{' {
		v.kind = object
	}
	return v
}

func (r *reader) array(depth int) (Value, error) {
	in := &inside{}
	for r.dec.More() {
		v, err := r.value(depth)
		if err != nil {
			return Value{}, err
		}
		in.values = append(in.values, v)
	}
	r.next() // the bracket
	return Value{kind: array, inside: in}, nil
}

// object keeps the first of two members of one name.
func (r *reader) object(depth int) (Value, error) {
	in := &inside{index: map[string]int{}}
	for r.dec.More() {
		token, raw := r.next()
		name, _ := token.(string)
		flaw := flawOf(raw)
		if flaw != sound {
			name = raw[1 : len(raw)-1] // as it was written: its characters cannot be shown
		} else if _, again := in.index[name]; again {
			flaw = repeated
		}
		v, err := r.value(depth)
		if err != nil {
			return Value{}, err
		}
		if flaw != sound {
			in.wrong = append(in.wrong, wrongMember{name: name, flaw: flaw, value: v})
			continue
		}
		in.index[name] = len(in.names)
		in.names = append(in.names, name)
		in.values = append(in.values, v)
	}
	r.next() // the brace
	return Value{kind: object, inside: in}, nil
}
