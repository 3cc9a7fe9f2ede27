package importing

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/changes"
)

// references finds the objects that the rows of a batch name, with one question a step.
func (r *run) references(ctx context.Context, batch []row) (map[int]map[string]bson.ObjectID, error) {
	wanted := map[int]map[string]bool{}
	for _, row := range batch {
		for _, ref := range row.pending {
			if wanted[ref.step] == nil {
				wanted[ref.step] = map[string]bool{}
			}
			wanted[ref.step][ref.id] = true
		}
	}
	known := map[int]map[string]bson.ObjectID{}
	for step, set := range wanted {
		reference := r.Plan.steps[step].reference
		resolver, ok := r.Resolvers[reference.Collection]
		if !ok {
			return nil, fmt.Errorf("no resolver of references to %s is wired", reference.Collection)
		}
		found, err := resolver.IDsBySource(ctx, reference.System, slices.Collect(maps.Keys(set)))
		if err != nil {
			return nil, fmt.Errorf("resolve references: %w", err)
		}
		known[step] = found
	}
	return known, nil
}

// learn is the first pass: it looks at rows and writes nothing.
func (r *run) learn(_ context.Context, batch []row) error {
	for i := range batch {
		row := &batch[i]
		r.encoding.add(row.raw)
		if row.good() {
			r.keys.put(row.source.ID, row.source.Digest, row.line)
		}
	}
	return nil
}

// sorted are the rows of a batch by what is to be done with them.
type sorted struct {
	rows       []*row // to be written
	rejected   []reject
	duplicates int64
	superseded int64
	warnings   []warned
}

// warned is a warning with the line that it is about.
type warned struct {
	kind Warning
	line int64
}

// write is the second pass. The rejects of a batch are on disk before its good rows are in the database, but for those
// that the database turns down, and its figures are counted when both are.
func (r *run) write(ctx context.Context, batch []row) error {
	todo, err := r.sort(batch)
	if err != nil {
		return err
	}
	if err := r.reject(todo.rejected); err != nil {
		return err
	}
	outcomes, err := r.apply(ctx, todo.rows)
	if err != nil {
		return err
	}
	if err := r.reject(r.Plan.orphans(todo.rows, outcomes)); err != nil {
		return err
	}
	r.summary.Read += int64(len(batch))
	r.summary.add(&todo, outcomes)
	return nil
}

// orphans are the rows that cannot go in since they stand below something that was deleted.
func (p *Plan) orphans(rows []*row, outcomes []changes.Outcome) []reject {
	var out []reject
	for i, o := range outcomes {
		if o == changes.Orphaned {
			p.orphan(rows[i])
			out = append(out, rows[i].reject())
		}
	}
	return out
}

func (r *run) sort(batch []row) (sorted, error) {
	var out sorted
	for i := range batch {
		row := &batch[i]
		if !row.good() {
			out.rejected = append(out.rejected, row.reject())
			continue
		}
		switch r.keys.role(row.source.ID, row.source.Digest, row.line) {
		case decides:
			out.rows = append(out.rows, row)
		case duplicate:
			out.duplicates++
		case superseded:
			out.superseded++
			out.warnings = append(out.warnings, warned{WarnSuperseded, row.line})
		case late:
			if len(row.pending) == 0 { // nothing but the file makes such a row good
				return sorted{}, ErrFileChanged
			}
			r.Plan.tooLate(row)
			out.rejected = append(out.rejected, row.reject())
		}
	}
	return out, nil
}

func (r *run) reject(rejected []reject) error {
	for _, one := range rejected {
		if err := r.rejects.add(one); err != nil {
			return err
		}
		r.summary.Rejects = r.rejects.path
	}
	return r.rejects.flush()
}

// apply writes a batch to its end, also where Ctrl-C comes in the middle.
func (r *run) apply(ctx context.Context, rows []*row) ([]changes.Outcome, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	items := make([]changes.Item, len(rows))
	for i, row := range rows {
		items[i] = r.Plan.item(row)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cmp.Or(r.WriteTimeout, defaultWriteTimeout))
	defer cancel()
	outcomes, err := r.Store.Apply(ctx, r.Plan.target.collection, items)
	if err != nil {
		return nil, fmt.Errorf("write a batch (it may be in by part; another run completes it): %w", err)
	}
	return outcomes, nil
}
