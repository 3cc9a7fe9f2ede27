package creatives

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/changes"
	"catalogue/internal/editing"
	"catalogue/internal/mongodb"
	"catalogue/internal/origin"
	"catalogue/internal/problem"
	"catalogue/internal/strictjson"
)

// Sources finds creatives by where they came from.
type Sources interface {
	IDsBySource(ctx context.Context, system string, ids []string) (map[string]bson.ObjectID, error)
}

// sourced are the figures of the creative that came from a source, as a merge patch of its metrics.
type sourced struct {
	Source  *origin.Source   `json:"source"  validate:"required"`
	Metrics strictjson.Value `json:"metrics" validate:"required"`
}

// figures puts the nightly figures of other systems into creatives.
type figures struct {
	writer  *changes.Writer[Creative]
	sources Sources
	items   *strictjson.Decoder[sourced]
	metrics *strictjson.Decoder[Metrics]
}

func newFigures(writer *changes.Writer[Creative], sources Sources) *figures {
	return &figures{
		writer: writer, sources: sources,
		items: strictjson.New[sourced](), metrics: strictjson.New[Metrics]("ctr"),
	}
}

// put merges the figures of one item into its creative.
func (f *figures) put(ctx context.Context, i editing.Item) (editing.Outcome, error) {
	item, wrong := editing.Read(f.items, i.Value)
	var patch strictjson.Patch[Metrics]
	if !item.Metrics.IsZero() {
		var inMetrics []problem.FieldError
		patch, inMetrics = editing.ReadPatch(f.metrics, item.Metrics)
		wrong = append(wrong, editing.Within("metrics", inMetrics)...)
	}
	if len(wrong) > 0 {
		return editing.Outcome{}, problem.Invalid(wrong)
	}
	id, err := f.find(ctx, *item.Source)
	if err != nil {
		return editing.Outcome{}, err
	}
	saved, err := f.writer.Patch(ctx, changes.Change[Creative]{
		ID: id, By: i.User, Inside: editing.Inside[Creative](i),
		Apply: func(c *Creative) error {
			var metrics Metrics
			if c.Metrics != nil {
				metrics = *c.Metrics
			}
			if err := editing.Apply(patch, &metrics); err != nil {
				return editing.WithinError("metrics", err)
			}
			if c.Metrics = &metrics; metrics == (Metrics{}) {
				c.Metrics = nil
			}
			return nil
		},
		Removes: inMetrics(patch.Removes()),
	})
	return editing.Patched(saved), err
}

// inMetrics puts the paths of stored figures where they stand in a creative.
func inMetrics(paths [][]string) [][]string {
	out := make([][]string, len(paths))
	for i, path := range paths {
		out[i] = append([]string{"metrics"}, path...)
	}
	return out
}

func (f *figures) find(ctx context.Context, source origin.Source) (bson.ObjectID, error) {
	ids, err := f.sources.IDsBySource(ctx, source.System, []string{source.ID})
	if err != nil {
		return bson.NilObjectID, mongodb.Convert(err)
	}
	id, found := ids[source.ID]
	if !found {
		return bson.NilObjectID, problem.New(problem.NotFound, "There is no creative %q of the system %q.",
			problem.Short(source.ID), problem.Short(source.System))
	}
	return id, nil
}
