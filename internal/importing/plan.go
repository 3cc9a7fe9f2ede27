package importing

import (
	"slices"

	"catalogue/internal/importing/cell"
)

// Plan is a checked mapping, ready to convert rows.
type Plan struct {
	target    Target
	format    string
	system    string
	delimiter byte
	columns   []string // the source columns that are read, each once
	key       []int    // indexes of the key's columns; nil where the file has no key
	steps     []step   // in the order of the mapping
	constants []constant
	covers    []string // the stored paths that a row decides: what is not among them is left alone
}

// step fills one target field from one column.
type step struct {
	column     int // index in Plan.columns
	target     string
	field      targetField
	conversion conversion
	reference  *ReferenceSource
}

// constant fills one target field with the same value in each row.
type constant struct {
	target string
	field  targetField
	value  any
}

// column returns the index of a source column, and adds it where it is new.
func (p *Plan) column(name string) int {
	if i := slices.Index(p.columns, name); i >= 0 {
		return i
	}
	p.columns = append(p.columns, name)
	return len(p.columns) - 1
}

// source names the column that fills a target field; "" where it is a constant or filled by no column.
func (p *Plan) source(target string) string {
	for _, s := range p.steps {
		if s.target == target {
			return p.columns[s.column]
		}
	}
	return ""
}

// maps reports whether the mapping names a target field.
func (p *Plan) maps(target string) bool {
	return p.source(target) != "" ||
		slices.ContainsFunc(p.constants, func(c constant) bool { return c.target == target })
}

// convertText converts a text of the mapping itself.
func convertText(text string, c conversion) (any, error) {
	value, _, err := c.apply(cell.FromText(text))
	return value, err
}
