package pagination

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/mongotest"
)

// The cases that other paginators got wrong, by their number in the design notes. Each is walked in both
// directions with every limit from 1 to one more than it has rows.

var (
	score = Sort{Field: "score", Kind: Number}
	name  = Sort{Field: "name", Kind: String}
	at    = Sort{Field: "at", Kind: Date}
	spend = Sort{Field: "metrics.spend", Kind: Number}
)

func with(field string, values ...any) []bson.D {
	docs := make([]bson.D, 0, len(values))
	for _, v := range values {
		docs = append(docs, bson.D{{Key: field, Value: v}})
	}
	return docs
}

func repeat(n int, v any) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = v
	}
	return out
}

func requireCase(t *testing.T, sort Sort, docs ...bson.D) *mongo.Collection {
	t.Helper()
	coll := collection(t, sort, docs...)
	requireWalks(t, coll, sort, everyLimit(len(docs))...)
	return coll
}

func TestCase01ARowWithoutAValueIsNotLost(t *testing.T) {
	t.Parallel()
	requireCase(t, score, bson.D{{Key: "score", Value: 1}}, bson.D{})
	requireCase(t, score, append(with("score", 1, 2, 3), bson.D{}, bson.D{}, bson.D{})...)
	requireCase(t, score, with("score", 1, 2, 3, nil, nil, nil)...)
}

func TestCase01ARowWithoutAValueIsNotLostBesideANull(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.NullsAsMissing)
	requireCase(t, score, append(with("score", 1, 2, 3, nil), bson.D{}, bson.D{}, bson.D{})...)
}

func TestCase02MoreNullsThanAPageAndNothingButNulls(t *testing.T) {
	t.Parallel()
	requireCase(t, score, with("score", append([]any{1, 2}, repeat(9, nil)...)...)...)
	requireCase(t, score, with("score", repeat(7, nil)...)...)
	requireCase(t, score, bson.D{}, bson.D{}, bson.D{})
}

func TestCase03APageEndsWhereTheValuesEnd(t *testing.T) {
	t.Parallel()
	coll := requireCase(t, score, with("score", 1, 2, 3, 4, 5, nil, nil, nil, nil, nil)...)
	page, err := repository(coll).KeysetPage(t.Context(), Query{Order: Asc(score), Limit: 5, From: Start[bson.RawValue]()})
	require.NoError(t, err)
	require.Len(t, page.Items, 5)
	require.Equal(t, &RowPosition{Phase: Nulls}, page.Next, "the cursor is in the nulls already, without an id")
}

func TestCase04TheEmptyTextIsAValue(t *testing.T) {
	t.Parallel()
	requireCase(t, name, with("name", "", "", nil, "a")...)
}

func TestCase05TiesAreBrokenByIDUnderTheirOwnValueOnly(t *testing.T) {
	t.Parallel()
	requireCase(t, score, with("score", 5, 5, 5)...)
	requireCase(t, score,
		bson.D{{Key: "_id", Value: oid(1)}, {Key: "score", Value: 5}},
		bson.D{{Key: "_id", Value: oid(2)}, {Key: "score", Value: 5}},
		bson.D{{Key: "_id", Value: oid(0)}, {Key: "score", Value: 6}})
}

func TestCase06AHundredTies(t *testing.T) {
	t.Parallel()
	coll := collection(t, score, with("score", repeat(100, 1)...)...)
	requireWalks(t, coll, score, 1, 7, 49, 50, 51, 99, 100, 101)
}

func TestCase07NoEmptyPageAtTheEnd(t *testing.T) {
	t.Parallel()
	coll := requireCase(t, score, with("score", 1, 2, 3, 4)...)
	q := Query{Order: Asc(score), Limit: 2, From: Start[bson.RawValue]()}
	first, err := repository(coll).KeysetPage(t.Context(), q)
	require.NoError(t, err)
	q.From = *first.Next
	second, err := repository(coll).KeysetPage(t.Context(), q)
	require.NoError(t, err)
	require.Len(t, second.Items, 2)
	require.Nil(t, second.Next)
}

