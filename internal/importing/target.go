package importing

import (
	"errors"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/instant"
	"catalogue/internal/origin"
	"catalogue/internal/rules"
)

// Warning is a kind of oddness in a row that goes in all the same.
type Warning string

// The kinds of warnings.
const (
	WarnNoCreationDate        Warning = "no creation date"
	WarnEndBeforeStart        Warning = "end before the start"
	WarnClosedBeforeCreated   Warning = "closed before created"
	WarnClicksOverImpressions Warning = "more clicks than impressions"
	WarnSuperseded            Warning = "key again with other content"
	WarnClockChange           Warning = "time skipped or repeated by a clock change"
	WarnColumnNeverPresent    Warning = "mapped column in no row"
)

// attributesPrefix begins the targets that are free text pairs.
const attributesPrefix = "attributes."

// Definition tells how the fields of rows become an entity of type T.
type Definition[T any] struct {
	Collection string
	Fields     []Field[T]
	// Attributes is where free text pairs go, under targets such as "attributes.medium"; nil where T has none.
	Attributes func(*T) *map[string]string
	// Together names groups of fields of which a mapping has all or none, since they mean nothing apart.
	Together [][]string
	// Derived names fields that Finish computes where a row does not give them, each with what they follow from: mapped
	// fields, or source.id.
	Derived map[string][]string
	// Finish completes an entity whose mapped fields are set.
	Finish func(*T, origin.Source)
	// Warnings are the oddities of a finished entity.
	Warnings func(*T) []Warning
}

// Field is a field of T that a column can be mapped to. Its name is both the JSON and the stored path.
type Field[T any] struct {
	Name       string
	kind       Kind
	collection string // of a reference
	set        func(*T, any)
}

// Text is a field of text.
func Text[T any](name string, at func(*T) **string) Field[T] {
	return Field[T]{Name: name, kind: KindText, set: func(t *T, v any) { *at(t) = new(as[string](v)) }}
}

// Number is a field of numbers.
func Number[T any](name string, at func(*T) **float64) Field[T] {
	return Field[T]{Name: name, kind: KindNumber, set: func(t *T, v any) { *at(t) = new(as[float64](v)) }}
}

// Integer is a field of whole numbers.
func Integer[T any](name string, at func(*T) **int64) Field[T] {
	return Field[T]{Name: name, kind: KindInteger, set: func(t *T, v any) { *at(t) = new(as[int64](v)) }}
}

// Date is a field of times.
func Date[T any](name string, at func(*T) **instant.Instant) Field[T] {
	return Field[T]{Name: name, kind: KindDate, set: func(t *T, v any) { *at(t) = new(as[instant.Instant](v)) }}
}

// Texts is a field of several texts.
func Texts[T any](name string, at func(*T) *[]string) Field[T] {
	return Field[T]{Name: name, kind: KindTexts, set: func(t *T, v any) { *at(t) = as[[]string](v) }}
}

// Reference is the id of an object in collection, which files name by its source.
func Reference[T any](name, collection string, at func(*T) *bson.ObjectID) Field[T] {
	return Field[T]{
		Name: name, kind: KindReference, collection: collection,
		set: func(t *T, v any) { *at(t) = as[bson.ObjectID](v) },
	}
}

// as is a type assertion that cannot fail: a mapping's check lets only values of a field's kind through to it, and a
// target's functions see only entities that it made.
func as[V any](value any) V {
	v, ok := value.(V)
	if !ok {
		panic(fmt.Sprintf("importing: a %T where a %T belongs", value, v))
	}
	return v
}

// Target is an entity that rows can become, whatever its type.
type Target struct {
	collection string
	fields     map[string]targetField
	attributes bool
	together   [][]string
	derived    map[string][]string
	newEntity  func() any
	setText    func(entity any, attribute, text string)
	finish     func(entity any, source origin.Source)
	warnings   func(entity any) []Warning
}

type targetField struct {
	kind       Kind
	collection string
	set        func(entity, value any)
}

// NewTarget makes a Target of a definition.
func NewTarget[T any](d Definition[T]) Target {
	t := Target{
		collection: d.Collection,
		fields:     make(map[string]targetField, len(d.Fields)),
		attributes: d.Attributes != nil,
		together:   d.Together,
		derived:    d.Derived,
		newEntity:  func() any { return new(T) },
		finish:     func(e any, s origin.Source) { d.Finish(as[*T](e), s) },
		warnings:   func(e any) []Warning { return d.Warnings(as[*T](e)) },
	}
	for _, f := range d.Fields {
		t.fields[f.Name] = targetField{
			kind: f.kind, collection: f.collection,
			set: func(e, v any) { f.set(as[*T](e), v) },
		}
	}
	t.setText = func(e any, attribute, text string) {
		m := d.Attributes(as[*T](e))
		if *m == nil {
			*m = map[string]string{}
		}
		(*m)[attribute] = text
	}
	return t
}

// Collection is where the entities are stored.
func (t Target) Collection() string { return t.collection }

// field finds a target by the name that a mapping gives it.
func (t Target) field(name string) (targetField, error) {
	if f, ok := t.fields[name]; ok {
		return f, nil
	}
	attribute, ok := strings.CutPrefix(name, attributesPrefix)
	if !ok || !t.attributes {
		return targetField{}, fmt.Errorf("%s have no field %q", t.collection, name)
	}
	if err := t.checkAttribute(attribute); err != nil {
		return targetField{}, err
	}
	return targetField{kind: KindText, set: func(e, v any) { t.setText(e, attribute, as[string](v)) }}, nil
}

// checkAttribute asks the rules of the entity's type what is wrong with an attribute's name.
func (t Target) checkAttribute(name string) error {
	entity := t.newEntity()
	t.setText(entity, name, "")
	for _, broken := range rules.Check(entity) {
		if strings.HasPrefix(targetOf(broken.Field), attributesPrefix) { // the others are of what is still missing
			return errors.New(broken.Message)
		}
	}
	return nil
}
