package importing

import (
	"slices"
	"time"
)

// columnCheck checks one column of a mapping.
type columnCheck struct {
	*checker
	Column

	index int // in the mapping

	place   string // in the file, in front of each mistake
	field   targetField
	numbers numberFormat
	zone    *time.Location // nil where the mapping names none
}

// mistake says what is wrong with the column, and that nothing is known of the field that it would have filled.
func (c *columnCheck) mistake(format string, args ...any) {
	c.checker.mistake(c.place+format, args...)
	c.failed[c.To] = true
}

// check adds the column to the plan.
func (c *columnCheck) check() {
	if !c.checkTarget() {
		return
	}
	c.at[c.To] = c.index
	if c.Zone != "" {
		if c.zone = c.checkZone(c.place, c.Zone); c.zone == nil {
			c.failed[c.To], c.zone = true, time.UTC // in its place, so that the rest can be checked
		}
	}
	conv := c.conversion()
	c.checkReference()
	if c.Constant == nil {
		c.plan.steps = append(c.plan.steps, step{
			column: c.plan.column(c.From), target: c.To, field: c.field, conversion: conv, reference: c.Reference,
		})
		return
	}
	if *c.Constant == "" || c.Values != nil || c.field.kind == KindReference {
		c.mistake("a constant is a text that is not empty, without values, and no reference")
		return
	}
	if c.failed[c.To] {
		return // by an option that the conversion needs
	}
	value, err := convertText(*c.Constant, conv)
	if err != nil {
		c.mistake("constant: %v", err)
		return
	}
	c.plan.constants = append(c.plan.constants, constant{target: c.To, field: c.field, value: value})
}

// checkTarget finds the field that the column fills.
func (c *columnCheck) checkTarget() bool {
	if c.To == "" {
		c.mistake("to is missing: it names the target field")
		return false
	}
	var err error
	if c.field, err = c.target.field(c.To); err != nil {
		c.mistake("%v", err)
		return false
	}
	if c.maps(c.To) {
		c.mistake("%s is mapped twice", c.To)
		return false
	}
	if (c.From == "") == (c.Constant == nil) {
		c.mistake("%s needs either from (a column) or constant", c.To)
		return false
	}
	return true
}

// conversion checks that the column's options belong together and to the kind of its target.
func (c *columnCheck) conversion() conversion {
	kind := c.As
	if kind == "" {
		kind = c.field.kind
	}
	// A text can hold every conversion's result in its canonical form; other fields hold their own kind only.
	simple := slices.Contains([]Kind{KindText, KindNumber, KindInteger, KindDate, KindBool}, kind)
	if kind != c.field.kind && (c.field.kind != KindText || !simple) {
		c.mistake("as is %q, but %s is of kind %s", c.As, c.To, c.field.kind)
	}
	if c.Split != "" && kind != KindTexts {
		c.mistake("split is for fields of several texts, which %s is not", c.To)
	}
	if c.Values != nil && len(c.Values) == 0 {
		c.mistake("values is empty: no row would fit")
	}
	if _, dead := c.Values[""]; dead {
		c.checker.mistake(`%svalues has "" on the left: what is absent is left out and never looked up`,
			c.valuePlace(c.index, ""))
		c.failed[c.To] = true
	}
	return conversion{
		kind: kind, values: c.Values, numbers: c.numbers, split: c.Split, dates: c.dates(kind),
		printed: c.field.kind == KindText && kind != KindText,
	}
}

func (c *columnCheck) dates(kind Kind) dateFormat {
	if kind != KindDate {
		if c.Layout != "" || c.Zone != "" {
			c.mistake("layout and zone are for dates, which %s is not", c.To)
		}
		return dateFormat{}
	}
	format, err := newDateFormat(c.Layout, c.zone)
	if err != nil {
		c.mistake("%v", err)
	} else if format.zoned && c.Zone != "" {
		c.mistake("zone is set, but times of the layout carry their own")
	}
	return format
}

func (c *columnCheck) checkReference() {
	ref := c.Reference
	switch {
	case ref == nil && c.field.kind == KindReference:
		c.mistake("%s needs reference: {collection: %s, system: …}", c.To, c.field.collection)
	case ref == nil:
	case c.field.kind != KindReference:
		c.mistake("%s is no reference", c.To)
	case ref.Collection != c.field.collection || ref.System == "":
		c.mistake("%s refers to the collection %s by a system", c.To, c.field.collection)
	}
}