func TestCase08TwoMatchesAmongManyRows(t *testing.T) {
	t.Parallel()
	docs := with("score", repeat(30, 1)...)
	docs[4] = append(docs[4], bson.E{Key: "kind", Value: "x"})
	docs[20] = append(docs[20], bson.E{Key: "kind", Value: "x"})
	coll := collection(t, score, docs...)
	for _, order := range []Order{Asc(score), Desc(score)} {
		q := Query{Order: order, Limit: 1, Filter: bson.D{{Key: "kind", Value: "x"}}, From: Start[bson.RawValue]()}
		first, err := repository(coll).KeysetPage(t.Context(), q)
		require.NoError(t, err)
		require.Len(t, first.Items, 1)
		q.From = *first.Next
		second, err := repository(coll).KeysetPage(t.Context(), q)
		require.NoError(t, err)
		require.Len(t, second.Items, 1)
		require.Nil(t, second.Next)
		require.NotEqual(t, first.Items[0].Lookup("_id"), second.Items[0].Lookup("_id"))
	}
}

func TestCase09NumbersOfEveryTypeAreOneExactOrder(t *testing.T) {
	t.Parallel()
	requireCase(t, score, with("score", numbers(t)...)...)
}

func TestCase09WhatIsNoNumberIsAStray(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.NaN)
	requireCase(t, score, with("score", append(numbers(t), math.NaN(), mustDecimal(t, "NaN"))...)...)
}

func numbers(t *testing.T) []any {
	t.Helper()
	return []any{
		1.9, 1.55, 1.2,
		int64(9007199254740993), int64(9007199254740992), 9007199254740992.0,
		mustDecimal(t, "1.1"), 1.1, mustDecimal(t, "1.10"), mustDecimal(t, "9007199254740992.5"),
		0.0, math.Copysign(0, -1), int32(0),
		math.Inf(1), math.Inf(-1), mustDecimal(t, "Infinity"), mustDecimal(t, "-Infinity"),
		int64(math.MaxInt64), float64(math.MaxInt64), int64(math.MinInt64),
	}
}

func TestCase10TimesOfOneMillisecondAndAcrossAClockChange(t *testing.T) {
	t.Parallel()
	moment := time.Date(2026, 3, 29, 0, 59, 59, 999_000_000, time.UTC)
	var docs []bson.D
	for i := range 12 { // microseconds are cut when they are stored, so all of these are tied
		docs = append(docs, bson.D{{Key: "at", Value: moment.Add(time.Duration(i) * 50 * time.Microsecond)}})
	}
	zone, err := time.LoadLocation("Europe/Kyiv") // clocks go forward on 29 March and back on 25 October
	require.NoError(t, err)
	for _, start := range []time.Time{
		time.Date(2026, 3, 29, 0, 0, 0, 0, zone), time.Date(2026, 10, 25, 0, 0, 0, 0, zone),
	} {
		for hour := range 6 {
			docs = append(docs, bson.D{{Key: "at", Value: start.Add(time.Duration(hour) * time.Hour)}})
		}
	}
	docs = append(docs, bson.D{{Key: "at", Value: bson.DateTime(math.MinInt64)}}, bson.D{{Key: "at", Value: bson.DateTime(math.MaxInt64)}})
	requireCase(t, at, docs...)
}

func TestCase11StraysAreServedBehindTheNulls(t *testing.T) {
	t.Parallel()
	number := []any{
		5, "5", true, bson.DateTime(5), mustDecimal(t, "5"), nil, bson.NewObjectID(),
		bson.Binary{Data: []byte{5}},
		bson.Regex{Pattern: "5"},
		bson.Timestamp{T: 5},
		bson.MinKey{},
		bson.MaxKey{},
		bson.D{{Key: "a", Value: 5}},
		bson.JavaScript("5"), 6,
	}
	if mongotest.Has(t, mongotest.NaN) {
		number = append(number, math.NaN())
	}
	requireCase(t, score, with("score", number...)...)
	requireCase(t, at, with("at", append(number, bson.DateTime(6), bson.Timestamp{})...)...)
	requireCase(t, name, with("name", append(number, "", "a")...)...)
}

