package importing

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/changes"
	"catalogue/internal/importing/cell"
	"catalogue/internal/origin"
	"catalogue/internal/rules"
)

// row is one record on its way to an entity.
type row struct {
	record
	source   origin.Source
	values   []assignment
	pending  []pending
	warnings []Warning
	faults   []fault
	failed   []string // the targets that have no value because of a fault, and sourceID
	entity   any
}

// pending is a reference that names an object by its source, and is to become the object's id.
type pending struct {
	step int
	id   string
}

// sourceID is the path of a row's key in its entity.
const sourceID = "source.id"

// maxReason bounds a reject's reason, in bytes: it has one part for each fault.
const maxReason = 4 << 10

// fault is one thing that is wrong with a row.
type fault struct {
	column string // the source's; "" where it is about the whole row
	reason string
}

func (r *row) fault(column, format string, args ...any) {
	r.faults = append(r.faults, fault{column: column, reason: fmt.Sprintf(format, args...)})
}

// good reports whether nothing is wrong with the row.
func (r *row) good() bool { return len(r.faults) == 0 }

// reject is how the row stands in the rejects file: by its first fault, with the reasons of all.
func (r *row) reject() reject {
	out := reject{Line: r.line, Row: showRow(r.raw)}
	if c := r.faults[0].column; c != "" {
		out.Column = &c
	}
	reasons := make([]string, len(r.faults))
	for i, f := range r.faults {
		reasons[i] = f.reason
		if f.column != "" && len(r.faults) > 1 {
			reasons[i] = f.column + ": " + f.reason
		}
	}
	if out.Reason = strings.Join(reasons, "; "); len(out.Reason) > maxReason {
		out.Reason = strings.ToValidUTF8(out.Reason[:maxReason], "") + "…"
	}
	return out
}

// convert turns a record into the values of its mapped fields. What needs the database is left pending.
func (p *Plan) convert(rec record) row {
	out := row{record: rec}
	if rec.bad != "" {
		column := ""
		if rec.at != wholeRow {
			column = p.columns[rec.at]
		}
		out.fault(column, "%s", rec.bad)
		return out
	}
	out.source = p.sourceOf(&out)
	for i := range p.steps {
		p.convertStep(&out, i)
	}
	for i := range p.constants {
		k := &p.constants[i]
		out.values = append(out.values, assignment{target: k.target, field: &k.field, value: k.value})
	}
	return out
}

func (p *Plan) convertStep(r *row, i int) {
	s := &p.steps[i]
	if r.cells[s.column].Kind == cell.Absent {
		return
	}
	value, warning, err := s.conversion.apply(r.cells[s.column])
	if err != nil {
		r.fault(p.columns[s.column], "%v", err)
		r.failed = append(r.failed, s.target)
		return
	}
	if warning != "" {
		r.warnings = append(r.warnings, warning)
	}
	switch {
	case value == nil:
	case s.reference != nil:
		r.pending = append(r.pending, pending{step: i, id: strings.TrimSpace(as[string](value))})
	default:
		r.values = append(r.values, assignment{target: s.target, field: &s.field, value: value})
	}
}

// sourceOf finds the identity of a row: the text of its key, or a digest of its columns where the file has no key.
func (p *Plan) sourceOf(r *row) origin.Source {
	if len(p.key) == 0 {
		return origin.Source{System: p.system, ID: rowDigest(p.columns, r.cells)}
	}
	parts := make([]string, len(p.key))
	for i, column := range p.key {
		text, err := keyText(r.cells[column])
		if err != nil {
			r.fault(p.columns[column], "the key %v", err)
			r.failed = append(r.failed, sourceID)
		}
		parts[i] = text
	}
	return origin.Source{System: p.system, ID: joinKey(parts)}
}

