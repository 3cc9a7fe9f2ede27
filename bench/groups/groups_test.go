package groups

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/bench/dataset"
	"catalogue/internal/mongotest"
	"catalogue/pagination"
)

func TestDepth(t *testing.T) {
	t.Parallel()
	d := depth{sorts: []string{"-created_at", "media.width"}, limit: 10, window: 20, warmup: 1, rounds: 4}
	s, err := d.run(t.Context(), testEnv(t, 300, 600))
	require.NoError(t, err)
	requireWhole(t, s)
	require.Len(t, s.Tables, 3)
	require.NotEmpty(t, s.Tables[2].Rows)
	require.Len(t, s.Charts, 2)
	for _, table := range s.Tables[:2] {
		require.Len(t, table.Rows, len(d.places())+1, "all places, and the first page again")
		require.Len(t, table.Columns, 1+2*2)
	}
	for _, chart := range s.Charts {
		require.Len(t, chart.Series, 2, "a line for each size")
		require.Len(t, chart.Series[0].Points, 5)
	}
	require.Contains(t, s.Tables[0].Rows[6], "–", "too few rows have no date")
	require.Len(t, s.Goals, 2*(2+3+1), "those of other sizes are not left out")
	for _, g := range measured(s) {
		require.Positive(t, g.Value.Value)
		require.Contains(t, g.Text, "the worst is sort ")
		require.Equal(t, g.Met(), g.Reason == "")
	}
}

func TestDepthComparesSizes(t *testing.T) {
	t.Parallel()
	d := depth{sorts: []string{"media.width"}, limit: 10, window: 20, warmup: 1, rounds: 3}
	e := testEnv(t, 300, 600)
	c, err := d.measure(t.Context(), e, "media.width", func() {})
	require.NoError(t, err)
	g := growthGoal([]curve{c}, 300, 600, pagination.Values)
	require.Positive(t, g.Value.Value)
	require.True(t, isUnmeasured(growthGoal([]curve{c}, 300, 900, pagination.Values)))
}

func TestOverhead(t *testing.T) {
	t.Parallel()
	s, err := overhead{limit: 10, window: 5, warmup: 1, rounds: 5}.run(t.Context(), testEnv(t, 300))
	require.NoError(t, err)
	requireWhole(t, s)
	require.Len(t, s.Tables[0].Rows, 5)
	require.Equal(t, "GET /healthz", s.Tables[0].Rows[4][0])
	require.Len(t, measured(s), 2)
	require.Len(t, s.Measurements, 9)
	for _, g := range s.Goals {
		require.Positive(t, g.Value.Value)
	}
}

func TestFirstPage(t *testing.T) {
	t.Parallel()
	f := firstPage{limit: 10, window: 5, warmup: 1, rounds: 5}
	e := testEnv(t, 300)
	s, err := f.run(t.Context(), e)
	require.NoError(t, err)
	requireWhole(t, s)
	require.Len(t, measured(s), 3)
	require.Len(t, s.Tables[0].Rows, 6)
}

func TestFirstPageWithoutRedis(t *testing.T) {
	t.Parallel()
	e := testEnv(t, 300)
	e.RedisURL = ""
	s, err := firstPage{limit: 10, window: 5, warmup: 1, rounds: 5}.run(t.Context(), e)
	require.NoError(t, err)
	requireWhole(t, s)
	require.Len(t, s.Goals, 3)
	require.Len(t, measured(s), 2, "no count is kept")
}

func TestLoad(t *testing.T) {
	t.Parallel()
	l := load{limit: 10, clients: []int{1, 5}, step: 200 * time.Millisecond, longest: 500 * time.Millisecond}
	s, err := l.run(t.Context(), testEnv(t, 300))
	require.NoError(t, err)
	requireWhole(t, s)
	require.Len(t, s.Tables[0].Rows, 2)
	require.Zero(t, s.Goals[0].Value.Value, s.Goals[0].Reason)
	require.Positive(t, s.Goals[1].Value.Value)
}

func TestErrorsUnderLoadAreCountedAndTheFirstIsShown(t *testing.T) {
	t.Parallel()
	e := testEnv(t, 300)
	server, err := e.Service(t.Context(), 300)
	require.NoError(t, err)
	s, err := load{limit: 1000}.stage(t.Context(), server, 2, time.Hour)
	require.NoError(t, err, "a client that meets errors alone gives up")
	require.Equal(t, 2*manyErrors, s.errors)
	require.Contains(t, s.failures(), "limit must be a whole number")
	require.Contains(t, errorGoal(s).Reason, "limit must be")
	require.False(t, errorGoal(s).Met())
}

func TestAWalkBeginsAgainAtTheEnd(t *testing.T) {
	t.Parallel()
	e := testEnv(t, 300)
	_, err := e.Dataset(t.Context(), 300)
	require.NoError(t, err)
	server, err := e.Service(t.Context(), 300)
	require.NoError(t, err)
	w := walker{limit: 200, sort: "name", end: time.Now().Add(time.Hour)}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		defer cancel()
		for range 50 { // the pages of a moment are more than the list has
			if _, err := server.Page(ctx, "/creatives?limit=200"); err != nil {
				return
			}
		}
	}()
	w.walk(ctx, server)
	require.Greater(t, len(w.times), 2)
}

func TestWrites(t *testing.T) {
	t.Parallel()
	for name, transactions := range map[string]bool{"over the API": true, "by the driver": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := testEnv(t, 300)
			if transactions {
				mongotest.Needs(t, mongotest.Transactions)
			}
			e.Capabilities.Transactions = transactions
			w := writes{database: mongotest.Name(), limit: 10, window: 5, writers: 3, blocks: 4, block: 200 * time.Millisecond}
			s, err := w.run(t.Context(), e)
			require.NoError(t, err)
			requireWhole(t, s)
			require.Positive(t, s.Goals[0].Value.Value)
			require.NotEqual(t, "0", s.Tables[0].Rows[1][3], "writes were made")
			require.Equal(t, "0", s.Tables[0].Rows[0][3])
			left, err := e.Client.ListDatabaseNames(t.Context(), bson.D{{Key: "name", Value: w.database}})
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

// Writes change figures and stamps; the rows keep their shape.
func TestWritesByTheDriverAreThoseOfTheCatalogue(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	data, err := dataset.PrepareIn(t.Context(), db, 50, func(int) {})
	require.NoError(t, err)
	all, err := written(t.Context(), data)
	require.NoError(t, err)
	one := all[:1]
	read := func() bson.M {
		var doc bson.M
		require.NoError(t, data.Creatives().FindOne(t.Context(), bson.D{{Key: "_id", Value: one[0]}}).Decode(&doc))
		return doc
	}
	before := read()
	require.NoError(t, byDriver(data, one)(t.Context(), dice(1)))
	after := read()
	before["updated_at"] = nil // set where it was not
	rev, ok := before["rev"].(int64)
	require.True(t, ok)
	require.Equal(t, rev+1, after["rev"])
	require.NotEqual(t, before["dateModified"], after["dateModified"])
	require.NotEqual(t, before["metrics"], after["metrics"])
	require.Equal(t, before["media"], after["media"])
	require.Len(t, after, len(before))
}
