package importing

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"catalogue/internal/instant"
	"catalogue/internal/origin"
	"catalogue/internal/rules"
)

// checker turns a mapping into a plan and collects what is wrong with it.
type checker struct {
	mapping  Mapping
	target   Target
	lines    []int // of the columns
	plan     Plan
	mistakes []string
}

func (c *checker) mistake(format string, args ...any) {
	c.mistakes = append(c.mistakes, fmt.Sprintf(format, args...))
}

func (c *checker) check() *Plan {
	m := c.mapping
	c.plan = Plan{target: c.target, format: m.Format, system: m.System, delimiter: ','}
	if m.Target != c.target.collection {
		c.mistake("target is %q, but this is an import of %s", m.Target, c.target.collection)
	}
	if m.Format != FormatCSV && m.Format != FormatJSONL {
		c.mistake("format is %q: it must be csv or jsonl", m.Format)
	}
	if len(rules.Check(origin.Source{System: m.System, ID: "1"})) > 0 {
		c.mistake("system is %q: it must be a text of 1 to 100 characters", m.System)
	}
	numbers := c.checkCSV()
	zone := c.checkZone("", m.Zone)
	if len(m.Columns) == 0 {
		c.mistake("columns is empty: no field is mapped")
	}
	for i, column := range m.Columns {
		one := columnCheck{checker: c, Column: column, place: c.place(i), numbers: numbers, zone: zone}
		one.check()
	}
	c.checkKey()
	c.checkTogether()
	if len(c.mistakes) == 0 { // half a plan breaks rules that the whole one keeps
		c.checkRules()
	}
	c.plan.covers = c.covers()
	return &c.plan
}

// place says which column of the mapping a mistake is in.
func (c *checker) place(i int) string {
	if i < len(c.lines) {
		return fmt.Sprintf("line %d: ", c.lines[i])
	}
	return fmt.Sprintf("column %d: ", i+1)
}

func (c *checker) checkCSV() numberFormat {
	csv := c.mapping.CSV
	if c.mapping.Format != FormatCSV {
		if csv != (CSV{}) {
			c.mistake("csv is set, but format is %q", c.mapping.Format)
		}
		return numberFormat{decimal: "."}
	}
	if csv.Delimiter != "" {
		c.plan.delimiter = csv.Delimiter[0]
		if len(csv.Delimiter) != 1 || strings.ContainsAny(csv.Delimiter, "\"\r\n\x00") || csv.Delimiter[0] > '~' {
			c.mistake("csv.delimiter is %q: it must be one ASCII character, no quote and no end of line", csv.Delimiter)
		}
	}
	if csv.Decimal == "" {
		csv.Decimal = "."
	}
	if csv.Decimal != "." && csv.Decimal != "," {
		c.mistake(`csv.decimal is %q: it must be "." or ","`, csv.Decimal)
	}
	if t := csv.Thousands; len([]rune(t)) > 1 || t == csv.Decimal || strings.ContainsAny(t, "-0123456789") {
		c.mistake("csv.thousands is %q: it must be one character, no digit, no minus and not the decimal sign", csv.Thousands)
	}
	return numberFormat{decimal: csv.Decimal, thousands: csv.Thousands}
}

func (c *checker) checkZone(place, name string) *time.Location {
	if name == "" {
		return nil
	}
	zone, err := instant.ParseZone(name)
	if err != nil {
		c.mistake("%szone: %v", place, err)
	}
	return zone
}

func (c *checker) checkKey() {
	if c.mapping.Key == nil {
		c.mistake("key is missing: it lists the columns that identify a row, or is [] where the file has none")
	}
	seen := map[string]bool{}
	for _, name := range c.mapping.Key {
		if name == "" || seen[name] {
			c.mistake("key names the column %q twice, or without a name", name)
			continue
		}
		seen[name] = true
		c.plan.key = append(c.plan.key, c.plan.column(name))
	}
	if len(c.mapping.Key) == 0 && len(c.plan.steps) == 0 && len(c.mistakes) == 0 {
		c.mistake("neither key nor columns name a source column: all rows would be one")
	}
}

func (c *checker) checkTogether() {
	for _, group := range c.target.together {
		mapped := slices.DeleteFunc(slices.Clone(group), func(f string) bool { return !c.plan.maps(f) })
		if len(mapped) > 0 && len(mapped) < len(group) {
			c.mistake("%s are mapped together or not at all", strings.Join(group, " and "))
		}
	}
}

// checkRules tries the rules of the entity on what is known before the first row: required fields that no column
// fills, constants, and the values of the enum tables.
func (c *checker) checkRules() {
	broken := c.broken(nil, nil)
	for _, field := range slices.Sorted(maps.Keys(broken)) {
		switch {
		case !c.plan.maps(field):
			c.mistake("%s, and no column fills it", broken[field])
		case c.plan.source(field) == "":
			c.mistake("constant: %s", broken[field])
		}
	}
	for _, s := range c.plan.steps {
		if s.reference == nil { // the values of references are ids in another collection
			c.checkValues(s)
		}
	}
}

func (c *checker) checkValues(s step) {
	conv := s.conversion
	conv.values = nil
	for _, from := range slices.Sorted(maps.Keys(s.conversion.values)) {
		to := s.conversion.values[from]
		if to == "" {
			continue // this value of the file means absent
		}
		value, err := convertText(to, conv)
		if err != nil {
			c.mistake("%s, value %q: %v", s.target, from, err)
		} else if message := c.broken(s.field.set, value)[s.target]; message != "" {
			c.mistake("%s, value %q: %s", s.target, from, message)
		}
	}
}

// broken returns the broken rules of an entity with the constants, and one value more, by field.
func (c *checker) broken(set func(entity, value any), value any) map[string]string {
	entity := c.target.newEntity()
	for _, k := range c.plan.constants {
		k.field.set(entity, k.value)
	}
	if set != nil {
		set(entity, value)
	}
	c.target.finish(entity, origin.Source{System: c.plan.system, ID: "1"})
	out := map[string]string{}
	for _, v := range rules.Check(entity) {
		out[targetOf(v.Field)] = v.Message
	}
	return out
}

// covers lists the stored paths that a row decides.
func (c *checker) covers() []string {
	var out []string
	for _, s := range c.plan.steps {
		out = append(out, s.target)
	}
	for _, k := range c.plan.constants {
		out = append(out, k.target)
	}
	for field, from := range c.target.derived {
		if slices.ContainsFunc(from, c.plan.maps) {
			out = append(out, field)
		}
	}
	slices.Sort(out)
	return out
}
