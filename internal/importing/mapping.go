package importing

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxMappingSize bounds a mapping file, in bytes.
const maxMappingSize = 1 << 20

// The formats of files.
const (
	FormatCSV   = "csv"
	FormatJSONL = "jsonl"
)

// Mapping tells how the rows of a file become entities, as a YAML file writes it.
type Mapping struct {
	Target  string   `yaml:"target"`  // the collection that the rows go to
	Format  string   `yaml:"format"`  // csv or jsonl
	System  string   `yaml:"system"`  // source.system of all rows
	Key     []string `yaml:"key"`     // the columns of source.id; [] where the file has no key
	Zone    string   `yaml:"zone"`    // of times that carry none; there is no default
	CSV     CSV      `yaml:"csv"`     // how a CSV file is written
	Columns []Column `yaml:"columns"` // one for each target field
}

// CSV tells how a CSV file is written.
type CSV struct {
	Delimiter string `yaml:"delimiter"` // one ASCII character; Defaults to ","
	Decimal   string `yaml:"decimal"`   // "." or ","; Defaults to "."
	Thousands string `yaml:"thousands"` // Defaults to none
}

// Column maps one source column, or a constant, to a target field.
type Column struct {
	From      string            `yaml:"from"`
	Constant  *string           `yaml:"constant"`
	To        string            `yaml:"to"`
	As        Kind              `yaml:"as"`     // Defaults to the kind of the target
	Values    map[string]string `yaml:"values"` // text of the file → text that is converted
	Layout    string            `yaml:"layout"` // of a date; Defaults to rfc3339
	Zone      string            `yaml:"zone"`   // Defaults to the mapping's
	Split     string            `yaml:"split"`  // parts a text where the target is several texts
	Reference *ReferenceSource  `yaml:"reference"`
}

// ReferenceSource says which objects a column names.
type ReferenceSource struct {
	Collection string `yaml:"collection"`
	System     string `yaml:"system"` // their source.system; the column has their source.id
}

// MappingError lists all mistakes of a mapping.
type MappingError struct{ Mistakes []string }

// Error has one mistake a line.
func (e *MappingError) Error() string {
	return "the mapping has mistakes:\n  " + strings.Join(e.Mistakes, "\n  ")
}

// ReadMapping reads a mapping of bounded size, whatever it is read from, and checks it as ParseMapping does.
func ReadMapping(in io.Reader, target Target) (*Plan, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxMappingSize+1))
	if err != nil {
		return nil, err
	}
	return ParseMapping(text, target)
}

// ParseMapping reads a mapping and checks it against the target: unknown keys, fields and layouts are mistakes, and
// so is a required field that no column fills. A *MappingError lists them all at once.
func ParseMapping(text []byte, target Target) (*Plan, error) {
	if len(text) > maxMappingSize {
		return nil, &MappingError{Mistakes: []string{fmt.Sprintf("it is longer than %d bytes", maxMappingSize)}}
	}
	var m Mapping
	var unread yamlMistakes
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&m); errors.Is(err, io.EOF) {
		return nil, &MappingError{Mistakes: []string{"it is empty"}}
	} else if err != nil {
		unread = newYAMLMistakes(err)
	}
	if unread.messages == nil && !errors.Is(dec.Decode(new(yaml.Node)), io.EOF) {
		unread.add("it holds more than one document")
	}
	nodes := newOutline(text)
	outlined := nodes.root != nil && (m.Target != "" || m.Format != "" || m.Columns != nil)
	if unread.messages != nil && !outlined {
		return nil, &MappingError{Mistakes: unread.messages} // not even its outline could be read
	}
	c := checker{mapping: m, target: target, nodes: nodes, unread: unread.lines}
	plan := c.check()
	if mistakes := slices.Concat(unread.messages, c.mistakes); len(mistakes) > 0 {
		return nil, &MappingError{Mistakes: mistakes}
	}
	return plan, nil
}
