package main

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/mongotest"
	"catalogue/tasks"
)

// plantBatch bounds one insert of many rows.
const plantBatch = 5_000

// oneMoment plants n entries with one timestamp, as a migration leaves them, and one before and behind.
func oneMoment(t testing.TB, db *mongo.Database, n int) {
	t.Helper()
	rows := make([]bson.D, 0, n+2)
	rows = append(rows, entry(0, start-1, "live"))
	for i := range n {
		rows = append(rows, entry(1+i, start, "live"))
	}
	rows = append(rows, entry(n+1, start+1, "live"))
	for batch := range slices.Chunk(rows, plantBatch) {
		plant(t, db, tasks.Collection, batch...)
	}
}

func directed(descending string) url.Values { return url.Values{"descending": {descending}} }

// TestFeed14Groups: each object of one moment is served once by full pages, in the order of ids.
func TestFeed14Groups(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rows, limit int }{{20_000, 1_000}, {20_000, 100}, {2_000, 10}} {
		t.Run(fmt.Sprintf("rows=%d/limit=%d", c.rows, c.limit), func(t *testing.T) {
			t.Parallel()
			db := mongotest.Database(t)
			oneMoment(t, db, c.rows)
			a := serveFeed(t, db, feedSettings{})
			require.Equal(t, hexIDs(0, c.rows+2), a.feedWalk(t, directed(""), c.limit))
			back := a.feedWalk(t, directed("1"), c.limit)
			slices.Reverse(back)
			require.Equal(t, hexIDs(0, c.rows+2), back)
		})
	}
}

// TestFeed14WhileMembersLeave: objects of the group change between the pages, so they leave it for a later place. Each
// is still served, those that stay once, and the walk is not longer than the group and what changed.
func TestFeed14WhileMembersLeave(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rows, limit, leaving int }{{20_000, 1_000, 300}, {20_000, 100, 20}, {2_000, 10, 3}} {
		for _, descending := range []string{"", "1"} {
			t.Run(fmt.Sprintf("rows=%d/limit=%d/descending=%s", c.rows, c.limit, descending), func(t *testing.T) {
				t.Parallel()
				db := mongotest.Database(t)
				oneMoment(t, db, c.rows)
				walkWhileMembersLeave(t, serveFeed(t, db, feedSettings{}), c.rows, c.limit, c.leaving, descending)
			})
		}
	}
}

func walkWhileMembersLeave(t *testing.T, a *api, rows, limit, leaving int, descending string) {
	t.Helper()
	times, left := map[string]int{}, map[string]bool{}
	query := url.Values{"limit": {strconv.Itoa(limit)}, "descending": {descending}}
	for round, total := 0, 0; ; round++ {
		p := a.feedPage(t, "tasks", query)
		require.LessOrEqual(t, len(p.Data), limit)
		if len(p.Data) == 0 {
			break
		}
		for _, id := range p.ids(t) {
			times[id]++
			total++
		}
		require.LessOrEqual(t, total, rows+2+len(left), "the total stays linear")
		query.Set("offset", *p.Next.Offset)
		if len(left) < rows/5 { // writers rest some time, or the walk could not end
			leave(t, a.db, left, round, rows, leaving)
		}
	}
	for _, id := range hexIDs(0, rows+2) {
		switch {
		case !left[id]:
			require.Equal(t, 1, times[id], "%s stayed", id)
		case descending == "":
			require.GreaterOrEqual(t, times[id], 1, "%s left for a later place", id)
		default: // a backward walk does not go where it went; the forward walk beside it does
			require.LessOrEqual(t, times[id], 1)
		}
	}
}

// leave changes some members of the group, spread over it, so that they get a later timestamp.
func leave(t *testing.T, db *mongo.Database, left map[string]bool, round, rows, n int) {
	t.Helper()
	ids := make(bson.A, 0, n)
	for i := range n {
		id := feedID(1 + (round*7919+i*(rows/n))%rows)
		ids = append(ids, id)
		left[id.Hex()] = true
	}
	at := start + 10 + float64(round)
	_, err := db.Collection(tasks.Collection).UpdateMany(t.Context(),
		bson.M{"_id": bson.M{"$in": ids}}, bson.M{"$set": bson.M{"public_modified": at}})
	require.NoError(t, err)
}

// TestFeed14OffsetInside: an offset inside a group larger than the limit names the last row, also where its neighbours and
// it itself are gone; one in a group that fits carries a count of at least one.
func TestFeed14OffsetInside(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	oneMoment(t, db, 20)
	a := serveFeed(t, db, feedSettings{})
	ask := func(offset, limit string) feedPage {
		return a.feedPage(t, "tasks", url.Values{"offset": {offset}, "limit": {limit}})
	}
	first := ask("", "8")
	require.Equal(t, "1760598968.0.0.00000000"+feedID(7).Hex(), *first.Next.Offset)
	require.Equal(t, "1760598968.0.20."+md5Of(hexIDs(1, 21)...), *ask("", "21").Next.Offset, "its group fits into the limit")
	require.Equal(t, "1760598968.0.19."+md5Of(hexIDs(1, 20)...), *ask("", "20").Next.Offset, "it stops inside, but the rest fits too")

	_, err := db.Collection(tasks.Collection).DeleteMany(t.Context(), bson.M{"_id": bson.M{"$in": bson.A{feedID(6), feedID(7), feedID(8)}}})
	require.NoError(t, err)
	second := ask(*first.Next.Offset, "8")
	require.Equal(t, hexIDs(9, 17), second.ids(t))
	third := ask(*second.Next.Offset, "8")
	require.Equal(t, hexIDs(17, 22), third.ids(t), "to the end of the group and on")
	require.Equal(t, "1760598969.0.1."+md5Of(feedID(21).Hex()), *third.Next.Offset)

	back := a.feedPage(t, "tasks", url.Values{"offset": {*second.Prev.Offset}, "limit": {"100"}, "descending": {"1"}})
	require.Equal(t, []string{feedID(5).Hex(), feedID(4).Hex(), feedID(3).Hex(), feedID(2).Hex(), feedID(1).Hex(), feedID(0).Hex()}, back.ids(t))
}
