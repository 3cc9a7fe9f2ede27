package indexes

import (
	"context"
	"errors"
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

// Explain asks for the winning plan of a find command, without running it. It fails where the server tells none:
// that must not pass for a plan without faults.
func Explain(ctx context.Context, db *mongo.Database, find bson.D) (Explanation, error) {
	raw, err := db.RunCommand(ctx, bson.D{{Key: "explain", Value: find}, {Key: "verbosity", Value: "queryPlanner"}}).Raw()
	if err != nil {
		return Explanation{}, err
	}
	e := explanation(raw)
	if len(e.Stages) == 0 {
		return Explanation{}, errors.New("the server explains no plan")
	}
	return e, nil
}

func explanation(answer bson.Raw) Explanation {
	var e Explanation
	if planner, ok := answer.Lookup("queryPlanner").DocumentOK(); ok {
		e.addWinner(planner)
	}
	return e
}

// addWinner adds the plan of a server, or of one shard.
func (e *Explanation) addWinner(planner bson.Raw) {
	plan, ok := planner.Lookup("winningPlan").DocumentOK()
	if !ok {
		return
	}
	// The slot-based engine wraps the classic form of the plan.
	if inner, ok := plan.Lookup("queryPlan").DocumentOK(); ok {
		plan = inner
	}
	e.add(plan)
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
	for _, input := range documents(stage.Lookup("inputStages")) {
		e.add(input)
	}
	for _, shard := range documents(stage.Lookup("shards")) {
		e.addWinner(shard)
	}
}

// documents are the documents of an array, none of anything else.
func documents(v bson.RawValue) []bson.Raw {
	array, ok := v.ArrayOK()
	if !ok {
		return nil
	}
	values, _ := array.Values() // what was read before the damage
	var out []bson.Raw
	for _, value := range values {
		if doc, ok := value.DocumentOK(); ok {
			out = append(out, doc)
		}
	}
	return out
}
