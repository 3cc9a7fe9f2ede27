package pagination

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"catalogue/internal/mongotest"
)

func TestMain(m *testing.M) { os.Exit(mongotest.Main(m)) }

// identity shows documents as they are.
func identity(doc bson.Raw) (bson.Raw, []string) { return doc, nil }

func repository(coll *mongo.Collection) *Repository[bson.Raw] {
	return NewRepository(coll, identity, slog.New(slog.DiscardHandler), nil)
}

// collection makes a collection with the index of the sort and puts docs into it. Documents without an _id get
// ids in the order of a shuffle that is the same in every run, so that _id order is not insertion order.
func collection(t testing.TB, sort Sort, docs ...bson.D) *mongo.Collection {
	t.Helper()
	coll := mongotest.Database(t).Collection("rows")
	createIndex(t, coll, sort)
	insert(t, coll, docs...)
	return coll
}

func createIndex(t testing.TB, coll *mongo.Collection, sort Sort) {
	t.Helper()
	_, err := coll.Indexes().CreateOne(t.Context(), mongo.IndexModel{
		Keys:    bson.D{{Key: sort.Field, Value: 1}, {Key: "_id", Value: 1}},
		Options: options.Index().SetName(indexName(sort)),
	})
	require.NoError(t, err)
}

func indexName(sort Sort) string { return sort.Field + "_1__id_1" }

func insert(t require.TestingT, coll *mongo.Collection, docs ...bson.D) {
	if len(docs) == 0 {
		return
	}
	rows := make([]any, 0, len(docs))
	for i, doc := range docs {
		if !slices.ContainsFunc(doc, func(e bson.E) bool { return e.Key == "_id" }) {
			doc = append(bson.D{{Key: "_id", Value: oid((i*7 + 3) % 101)}}, doc...)
		}
		rows = append(rows, doc)
	}
	_, err := coll.InsertMany(context.Background(), rows)
	require.NoError(t, err)
}

func oid(n int) bson.ObjectID { return bson.ObjectID(id(n + 1)) }

// walk reads a whole list, sending every cursor through its text form. It fails where a walk does not end.
func walk(t require.TestingT, repo *Repository[bson.Raw], q Query, most int) []bson.ObjectID {
	ring, err := NewKeyring(testKey)
	require.NoError(t, err)
	q.From = Start[bson.RawValue]()
	var ids []bson.ObjectID
	for pages := 0; ; pages++ {
		require.LessOrEqual(t, pages, most, "the walk does not end")
		page, err := repo.KeysetPage(context.Background(), q)
		require.NoError(t, err)
		if page.Next != nil {
			require.GreaterOrEqual(t, len(page.Items), q.Limit, "a page with a next one is full")
		}
		for _, doc := range page.Items {
			ids = append(ids, doc.Lookup("_id").ObjectID())
		}
		if page.Next == nil {
			return ids
		}
		text, err := ring.Encode(NewCursor(Scope{List: "rows"}, q.Order, "", 0, *page.Next))
		require.NoError(t, err)
		cursor, err := ring.Decode(text)
		require.NoError(t, err)
		q.From = cursor.Position()
	}
}

// requireWalks compares walks of both directions at the given limits with the documents sorted in memory.
func requireWalks(t require.TestingT, coll *mongo.Collection, sort Sort, limits ...int) {
	docs := everything(t, coll)
	for _, order := range []Order{Asc(sort), Desc(sort)} {
		want := sortedIDs(t, docs, order)
		for _, limit := range limits {
			got := walk(t, repository(coll), Query{Order: order, Limit: limit, Hint: indexName(sort)}, len(docs)+1)
			require.Equal(t, want, got, "sort %s, limit %d", order, limit)
		}
	}
}

func everyLimit(n int) []int {
	limits := make([]int, 0, n+1)
	for l := 1; l <= n+1; l++ {
		limits = append(limits, l)
	}
	return limits
}

func everything(t require.TestingT, coll *mongo.Collection) []bson.Raw {
	return mongotest.Everything(t, coll, bson.D{})
}

func sortedIDs(t require.TestingT, docs []bson.Raw, order Order) []bson.ObjectID {
	return mongotest.SortedIDs(t, docs, order.Field, order.Kind.holds, order.Descending)
}
