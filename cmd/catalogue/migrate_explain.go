package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/comments"
	"catalogue/creatives"
	"catalogue/feed"
	"catalogue/history"
	"catalogue/indexes"
	"catalogue/internal/listing"
	"catalogue/pagination"
	"catalogue/tasks"
)

// explainLimit is the size of the pages whose reads are explained. Plans do not depend on it.
const explainLimit = 50

func newMigrateExplainCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "explain",
		Short: "Show the database's plan for every read that lists and feed take",
		Long: `Show the plan that the database answers for every read of every list: each sort in both directions, each declared pair
of filter and sort, and the feed. The declared indexes must be there. Nothing is read but plans.

The exit code is 1 where a plan sorts rows or scans a collection. Reads of stray types alone may sort: those rows are few.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.migrating(c.Context(), a.migrateExplain) },
	}
}

func (a *app) migrateExplain(ctx context.Context, db *mongo.Database) error {
	state := indexes.NewState(db, declaredIndexes(), a.now)
	if err := state.Look(ctx); err != nil {
		return err
	}
	if err := state.Unready(); err != nil {
		return fmt.Errorf("%w: run catalogue migrate up first", err)
	}
	reads, err := everyRead(state)
	if err != nil {
		return err
	}
	explained, err := indexes.Explained(ctx, db, reads)
	if err != nil {
		return err
	}
	return a.showExplained(explained)
}

// everyRead lists the reads of lists and feed.
func everyRead(state *indexes.State) ([]indexes.Read, error) {
	var out []indexes.Read
	for _, list := range []func(*indexes.State) ([]indexes.Read, error){
		readsOf(creatives.List()), readsOf(creatives.Gallery()), readsOf(tasks.List()),
		readsOf(comments.OfTask()), readsOf(history.OfTask()),
	} {
		reads, err := list(state)
		if err != nil {
			return nil, err
		}
		out = append(out, reads...)
	}
	for _, collection := range []string{creatives.Collection, tasks.Collection, comments.Collection} {
		out = append(out, feedReads(state, collection)...)
	}
	return out, nil
}

// readsOf lists the reads of one list: its sorts with their hints, and its pairs with the planner's own choice, as they
// are served.
func readsOf[T any](list listing.List[T]) func(*indexes.State) ([]indexes.Read, error) {
	return func(state *indexes.State) ([]indexes.Read, error) {
		var out []indexes.Read
		add := func(filter string, sort pagination.Sort, complete func(*pagination.Query)) error {
			for _, order := range []pagination.Order{pagination.Asc(sort), pagination.Desc(sort)} {
				reads, err := indexes.ReadsOf(list.Path, filter, list.Collection, order,
					func(from pagination.RowPosition) pagination.Query {
						q := list.Query(bson.ObjectID{1}, order, from, explainLimit)
						complete(&q)
						return q
					})
				if err != nil {
					return fmt.Errorf("the reads of %s: %w", list.Path, err)
				}
				out = append(out, reads...)
			}
			return nil
		}
		for _, sort := range list.Sorts {
			if err := add("", sort, func(q *pagination.Query) { q.Hint = state.Hint(list.Index(sort)) }); err != nil {
				return nil, err
			}
		}
		for _, pair := range list.Pairs {
			order, known := list.Sorts.Parse(pair.Sort)
			if !known {
				return nil, fmt.Errorf("%s has no sort %s, which a pair names", list.Path, pair.Sort)
			}
			filter := bson.D{{Key: pair.Filter, Value: bson.D{{Key: "$eq", Value: "x"}}}}
			if err := add(pair.Filter, order.Sort, func(q *pagination.Query) { q.Filter = filter }); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
}

func feedReads(state *indexes.State, collection string) []indexes.Read {
	var out []indexes.Read
	for _, find := range feed.Finds(collection, state.Hint(feed.Index(collection))) {
		direction := "asc"
		if find.Descending {
			direction = "desc"
		}
		out = append(out, indexes.Read{
			List: feed.Prefix + "/" + collection, Sort: feed.SortField, Direction: direction, Read: find.Read,
			Command: find.Command,
		})
	}
	return out
}

func (a *app) showExplained(explained []indexes.ExplainedRead) error {
	rows := make([]string, 0, len(explained))
	blocking := 0
	for _, e := range explained {
		verdict := "ok"
		if e.Blocks {
			blocking++
			verdict = "BLOCKS"
		}
		filter := e.Filter
		if filter == "" {
			filter = "-"
		}
		rows = append(rows, cells(e.List, filter, e.Sort, e.Direction, e.Read.Read, verdict, e.Plan, e.Index))
	}
	if err := table(a.stdout, "LIST\tFILTER\tSORT\tDIRECTION\tREAD\tVERDICT\tPLAN\tINDEX", rows); err != nil {
		return err
	}
	if blocking > 0 {
		return fmt.Errorf("%d of %d reads sort rows or scan a collection", blocking, len(explained))
	}
	a.say("\n%d reads: none sorts rows or scans a collection.", len(explained))
	return nil
}
