package main

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"catalogue/comments"
	"catalogue/creatives"
	"catalogue/history"
	"catalogue/indexes"
	"catalogue/internal/listing"
	"catalogue/internal/mongotest"
	"catalogue/pagination"
	"catalogue/tasks"
)

const planRows = 60_000

// bigTask has every comment and every move of the data set below.
var bigTask = bson.ObjectID{0xb1}

// plantMany fills a collection, in batches.
func plantMany(t *testing.T, coll *mongo.Collection, document func(i int) bson.D) {
	t.Helper()
	for start := 0; start < planRows; start += 5000 {
		batch := []any{}
		for i := start; i < min(planRows, start+5000); i++ {
			batch = append(batch, document(i))
		}
		_, err := coll.InsertMany(t.Context(), batch)
		require.NoError(t, err)
	}
}

// planDocument makes documents with a value for every sort, none in each third one.
func planDocument(sorts pagination.Sorts, fixed bson.D) func(i int) bson.D {
	return func(i int) bson.D {
		parents := map[string]bson.D{}
		doc := append(bson.D{}, fixed...)
		for n, sort := range sorts {
			if i%3 == 0 {
				break
			}
			var value any
			switch tie := i % (9_000 / (n + 1)); sort.Kind {
			case pagination.Number:
				value = float64(tie)
			case pagination.String:
				value = fmt.Sprint("name ", tie)
			case pagination.Date:
				value = bson.DateTime(int64(tie) * 1000)
			}
			if parent, child, nested := strings.Cut(sort.Field, "."); nested {
				parents[parent] = append(parents[parent], bson.E{Key: child, Value: value})
			} else {
				doc = append(doc, bson.E{Key: sort.Field, Value: value})
			}
		}
		for parent, fields := range parents {
			doc = append(doc, bson.E{Key: parent, Value: fields})
		}
		return doc
	}
}

// bigDatabase has 60,000 rows in each list, a third of them without a value and many tied, as one shared data set.
func bigDatabase(t *testing.T) *mongo.Database {
	t.Helper()
	db := mongotest.Database(t)
	plantMany(t, db.Collection(creatives.Collection), planDocument(creatives.List().Sorts, nil))
	plantMany(t, db.Collection(tasks.Collection), planDocument(tasks.List().Sorts, nil))
	plantMany(t, db.Collection(comments.Collection), planDocument(comments.OfTask().Sorts, comments.OfTask().Fixed(bigTask)))
	plantMany(t, db.Collection(history.Collection), planDocument(history.OfTask().Sorts, history.OfTask().Fixed(bigTask)))
	_, err := db.Collection(tasks.Collection).InsertOne(t.Context(), bson.D{{Key: "_id", Value: bigTask}})
	require.NoError(t, err)
	require.NoError(t, indexes.Apply(t.Context(), db, declaredIndexes(), func(indexes.Standing) {}))
	return db
}

// positions are those whose pages together take every form of read: first, ties and values behind a row, nulls behind
// a row.
func positions(t *testing.T, sort pagination.Sort) []pagination.RowPosition {
	t.Helper()
	value := map[pagination.Kind]any{pagination.Number: 3, pagination.String: "name 5", pagination.Date: bson.DateTime(5000)}[sort.Kind]
	typ, data, err := bson.MarshalValue(value)
	require.NoError(t, err)
	return []pagination.RowPosition{
		pagination.Start[bson.RawValue](),
		{Phase: pagination.Values, After: true, Tie: true, Passed: 7, Value: bson.RawValue{Type: typ, Value: data}, ID: bigTask},
		{Phase: pagination.Nulls, After: true, ID: bigTask},
	}
}

// planned remembers the commands whose plans were looked at: explaining costs as much as running here.
type planned map[string]bool

// requirePlans looks at the plan of every read of every sort of a list, in both directions.
func requirePlans[T any](t *testing.T, db *mongo.Database, state *indexes.State, list listing.List[T], seen planned) {
	t.Helper()
	for _, sort := range list.Sorts {
		hint := state.Hint(list.Index(sort))
		require.NotEmpty(t, hint, "%s has no index for %s", list.Path, sort.Field)
		for _, order := range []pagination.Order{pagination.Asc(sort), pagination.Desc(sort)} {
			for _, position := range positions(t, sort) {
				query := list.Query(bigTask, order, position, 50)
				query.Hint, query.Projection = hint, nil // a projection changes no plan but for its last stage
				for _, find := range pagination.Finds(list.Collection, query) {
					text, err := bson.MarshalExtJSON(find.Command, true, false)
					require.NoError(t, err)
					if seen[string(text)] {
						continue
					}
					seen[string(text)] = true
					requirePlan(t, db, find, hint, fmt.Sprintf("%s sort=%s: %s", list.Path, order, text))
				}
			}
		}
	}
}

func requirePlan(t *testing.T, db *mongo.Database, find pagination.Find, hint, where string) {
	t.Helper()
	plan, err := indexes.Explain(t.Context(), db, find.Command)
	require.NoError(t, err, where)
	require.NotEmpty(t, plan.Stages, where)
	require.Equal(t, []string{hint}, plan.Indexes, where)
	if find.Kind == pagination.ReadStrays { // of several types: they are sorted by id when they are found
		require.NotContains(t, plan.Stages, "COLLSCAN", where)
		return
	}
	require.False(t, plan.Blocks(), "%s: %v", where, plan.Stages)
}

