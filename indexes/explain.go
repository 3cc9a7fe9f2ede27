package indexes

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Explanation is the plan that the database chose for a find.
type Explanation struct {
	Stages  []string // from the outermost in
	Indexes []string // the names of the indexes that are read
}

// Blocks reports whether the plan reads a whole collection, sorts in memory or merges sorted streams: what a page
// must never do.
func (e Explanation) Blocks() bool {
	return slices.ContainsFunc(e.Stages, func(s string) bool {
		return s == "SORT" || s == "SORT_MERGE" || s == "COLLSCAN"
	})
}

// Explain asks for the winning plan of a find command, without running it.
func Explain(ctx context.Context, db *mongo.Database, find bson.D) (Explanation, error) {
	raw, err := db.RunCommand(ctx, bson.D{{Key: "explain", Value: find}, {Key: "verbosity", Value: "queryPlanner"}}).Raw()
	if err != nil {
		return Explanation{}, err
	}
	var e Explanation
	if plan, ok := raw.Lookup("queryPlanner", "winningPlan").DocumentOK(); ok {
		// The slot-based engine wraps the classic form of the plan.
		if inner, ok := plan.Lookup("queryPlan").DocumentOK(); ok {
			plan = inner
		}
		e.add(plan)
	}
	return e, nil
}

// add walks down the stages of a plan.
func (e *Explanation) add(stage bson.Raw) {
	if name, ok := stage.Lookup("stage").StringValueOK(); ok {
		e.Stages = append(e.Stages, name)
	}
	if index, ok := stage.Lookup("indexName").StringValueOK(); ok {
		e.Indexes = append(e.Indexes, index)
	}
	if input, ok := stage.Lookup("inputStage").DocumentOK(); ok {
		e.add(input)
	}
	if inputs, ok := stage.Lookup("inputStages").ArrayOK(); ok {
		values, _ := inputs.Values()
		for _, v := range values {
			if sub, ok := v.DocumentOK(); ok {
				e.add(sub)
			}
		}
	}
}
