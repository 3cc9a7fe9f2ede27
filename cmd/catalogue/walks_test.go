package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/mongotest"
	"catalogue/internal/testenv"
	"catalogue/pagination"
	"catalogue/tasks"
)

// sampleFiles is what is imported of the folder of samples.
var sampleFiles = []struct{ target, mapping, file string }{
	{"creatives", "ads.yaml", "ads.csv"},
	{"creatives", "artworks.yaml", "artworks.jsonl"},
	{"tasks", "tasks.yaml", "tasks.jsonl"},
	{"history", "task-history.yaml", "task-history.jsonl"},
	{"comments", "task-comments.yaml", "task-comments.jsonl"},
}

// imported serves the sample files, imported by the command with the mappings that are shipped.
func imported(t *testing.T) *api {
	t.Helper()
	folder := testenv.Samples(t)
	db, uri := mongotest.Database(t), mongotest.URI(t)
	for _, f := range sampleFiles {
		o := importInto(t.Context(), db, uri, f.target, "--map", filepath.Join("..", "..", "examples", "mappings", f.mapping),
			"--rejects", filepath.Join(t.TempDir(), "rejects"), filepath.Join(folder, f.file))
		require.Zero(t, o.code, "%s\n%s", o.stdout, o.stderr)
	}
	return serveDatabase(t, db)
}

// holds tells the types that values of a kind have.
func holds(kind pagination.Kind) func(bson.Type) bool {
	return func(t bson.Type) bool {
		switch kind {
		case pagination.Number:
			return t == bson.TypeDouble || t == bson.TypeInt32 || t == bson.TypeInt64 || t == bson.TypeDecimal128
		case pagination.String:
			return t == bson.TypeString
		default:
			return t == bson.TypeDateTime
		}
	}
}

// requireWalk compares a walk with the documents sorted in memory.
func (a *api) requireWalk(t *testing.T, path string, docs []bson.Raw, order pagination.Order, limit int) {
	t.Helper()
	var want []string
	for _, id := range mongotest.SortedIDs(t, docs, order.Field, holds(order.Kind), order.Descending) {
		want = append(want, id.Hex())
	}
	require.Equal(t, want, a.walk(t, path, order.String(), limit, len(docs)/limit+1), "%s sort=%s limit=%d", path, order, limit)
}

func bothWays(sorts pagination.Sorts) []pagination.Order {
	var out []pagination.Order
	for _, sort := range sorts {
		out = append(out, pagination.Asc(sort), pagination.Desc(sort))
	}
	return out
}

func everyDocument(t *testing.T, db *mongo.Database, collection string, filter bson.D) []bson.Raw {
	t.Helper()
	return mongotest.Everything(t, db.Collection(collection), filter)
}

func TestWalksOfImportedFilesEqualTheSortedLists(t *testing.T) {
	t.Parallel()
	a := imported(t)
	for _, list := range everyList("", "")[:3] {
		collection := map[string]string{"creatives": "creatives", "gallery": "creatives", "tasks": "tasks"}[list.name]
		docs := everyDocument(t, a.db, collection, bson.D{})
		require.Greater(t, len(docs), 1900)
		for i, order := range bothWays(list.sorts) {
			a.requireWalk(t, list.paths[0], docs, order, 200)
			if i == 1 || i == 4 || i == 8 { // the default, which is the first sort descending, and two more
				a.requireWalk(t, list.paths[0], docs, order, 50)
			}
		}
	}
}

func TestWalksOfImportedThreadsEqualTheSortedLists(t *testing.T) {
	t.Parallel()
	a := imported(t)
	moves, remarks := 0, 0
	for _, task := range everyDocument(t, a.db, tasks.Collection, bson.D{}) {
		id := task.Lookup("_id").ObjectID()
		below := bson.D{{Key: "entity_type", Value: "task"}, {Key: "entity_id", Value: id}}
		for _, list := range everyList(id.Hex(), "")[3:] {
			docs := everyDocument(t, a.db, list.name, below)
			orders := bothWays(list.sorts)
			if len(docs) < 2 {
				orders = orders[1:] // one row has one order
			}
			for _, order := range orders {
				a.requireWalk(t, list.paths[0], docs, order, 200)
				if len(docs) > 3 {
					a.requireWalk(t, list.paths[0], docs, order, 2)
				}
			}
			if list.name == "comments" {
				remarks += len(docs)
			} else {
				moves += len(docs)
			}
		}
	}
	require.Equal(t, 83, remarks, "every comment was walked")
	require.Equal(t, 3827, moves, "every move was walked")
}

func TestWalksOfSubsetsWithTiesAndNullsEqualTheSortedLists(t *testing.T) {
	t.Parallel()
	a := seeded(t, 100, 100)
	first := a.firstTask(t)
	for _, list := range everyList(first, "") {
		collection := map[string]string{"creatives": "creatives", "gallery": "creatives", "tasks": "tasks", "comments": "comments", "history": "history"}[list.name]
		filter := bson.D{}
		if list.name == "comments" || list.name == "history" {
			id, err := bson.ObjectIDFromHex(first)
			require.NoError(t, err)
			filter = bson.D{{Key: "entity_id", Value: id}}
		}
		docs := everyDocument(t, a.db, collection, filter)
		require.GreaterOrEqual(t, len(docs), 100)
		for _, order := range bothWays(list.sorts) {
			for _, limit := range []int{1, 2, 3, 7, len(docs) + 1} {
				a.requireWalk(t, list.paths[0], docs, order, limit)
			}
		}
	}
}
