package indexes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/pagination"
)

// Read is one of the reads that the pages of a list take.
type Read struct {
	List      string `json:"list"`
	Filter    string `json:"filter,omitempty"` // field of a declared pair; empty for the list without a filter
	Sort      string `json:"sort"`
	Direction string `json:"direction"` // asc or desc
	Read      string `json:"read"`      // first, first nulls, ties, values, nulls or strays
	Command   bson.D `json:"-"`
}

// ExplainedRead is a read with the plan that the database answers.
type ExplainedRead struct {
	Read
	Plan  string `json:"plan"`  // stages, from the outermost in
	Index string `json:"index"` // name; empty where none is read
	// Blocks: it reads a whole collection or sorts rows before it answers. Strays alone may be sorted: they are few, and
	// have no order in the index.
	Blocks bool `json:"blocks"`
}

const readStrays = "strays"

// ReadsOf lists the reads of a list in one order, each once. query makes the query of the page that begins at a
// position: with its hint, or with the filter of a pair.
func ReadsOf(
	list, filter, collection string, order pagination.Order, query func(pagination.RowPosition) pagination.Query,
) ([]Read, error) {
	value, err := sample(order.Kind)
	if err != nil {
		return nil, err
	}
	direction := "asc"
	if order.Descending {
		direction = "desc"
	}
	id := pagination.ID{1}
	var out []Read
	for _, from := range []pagination.RowPosition{
		pagination.Start[bson.RawValue](),
		{Phase: pagination.Values, After: true, Tie: true, Value: value, ID: id},
		{Phase: pagination.Values, After: true, Tie: true, Passed: 1, Value: value, ID: id},
		{Phase: pagination.Nulls, After: true, ID: id},
	} {
		for _, find := range pagination.Finds(collection, query(from)) {
			name := readName(find.Kind, from.After)
			if slices.ContainsFunc(out, func(r Read) bool { return r.Read == name }) {
				continue
			}
			out = append(out, Read{
				List: list, Filter: filter, Sort: order.Field, Direction: direction, Read: name, Command: find.Command,
			})
		}
	}
	return out, nil
}

func readName(kind pagination.ReadKind, after bool) string {
	switch kind {
	case pagination.ReadTies:
		return "ties"
	case pagination.ReadFrom:
		return "tie and values"
	case pagination.ReadValues:
		if !after {
			return "first"
		}
		return "values"
	case pagination.ReadNulls:
		if !after {
			return "first nulls"
		}
		return "nulls"
	default:
		return readStrays
	}
}

// sample is a value to stand behind: plans do not depend on which.
func sample(kind pagination.Kind) (bson.RawValue, error) {
	var value any
	switch kind {
	case pagination.Number:
		value = 1.0
	case pagination.Date:
		value = bson.NewDateTimeFromTime(time.Unix(0, 0))
	default:
		value = "m"
	}
	t, data, err := bson.MarshalValue(value)
	return bson.RawValue{Type: t, Value: data}, err
}

// Explained asks the database for the plan of each read.
func Explained(ctx context.Context, db *mongo.Database, reads []Read) ([]ExplainedRead, error) {
	out := make([]ExplainedRead, 0, len(reads))
	for _, read := range reads {
		plan, err := Explain(ctx, db, read.Command)
		if err != nil {
			return out, fmt.Errorf("explain the read %q of %s by %s %s: %w", read.Read, read.List, read.Sort, read.Direction, err)
		}
		blocks := plan.Blocks()
		if read.Read == readStrays {
			blocks = slices.Contains(plan.Stages, "COLLSCAN")
		}
		out = append(out, ExplainedRead{
			Read: read, Plan: strings.Join(plan.Stages, " < "), Index: strings.Join(plan.Indexes, ", "), Blocks: blocks,
		})
	}
	return out, nil
}
