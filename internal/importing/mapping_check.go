package importing

import (
	"cmp"
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
	nodes    outline
	unread   []int // lines with values that could not be read: what they are part of is not judged further
	plan     Plan
	at       map[string]int  // the number of the column that fills a target
	failed   map[string]bool // the targets whose column has a mistake
	mistakes []string
}

func (c *checker) mistake(format string, args ...any) {
	c.mistakes = append(c.mistakes, fmt.Sprintf(format, args...))
}

// top says what is wrong with a key of the mapping. Where its value could not even be read, that is said already.
func (c *checker) top(key, format string, args ...any) {
	node := c.nodes.value(key)
	if !holds(node, c.unread) {
		c.mistake(lineOf(node)+format, args...)
	}
}

// csv says what is wrong with one of the settings of CSV.
func (c *checker) csv(key, format string, args ...any) {
	c.mistake(lineOf(c.nodes.value("csv", key))+format, args...)
}

func (c *checker) check() *Plan {
	m := c.mapping
	c.plan = Plan{target: c.target, format: m.Format, system: m.System, delimiter: ','}
	c.at, c.failed = map[string]int{}, map[string]bool{}
	if m.Target != c.target.collection {
		c.top("target", "target is %q, but this is an import of %s", m.Target, c.target.collection)
	}
	if m.Format != FormatCSV && m.Format != FormatJSONL {
		c.top("format", "format is %q: it must be csv or jsonl", m.Format)
	}
	if len(rules.Check(origin.Source{System: m.System, ID: "1"})) > 0 {
		c.top("system", "system is %q: it must be a text of 1 to 100 characters", m.System)
	}
	numbers := c.checkCSV()
	zone := c.checkZone(lineOf(c.nodes.value("zone")), m.Zone)
	if len(m.Columns) == 0 {
		c.top("columns", "columns is empty: no field is mapped")
	}
	c.checkColumns(numbers, zone)
	c.checkKey()
	c.checkTogether()
	c.checkRules()
	c.plan.covers = c.covers()
	return &c.plan
}

func (c *checker) checkColumns(numbers numberFormat, zone *time.Location) {
	for i, column := range c.mapping.Columns {
		if holds(c.nodes.column(i), c.unread) {
			c.failed[column.To] = true
			continue
		}
		one := columnCheck{checker: c, Column: column, index: i, place: c.place(i), numbers: numbers, zone: zone}
		one.check()
	}
}

// place says which column of the mapping a mistake is in.
func (c *checker) place(i int) string {
	return cmp.Or(lineOf(c.nodes.column(i)), fmt.Sprintf("column %d: ", i+1))
}

// valuePlace says where an entry of a column's enum table is.
func (c *checker) valuePlace(column int, from string) string {
	_, values := entry(c.nodes.column(column), "values")
	key, _ := entry(values, from)
	return cmp.Or(lineOf(key), c.place(column))
}

// maps reports whether the mapping names a target, rightly or not.
func (c *checker) maps(target string) bool { return c.failed[target] || c.plan.maps(target) }

func (c *checker) checkCSV() numberFormat {
	csv := c.mapping.CSV
	if c.mapping.Format != FormatCSV {
		if csv != (CSV{}) {
			c.top("csv", "csv is set, but format is %q", c.mapping.Format)
		}
		return numberFormat{decimal: "."}
	}
	if csv.Delimiter != "" {
		c.plan.delimiter = csv.Delimiter[0]
		if len(csv.Delimiter) != 1 || strings.ContainsAny(csv.Delimiter, "\"\r\n\x00") || csv.Delimiter[0] > '~' {
			c.csv("delimiter", "csv.delimiter is %q: it must be one ASCII character, no quote and no end of line", csv.Delimiter)
		}
	}
	if csv.Decimal == "" {
		csv.Decimal = "."
	}
	if csv.Decimal != "." && csv.Decimal != "," {
		c.csv("decimal", `csv.decimal is %q: it must be "." or ","`, csv.Decimal)
	}
	if t := csv.Thousands; len([]rune(t)) > 1 || t == csv.Decimal || strings.ContainsAny(t, "-0123456789") {
		c.csv("thousands", "csv.thousands is %q: it must be one character, no digit, no minus and not the decimal sign",
			csv.Thousands)
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
		c.top("key", "key is missing: it lists the columns that identify a row, or is [] where the file has none")
	}
	seen := map[string]bool{}
	for i, name := range c.mapping.Key {
		if name == "" || seen[name] {
			c.mistake("%skey names the column %q twice, or without a name", lineOf(item(c.nodes.value("key"), i)), name)
			continue
		}
		seen[name] = true
		c.plan.key = append(c.plan.key, c.plan.column(name))
	}
	if len(c.mapping.Key) == 0 && len(c.plan.steps) == 0 && len(c.mistakes) == 0 {
		c.top("key", "neither key nor columns name a source column: all rows would be one")
	}
}

func (c *checker) checkTogether() {
	for _, group := range c.target.together {
		mapped := slices.DeleteFunc(slices.Clone(group), func(f string) bool { return !c.maps(f) })
		if len(mapped) > 0 && len(mapped) < len(group) {
			c.mistake("%s%s are mapped together or not at all", c.placeOf(mapped[0]), strings.Join(group, " and "))
		}
	}
}

// placeOf says where the column of a target is, "" where that is not known.
func (c *checker) placeOf(target string) string {
	if i, ok := c.at[target]; ok {
		return c.place(i)
	}
	return ""
}

// checkRules tries the rules of the entity on what is known before the first row: required fields that no column
// fills, constants, and the values of the enum tables. Fields whose column has a mistake are left out, and so is what
// does not come from a column.
func (c *checker) checkRules() {
	broken := c.broken(nil, nil)
	for _, field := range slices.Sorted(maps.Keys(broken)) {
		_, computed := c.target.derived[field]
		switch {
		case c.failed[field] || strings.HasPrefix(field, "source."):
		case !c.plan.maps(field) && !computed:
			c.mistake("%s, and no column fills it", broken[field])
		case c.plan.maps(field) && c.plan.source(field) == "":
			c.mistake("%sconstant: %s", c.placeOf(field), broken[field])
		}
	}
	for _, s := range c.plan.steps {
		if s.reference == nil && !c.failed[s.target] { // the values of references are ids in another collection
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
		place := c.valuePlace(c.at[s.target], from)
		value, err := convertText(to, conv)
		if err != nil {
			c.mistake("%s%s, value %q: %v", place, s.target, from, err)
		} else if message := c.broken(s.field.set, value)[s.target]; message != "" {
			c.mistake("%s%s, value %q: %s", place, s.target, from, message)
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
