package importing

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"catalogue/internal/importing/cell"
)

// Kind is a type of values: of a target field, and of what a conversion makes.
type Kind string

// The kinds. Texts and references are kinds of fields only; bool is a kind of conversions only, since no entity has
// such a field: as a text it is true or false.
const (
	KindText      Kind = "text"
	KindNumber    Kind = "number"
	KindInteger   Kind = "integer"
	KindDate      Kind = "date"
	KindBool      Kind = "bool"
	KindTexts     Kind = "texts"
	KindReference Kind = "reference"
)

// conversion turns a cell that is not absent into a value: a string, float64, int64, bool, instant.Instant or
// []string by its kind.
type conversion struct {
	kind    Kind
	values  map[string]string // the enum table: what it does not name is refused
	numbers numberFormat
	dates   dateFormat
	split   string // parts a text into texts
	printed bool   // the target is a text: the value goes in as its canonical text
}

// apply converts one cell. The value is nil where it is absent after all, the warning "" where there is none.
func (c conversion) apply(in cell.Cell) (value any, warning Warning, err error) {
	if in, err = c.translate(in); err != nil || in.Kind == cell.Absent {
		return nil, "", err
	}
	if value, warning, err = c.convert(in); err != nil {
		return nil, "", err
	}
	if c.printed {
		value = canonical(value)
	}
	return value, warning, nil
}

func (c conversion) convert(in cell.Cell) (value any, warning Warning, err error) {
	switch c.kind {
	case KindText, KindReference:
		value, err = asText(in)
	case KindTexts:
		value, err = c.texts(in)
	case KindNumber:
		value, err = c.numbers.number(in)
	case KindInteger:
		value, err = c.numbers.integer(in)
	case KindBool:
		value, err = asBool(in)
	case KindDate:
		return c.date(in)
	default:
		err = fmt.Errorf("there is no conversion to %s", c.kind)
	}
	return value, "", err
}

// translate looks a value up in the enum table.
func (c conversion) translate(in cell.Cell) (cell.Cell, error) {
	if c.values == nil {
		return in, nil
	}
	text, err := asText(in)
	if err != nil {
		return in, err
	}
	out, ok := c.values[text]
	if !ok {
		return in, fmt.Errorf("%s is none of the mapping's values", cell.Quote(text))
	}
	return cell.FromText(out), nil
}

func (c conversion) date(in cell.Cell) (any, Warning, error) {
	text, err := asText(in)
	if err != nil {
		return nil, "", err
	}
	at, adjusted, err := c.dates.parse(text)
	if adjusted {
		return at, WarnClockChange, err
	}
	return at, "", err
}

func (c conversion) texts(in cell.Cell) ([]string, error) {
	if in.Kind == cell.List {
		return in.Items, nil
	}
	text, err := asText(in)
	if err != nil {
		return nil, err
	}
	if c.split == "" {
		return []string{text}, nil
	}
	items := strings.Split(text, c.split)
	if slices.Contains(items, "") {
		return nil, fmt.Errorf("%s has an empty part", cell.Quote(text))
	}
	return items, nil
}

// asText takes texts, and numbers and truth values as they are written.
func asText(in cell.Cell) (string, error) {
	switch in.Kind {
	case cell.Text, cell.Number, cell.Bool:
		return in.Text, nil
	default:
		return "", fmt.Errorf("%s is no text", describe(in))
	}
}

func asBool(in cell.Cell) (bool, error) {
	if (in.Kind == cell.Bool || in.Kind == cell.Text) && (in.Text == "true" || in.Text == "false") {
		return in.Text == "true", nil
	}
	return false, errors.New(describe(in) + " is neither true nor false")
}

// describe names a cell in a reason.
func describe(c cell.Cell) string {
	switch c.Kind {
	case cell.Absent:
		return "nothing"
	case cell.List:
		return "an array"
	case cell.Nested:
		return "an object or a mixed array"
	default:
		return cell.Quote(c.Text)
	}
}