func TestCase16EverySortHasItsIndexAndNoPlanBlocks(t *testing.T) {
	t.Parallel()
	db := bigDatabase(t)
	state := indexes.NewState(db, declaredIndexes(), time.Now)
	require.NoError(t, state.Look(t.Context()))
	require.NoError(t, state.Unready())
	t.Run("plans", func(t *testing.T) {
		t.Parallel()
		mongotest.Needs(t, mongotest.ExplainPlans)
		seen := planned{}
		requirePlans(t, db, state, creatives.List(), seen)
		requirePlans(t, db, state, creatives.Gallery(), seen)
		requirePlans(t, db, state, tasks.List(), seen)
		requirePlans(t, db, state, comments.OfTask(), seen)
		requirePlans(t, db, state, history.OfTask(), seen)

		requirePairs(t, db, creatives.List())
		requirePairs(t, db, tasks.List())
	})

	a := serveAsIs(t, db, 30*time.Second)
	requireDeepPage(t, a, creatives.List(), "/creatives", "-metrics.spend")
	requireDeepPage(t, a, tasks.List(), "/tasks", "title")
	requireDeepPage(t, a, comments.OfTask(), "/tasks/"+bigTask.Hex()+"/comments", "-created_at")
}

// requirePairs looks at the plans of filters that have an index of their own, with the planner's own choice of it.
func requirePairs[T any](t *testing.T, db *mongo.Database, list listing.List[T]) {
	t.Helper()
	for _, pair := range list.Pairs {
		order, ok := list.Sorts.Parse("-" + pair.Sort)
		require.True(t, ok)
		query := list.Query(bson.NilObjectID, order, pagination.Start[bson.RawValue](), 50)
		query.Filter = bson.D{{Key: pair.Filter, Value: bson.D{{Key: "$eq", Value: "x"}}}}
		for _, find := range pagination.Finds(list.Collection, query)[:2] { // values and nulls
			plan, err := indexes.Explain(t.Context(), db, find.Command)
			require.NoError(t, err)
			require.Equal(t, []string{pair.Filter + "_1_" + pair.Sort + "_1__id_1"}, plan.Indexes, "%s: %v", list.Path, pair)
			require.False(t, plan.Blocks(), "%s: %v: %v", list.Path, pair, plan.Stages)
		}
	}
}

// requireDeepPage reads the first page and one behind row 55,000, and compares them with a plain sort and skip.
func requireDeepPage[T any](t *testing.T, a *api, list listing.List[T], path, sort string) {
	t.Helper()
	order, ok := list.Sorts.Parse(sort)
	require.True(t, ok)
	rows := sortedRows(t, a.db.Collection(list.Collection), order)
	require.Equal(t, rows[:50], a.page(t, path+"?sort="+sort).ids(t))

	const deep = 55_000 // in the nulls, where the list has any
	id, err := bson.ObjectIDFromHex(rows[deep])
	require.NoError(t, err)
	position := pagination.RowPosition{Phase: pagination.Nulls, After: true, ID: id}
	var doc bson.Raw
	require.NoError(t, a.db.Collection(list.Collection).FindOne(t.Context(), bson.D{{Key: "_id", Value: id}}).Decode(&doc))
	if value, err := doc.LookupErr(order.Field); err == nil {
		position = pagination.RowPosition{Phase: pagination.Values, After: true, Tie: true, Value: value, ID: id}
	}
	ring, err := pagination.NewKeyring(testCursorKey)
	require.NoError(t, err)
	scope := pagination.Scope{List: list.Name}
	if list.Fixed != nil {
		scope.Entity = bigTask.Hex()
	}
	cursor, err := ring.Encode(pagination.NewCursor(scope, order, "", 0, position))
	require.NoError(t, err)
	require.Equal(t, rows[deep+1:deep+51], a.page(t, path+"?sort="+sort+"&cursor="+url.QueryEscape(cursor)).ids(t))
}

// sortedRows are the ids of a collection in a list's order: values, then nulls.
func sortedRows(t *testing.T, coll *mongo.Collection, order pagination.Order) []string {
	t.Helper()
	direction := 1
	if order.Descending {
		direction = -1
	}
	find := func(filter bson.D) []string {
		cursor, err := coll.Find(t.Context(), filter, options.Find().
			SetSort(bson.D{{Key: order.Field, Value: direction}, {Key: "_id", Value: direction}}).SetProjection(bson.D{{Key: "_id", Value: 1}}))
		require.NoError(t, err)
		var docs []struct {
			ID bson.ObjectID `bson:"_id"`
		}
		require.NoError(t, cursor.All(t.Context(), &docs))
		var ids []string
		for _, d := range docs {
			ids = append(ids, d.ID.Hex())
		}
		return ids
	}
	return slices.Concat(
		find(bson.D{{Key: order.Field, Value: bson.D{{Key: "$ne", Value: nil}}}}),
		find(bson.D{{Key: order.Field, Value: nil}}))
}
