package pagination

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/mongodb"
	"catalogue/internal/mongotest"
)

// watched is a collection whose commands are recorded as they go over the wire.
type watched struct {
	*mongo.Collection
	mu       sync.Mutex
	commands []bson.Raw
}

func watch(t *testing.T, sort Sort, docs ...bson.D) *watched {
	t.Helper()
	coll := collection(t, sort, docs...)
	w := &watched{}
	client, err := mongodb.Open(mongodb.Options{
		URI: mongotest.URI(t), Database: coll.Database().Name(),
		Monitor: &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.commands = append(w.commands, append(bson.Raw{}, e.Command...))
		}},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Disconnect(context.Background())) })
	w.Collection = client.Database().Collection(coll.Name())
	return w
}

// sent returns the recorded commands of a name and forgets all.
func (w *watched) sent(name string) []bson.Raw {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []bson.Raw
	for _, c := range w.commands {
		if c.Lookup(name).Type != 0 {
			out = append(out, c)
		}
	}
	w.commands = nil
	return out
}

func TestEveryReadCarriesItsDeadlineToTheServerOnce(t *testing.T) {
	t.Parallel()
	w := watch(t, score, with("score", 1, nil)...)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err := repository(w.Collection).KeysetPage(ctx, Query{Order: Asc(score), Limit: 5, From: Start[bson.RawValue]()})
	require.NoError(t, err)
	finds := w.sent("find")
	require.Len(t, finds, 3, "values, nulls, strays")
	for _, find := range finds {
		elements, err := find.Elements()
		require.NoError(t, err)
		var limits []int64
		for _, e := range elements {
			if e.Key() == "maxTimeMS" {
				limits = append(limits, e.Value().AsInt64())
			}
		}
		require.Len(t, limits, 1)
		require.Positive(t, limits[0])
		require.LessOrEqual(t, limits[0], int64(5000))
	}
}

func TestAPageAmongDistinctValuesIsOneReadWithItsHint(t *testing.T) {
	t.Parallel()
	w := watch(t, score, with("score", 1, 2, 3, 4, 5, 6)...)
	repo, q := repository(w.Collection), Query{Order: Asc(score), Limit: 2, Hint: indexName(score), From: Start[bson.RawValue]()}
	first, err := repo.KeysetPage(t.Context(), q)
	require.NoError(t, err)
	require.Len(t, w.sent("find"), 1)
	q.From = *first.Next
	_, err = repo.KeysetPage(t.Context(), q)
	require.NoError(t, err)
	finds := w.sent("find")
	require.Len(t, finds, 1, "the cursor says that nothing is tied")
	require.Equal(t, indexName(score), finds[0].Lookup("hint").StringValue())
	require.Equal(t, int64(3), finds[0].Lookup("limit").AsInt64())
}

func TestAPageIsReadWithoutAHintThatTheServerRefuses(t *testing.T) {
	t.Parallel()
	coll := collection(t, score, with("score", 1, 2, 3)...)
	var refused []string
	repo := NewRepository(coll, identity, slog.New(slog.DiscardHandler), func(index string) { refused = append(refused, index) })
	page, err := repo.KeysetPage(t.Context(), Query{Order: Asc(score), Limit: 2, Hint: "gone", From: Start[bson.RawValue]()})
	require.NoError(t, err)
	require.Len(t, page.Items, 2)
	require.Equal(t, []string{"gone"}, refused)
}

func long(s string) string { return strings.Repeat(s, maxCursorValue) }

func TestValuesThatNoCursorCarriesAreWalkedAtEveryLimit(t *testing.T) {
	t.Parallel()
	requireCase(t, name, with("name",
		"a", long("b"), long("b"), long("b")+"a", long("b")+"é", long("bé"), long("c"), "d", long("é"), long("é")+"x", nil)...)
}

func TestARowWithALongValueIsDeletedOrChangedInMidWalk(t *testing.T) {
	t.Parallel()
	for _, order := range []Order{Asc(name), Desc(name)} {
		for what, change := range map[string]func(*mongo.Collection, bson.ObjectID) error{
			"deleted": func(c *mongo.Collection, id bson.ObjectID) error {
				_, err := c.DeleteOne(t.Context(), bson.D{{Key: "_id", Value: id}})
				return err
			},
			"changed": func(c *mongo.Collection, id bson.ObjectID) error {
				_, err := c.UpdateByID(t.Context(), id, bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: long("b") + "zz"}}}})
				return err
			},
		} {
			t.Run(order.String()+" "+what, func(t *testing.T) {
				t.Parallel()
				coll := collection(t, name, with("name", "a", long("b")+"1", long("b")+"5", long("b")+"9", "c", "d")...)
				want := sortedIDs(t, everything(t, coll), order)
				q := Query{Order: order, Limit: 3, From: Start[bson.RawValue]()}
				first, err := repository(coll).KeysetPage(t.Context(), q)
				require.NoError(t, err)
				require.NotEmpty(t, first.Next.Cut)
				require.NoError(t, change(coll, want[2]))
				q.From, q.Limit = *first.Next, 10
				rest, err := repository(coll).KeysetPage(t.Context(), q)
				require.NoError(t, err)
				for _, id := range want[3:] {
					require.Contains(t, ids(rest.Items), id, "a row is lost")
				}
			})
		}
	}
}

func TestAPageOfMoreThanOneReplyIsWhole(t *testing.T) {
	t.Parallel()
	var docs []bson.D
	for i := range 5 { // 30 MB, and a reply has at most 16
		docs = append(docs, bson.D{{Key: "score", Value: i}, {Key: "pad", Value: strings.Repeat("x", 6<<20)}})
	}
	coll := collection(t, score)
	for i, doc := range docs {
		insert(t, coll, append(bson.D{{Key: "_id", Value: oid(i)}}, doc...))
	}
	page, err := repository(coll).KeysetPage(t.Context(), Query{Order: Asc(score), Limit: 5, From: Start[bson.RawValue]()})
	require.NoError(t, err)
	require.Len(t, page.Items, 5)
}

func TestAUsersOrSurvives(t *testing.T) {
	t.Parallel()
	docs := with("score", 1, 2, 3, 4, nil, "x")
	for i := range docs {
		docs[i] = append(docs[i], bson.E{Key: "kind", Value: []string{"a", "b", "c"}[i%3]})
	}
	coll := collection(t, score, docs...)
	filter := bson.D{{Key: "$or", Value: bson.A{bson.D{{Key: "kind", Value: "a"}}, bson.D{{Key: "score", Value: bson.D{{Key: "$gt", Value: 2}}}}}}}
	var matching []bson.Raw
	cursor, err := coll.Find(t.Context(), filter)
	require.NoError(t, err)
	require.NoError(t, cursor.All(t.Context(), &matching))
	require.Len(t, matching, 3)
	for _, order := range []Order{Asc(score), Desc(score)} {
		for limit := 1; limit <= 4; limit++ {
			got := walk(t, repository(coll), Query{Order: order, Limit: limit, Filter: filter}, 5)
			require.Equal(t, sortedIDs(t, matching, order), got)
		}
	}
}

func TestAMissingCollectionIsAnEmptyList(t *testing.T) {
	t.Parallel()
	coll := mongotest.Database(t).Collection("none")
	page, err := repository(coll).KeysetPage(t.Context(), Query{Order: Asc(score), Limit: 5, Hint: "none", From: Start[bson.RawValue]()})
	require.NoError(t, err)
	require.Empty(t, page.Items)
	require.Nil(t, page.Next)
}