func TestCase12NamesInEveryWriting(t *testing.T) {
	t.Parallel()
	requireCase(t, name, with("name", "é", "e\u0301", "e", "E", "—", "🎨", "🎨🎨", "z", "É", "", " ", "\u00a0", "ﬀ", "\U0010ffff")...)
}

func TestCase13TheRowOfTheCursorIsDeletedOrChanged(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, coll *mongo.Collection, last bson.ObjectID){
		"deleted": func(t *testing.T, coll *mongo.Collection, last bson.ObjectID) {
			t.Helper()
			_, err := coll.DeleteOne(t.Context(), bson.D{{Key: "_id", Value: last}})
			require.NoError(t, err)
		},
		"moved to the end": func(t *testing.T, coll *mongo.Collection, last bson.ObjectID) {
			t.Helper()
			_, err := coll.UpdateByID(t.Context(), last, bson.D{{Key: "$set", Value: bson.D{{Key: "score", Value: "x"}}}})
			require.NoError(t, err)
		},
		"out of the filter": func(t *testing.T, coll *mongo.Collection, last bson.ObjectID) {
			t.Helper()
			_, err := coll.UpdateByID(t.Context(), last, bson.D{{Key: "$set", Value: bson.D{{Key: "kind", Value: "y"}}}})
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			docs := with("score", 1, 1, 1, 2, 3, nil, nil)
			for i := range docs {
				docs[i] = append(docs[i], bson.E{Key: "kind", Value: "x"})
			}
			coll := collection(t, score, docs...)
			want := sortedIDs(t, everything(t, coll), Asc(score))
			q := Query{Order: Asc(score), Limit: 2, Filter: bson.D{{Key: "kind", Value: "x"}}, From: Start[bson.RawValue]()}
			first, err := repository(coll).KeysetPage(t.Context(), q)
			require.NoError(t, err)
			change(t, coll, first.Items[1].Lookup("_id").ObjectID())
			q.From, q.Limit = *first.Next, 5
			rest, err := repository(coll).KeysetPage(t.Context(), q)
			require.NoError(t, err)
			require.Equal(t, want[2:7], ids(rest.Items))
		})
	}
}

func TestCase13EverythingIsDeleted(t *testing.T) {
	t.Parallel()
	coll := collection(t, score, with("score", 1, 2, 3)...)
	q := Query{Order: Asc(score), Limit: 2, From: Start[bson.RawValue]()}
	first, err := repository(coll).KeysetPage(t.Context(), q)
	require.NoError(t, err)
	_, err = coll.DeleteMany(t.Context(), bson.D{})
	require.NoError(t, err)
	q.From = *first.Next
	rest, err := repository(coll).KeysetPage(t.Context(), q)
	require.NoError(t, err)
	require.Empty(t, rest.Items)
	require.NotNil(t, rest.Items, "an empty list is written as one")
	require.Nil(t, rest.Next)
}

func TestCase14RowsInsertedBeforeTheCursorMoveNothing(t *testing.T) {
	t.Parallel()
	coll := collection(t, score, with("score", 10, 20, 20, 30, nil, nil)...)
	want := sortedIDs(t, everything(t, coll), Asc(score))
	q := Query{Order: Asc(score), Limit: 1, From: Start[bson.RawValue]()}
	var got []bson.ObjectID
	for i := 0; ; i++ {
		page, err := repository(coll).KeysetPage(t.Context(), q)
		require.NoError(t, err)
		got = append(got, ids(page.Items)...)
		if page.Next == nil {
			break
		}
		q.From = *page.Next
		insert(t, coll, bson.D{{Key: "_id", Value: oid(1000 + i)}, {Key: "score", Value: -i}})
	}
	require.Equal(t, want, got)
}