// keyText is the text of one part of a key, trimmed, with its zeros and digits: 007 is not 7, and 1.0 is not 1.
func keyText(c cell.Cell) (string, error) {
	if c.Kind != cell.Text && c.Kind != cell.Number && c.Kind != cell.Absent {
		return "", fmt.Errorf("is %s, neither text nor number", describe(c))
	}
	text := strings.TrimSpace(c.Text)
	if text == "" {
		return "", errors.New("is empty")
	}
	return text, nil
}

// resolve puts an id in the place of each pending reference. known has the ids by system and source.id of each
// collection, under the step's number.
func (p *Plan) resolve(r *row, known map[int]map[string]bson.ObjectID) {
	for _, ref := range r.pending {
		s := &p.steps[ref.step]
		id, ok := known[ref.step][ref.id]
		if !ok {
			r.fault(p.columns[s.column], "%s have no object %s of %q", s.reference.Collection, cell.Quote(ref.id),
				s.reference.System)
			r.failed = append(r.failed, s.target)
			continue
		}
		r.values = append(r.values, assignment{target: s.target, field: &s.field, value: id})
	}
}

// orphan rejects a new row below what was deleted.
func (p *Plan) orphan(r *row) {
	for _, ref := range r.pending {
		s := &p.steps[ref.step]
		r.fault(p.columns[s.column], "the object %s of %q in %s has been deleted", cell.Quote(ref.id), s.reference.System,
			s.reference.Collection)
	}
}

// tooLate rejects a row whose references are known now, and were not when the file was checked.
func (p *Plan) tooLate(r *row) {
	for _, ref := range r.pending {
		s := &p.steps[ref.step]
		r.fault(p.columns[s.column], "%s had no object %s of %q when the file was checked: import again",
			s.reference.Collection, cell.Quote(ref.id), s.reference.System)
	}
}

// complete makes the entity of a row whose values are all known, and checks it against the rules of its type. A row
// with faults is checked, too, so that all are reported at once.
func (p *Plan) complete(r *row) {
	if r.bad != "" {
		return
	}
	r.source.Digest = contentDigest(r.values)
	r.entity = p.target.newEntity()
	for _, v := range r.values {
		v.field.set(r.entity, v.value)
	}
	p.target.finish(r.entity, r.source)
	p.checkRules(r)
	if r.good() {
		r.warnings = append(r.warnings, p.target.warnings(r.entity)...)
	}
}

// checkRules adds the rules that the row's entity breaks. It leaves out what only follows from another fault: a value
// that could not be read is not missing besides, and a computed one is as wrong as what it is computed from.
func (p *Plan) checkRules(r *row) {
	broken := rules.Check(r.entity)
	wrong := slices.Clone(r.failed)
	for _, v := range broken {
		wrong = append(wrong, targetOf(v.Field))
	}
	for _, v := range broken {
		target := targetOf(v.Field)
		if slices.Contains(r.failed, target) {
			continue
		}
		if from := p.target.derived[target]; from != nil && !r.has(target) {
			if slices.ContainsFunc(from, func(f string) bool { return slices.Contains(wrong, f) }) {
				continue
			}
			target = from[0]
		}
		r.fault(p.columnOf(target), "%s", v.Message)
	}
}

// has reports whether the row itself gives a target a value.
func (r *row) has(target string) bool {
	return slices.ContainsFunc(r.values, func(v assignment) bool { return v.target == target })
}

// columnOf finds the source column that a target is filled from. Of source.id it is the key, where that is one column.
func (p *Plan) columnOf(target string) string {
	if target == sourceID && len(p.key) == 1 {
		return p.columns[p.key[0]]
	}
	return p.source(target)
}

// targetOf turns the path of a broken rule into a target: "attributes[medium]" is attributes.medium, "tags[3]" tags.
func targetOf(field string) string {
	name, inner, found := strings.Cut(field, "[")
	if !found {
		return field
	}
	if name+"." == attributesPrefix {
		return attributesPrefix + strings.TrimSuffix(inner, "]")
	}
	return name
}

// item is the row as the writer takes it.
func (p *Plan) item(r *row) changes.Item {
	return changes.Item{Source: r.source, Entity: r.entity, Fields: p.covers}
}
