package groups

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/bench/report"
	"catalogue/creatives"
	"catalogue/internal/strictbson"
	"catalogue/pagination"
)

const microText = `The catalogue's own work on a page of %d, without any database: each step alone, one after the other on one core. A request with a
filter of ten rules decodes a cursor, reads and compiles the filter, writes the items and encodes the next cursor: together
%s ms, of which the items take %s ms. Times depend on the machine; allocations do not, and tests hold them
under named limits.`

// micro says how single steps are measured.
type micro struct {
	limit int
	rules []int // of the filters
	// run runs a step often enough to tell what it takes.
	run func(step func()) testing.BenchmarkResult
}

// Micro measures the steps of a page that need no database.
func Micro(ctx context.Context, e *Env) (report.Section, error) {
	return micro{limit: pageLimit, rules: []int{1, 10, 100}, run: forASecond}.measure(ctx, e)
}

// forASecond runs a step for about a second.
func forASecond(step func()) testing.BenchmarkResult {
	return testing.Benchmark(func(b *testing.B) { //nolint:thelper // the benchmark itself
		b.ReportAllocs()
		for b.Loop() {
			step()
		}
	})
}

// microStep is one step. run does it once.
type microStep struct {
	name string
	run  func() error
	// page says that a request for a page with a filter takes the step.
	page bool
}

func (m micro) measure(ctx context.Context, e *Env) (report.Section, error) {
	data, err := e.Dataset(ctx, e.smallest())
	if err != nil {
		return report.Section{}, err
	}
	l, err := newList(creatives.List(), "-created_at")
	if err != nil {
		return report.Section{}, err
	}
	rows, _, err := readPage(ctx, data.Database, l.reads(pagination.Start[bson.RawValue](), m.limit-1), m.limit)
	if err != nil {
		return report.Section{}, err
	}
	if len(rows) < m.limit {
		return report.Section{}, fmt.Errorf("%d rows are too few for a page of %d", len(rows), m.limit)
	}
	steps, err := m.steps(l, rows)
	if err != nil {
		return report.Section{}, err
	}
	step := e.counter(len(steps))
	results := make([]testing.BenchmarkResult, len(steps))
	for i, s := range steps {
		if err := ctx.Err(); err != nil {
			return report.Section{}, err
		}
		if results[i], err = m.time(s); err != nil {
			return report.Section{}, fmt.Errorf("%s: %w", s.name, err)
		}
		step()
	}
	return m.section(steps, results), nil
}

// time measures a step. The error of one of its runs is that of the measurement.
func (m micro) time(s microStep) (testing.BenchmarkResult, error) {
	if err := s.run(); err != nil {
		return testing.BenchmarkResult{}, err
	}
	var failed error
	result := m.run(func() {
		if err := s.run(); err != nil {
			failed = err
		}
	})
	if result.N == 0 {
		failed = errors.Join(failed, errors.New("it was never run"))
	}
	return result, failed
}

func (m micro) steps(l list, rows []bson.Raw) ([]microStep, error) {
	keys, err := pagination.NewKeyring(CursorKey)
	if err != nil {
		return nil, err
	}
	last := rows[len(rows)-1]
	cursor := pagination.NewCursor(pagination.Scope{List: l.name}, l.order, "", 0, pagination.RowPosition{
		Phase: pagination.Values, After: true, Value: last.Lookup(l.order.Field), ID: last.Lookup("_id").ObjectID(),
	})
	text, err := keys.Encode(cursor)
	if err != nil {
		return nil, err
	}
	steps := []microStep{
		{"cursor, encode", func() error { _, err := keys.Encode(cursor); return err }, true},
		{"cursor, decode", func() error { _, err := keys.Decode(text); return err }, true},
	}
	fields := creatives.Fields()
	for _, rules := range m.rules {
		document := ruleDocument(rules)
		steps = append(steps, microStep{
			fmt.Sprintf("filter of %d rules, decode and compile", rules), func() error {
				filter, err := fields.Parse(document, time.UTC)
				_ = filter.Compile(time.Time{})
				return err
			}, rules == 10,
		})
	}
	decoder := creatives.List().Decoder
	return append(steps, microStep{
		fmt.Sprintf("items of a page, %d stored documents to JSON", len(rows)), func() error { return itemsToJSON(decoder, rows) }, true,
	}), nil
}

// itemsToJSON makes the items of an answer as the catalogue does.
func itemsToJSON(decoder *strictbson.Decoder[creatives.Creative], rows []bson.Raw) error {
	for _, row := range rows {
		if _, misfits := decoder.JSON(row); len(misfits) > 0 {
			return fmt.Errorf("a made creative does not fit at %s", strings.Join(misfits, ", "))
		}
	}
	return nil
}

// ruleDocument is a filter as a screen sends it, of rules of four kinds in turn.
func ruleDocument(rules int) []byte {
	many := [...]string{
		`{"field":"name","operator":"contains","value":"word %d"}`,
		`{"field":"metrics.spend","operator":">=","value":"%d"}`,
		`{"field":"status","operator":"in","value":"active,paused","id":"r-%d"}`,
		`{"field":"created_at","operator":"between","value":["2026-01-01","2026-03-%02d"]}`,
	}
	parts := make([]string, rules)
	for i := range parts {
		parts[i] = fmt.Sprintf(many[i%len(many)], i%28+1)
	}
	return []byte(`{"combinator":"or","rules":[` + strings.Join(parts, ",") + `]}`)
}

func (m micro) section(steps []microStep, results []testing.BenchmarkResult) report.Section {
	table := report.Table{Title: "Single steps", Columns: []string{"Step", "µs", "bytes allocated", "allocations"}}
	page, items := 0.0, 0.0 // milliseconds
	for i, s := range steps {
		ns := float64(results[i].T.Nanoseconds()) / float64(results[i].N)
		if s.page {
			page += ns / 1e6
			items = ns / 1e6 // the items are the last of the steps
		}
		table.Rows = append(table.Rows, []string{
			s.name, fmt.Sprintf("%.1f", ns/1e3),
			number(int(results[i].AllocedBytesPerOp())), number(int(results[i].AllocsPerOp())),
		})
	}
	return report.Section{
		ID: "micro", Title: "Single steps", Tables: []report.Table{table},
		Text: fmt.Sprintf(microText, m.limit, millis(page), millis(items)),
	}
}