func TestCase17EveryFormOfAbsenceIsOneGroup(t *testing.T) {
	t.Parallel()
	value := bson.D{{Key: "metrics", Value: bson.D{{Key: "spend", Value: 1.5}}}}
	missing := []bson.D{{}, {{Key: "metrics", Value: bson.D{}}}, {{Key: "metrics", Value: 5}}}
	nulls := []bson.D{{{Key: "metrics", Value: nil}}, {{Key: "metrics", Value: bson.D{{Key: "spend", Value: nil}}}}}
	requireCase(t, spend, slices.Repeat(append(missing, value), 3)...)
	t.Run("nulls among them", func(t *testing.T) {
		t.Parallel()
		mongotest.Needs(t, mongotest.NullsAsMissing)
		requireCase(t, spend, slices.Repeat(slices.Concat(missing, nulls, []bson.D{value}), 3)...)
	})
}

func TestArraysEndNoWalkAndCostNoOtherRow(t *testing.T) {
	t.Parallel()
	for _, arrays := range [][]any{
		{bson.A{1, 5}}, {bson.A{}}, {bson.A{nil}, bson.A{nil, 2}}, {bson.A{"a", 3}}, {bson.A{1, 9}, bson.A{2, 8}, bson.A{3, 7}},
	} {
		for parent := range 2 {
			t.Run(fmt.Sprint(arrays, parent), func(t *testing.T) {
				t.Parallel()
				var docs []bson.D
				for _, v := range []any{1.0, 3.0, 3.0, 5.0, nil, nil, "stray"} {
					docs = append(docs, bson.D{{Key: "metrics", Value: bson.D{{Key: "spend", Value: v}}}})
				}
				coll := collection(t, spend, docs...)
				plain := everything(t, coll)
				for i, a := range arrays {
					doc := bson.D{{Key: "_id", Value: oid(200 + i)}, {Key: "metrics", Value: bson.D{{Key: "spend", Value: a}}}}
					if parent == 1 {
						doc[1].Value = bson.A{bson.D{{Key: "spend", Value: 2}}, bson.D{{Key: "spend", Value: 4}}, bson.D{}}
					}
					insert(t, coll, doc)
				}
				for _, order := range []Order{Asc(spend), Desc(spend)} {
					for limit := 1; limit <= 9; limit++ {
						got := walk(t, repository(coll), Query{Order: order, Limit: limit, Hint: indexName(spend)}, 20)
						got = slicesWithout(got, 200)
						require.Equal(t, sortedIDs(t, plain, order), got, "sort %s, limit %d", order, limit)
					}
				}
			})
		}
	}
}

// slicesWithout drops the ids from oid(from) on.
func slicesWithout(ids []bson.ObjectID, from int) []bson.ObjectID {
	var out []bson.ObjectID
	for _, i := range ids {
		if compareID(i, oid(from)) < 0 {
			out = append(out, i)
		}
	}
	return out
}

func TestForeignIDsEndNoWalk(t *testing.T) {
	t.Parallel()
	coll := collection(t, score, with("score", 1, 2, 2, 3, nil, "x")...)
	plain := everything(t, coll)
	for _, foreign := range []any{"text", 5, bson.Binary{Data: []byte{1}}, bson.D{{Key: "a", Value: 1}}} {
		insert(t, coll, bson.D{{Key: "_id", Value: foreign}, {Key: "score", Value: 2}})
	}
	for _, order := range []Order{Asc(score), Desc(score)} {
		for limit := 1; limit <= 7; limit++ {
			got := walk(t, repository(coll), Query{Order: order, Limit: limit, Hint: indexName(score)}, 20)
			require.Equal(t, sortedIDs(t, plain, order), got, "sort %s, limit %d", order, limit)
		}
	}
}

func ids(docs []bson.Raw) []bson.ObjectID {
	out := make([]bson.ObjectID, 0, len(docs))
	for _, d := range docs {
		out = append(out, d.Lookup("_id").ObjectID())
	}
	return out
}
