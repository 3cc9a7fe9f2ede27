// Package cell holds one value of a row as its file gave it, before any conversion.
package cell

import (
	"strconv"
	"strings"
)

// Kind says what a cell holds.
type Kind int

// The kinds of cells. CSV knows Absent and Text only.
const (
	Absent Kind = iota // not there, null, or the empty text
	Text
	Number // Text is the literal as it was written
	Bool   // Text is "true" or "false"
	List   // Items are the texts of an array of texts
	Nested // an object, or an array of anything but texts: no field can take it
)

// Cell is one column's value in one row.
type Cell struct {
	Kind  Kind
	Text  string
	Items []string
}

// FromText makes a cell of a text. The empty text is absent: no source tells "no text" from "a text of length 0".
func FromText(s string) Cell {
	if s == "" {
		return Cell{}
	}
	return Cell{Kind: Text, Text: s}
}

// maxQuoted bounds what a reason shows of a value, in bytes.
const maxQuoted = 80

// Quote shows a text from a file in a reason, however long and odd it is.
func Quote(s string) string {
	if len(s) > maxQuoted {
		return strconv.Quote(strings.ToValidUTF8(s[:maxQuoted], "")) + "…"
	}
	return strconv.Quote(s)
}
