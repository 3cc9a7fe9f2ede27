package groups

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/bench/measure"
	"catalogue/bench/shards"
	"catalogue/creatives"
	"catalogue/feed"
	"catalogue/indexes"
)

func TestScale(t *testing.T) {
	t.Parallel()
	s, err := scale{
		limit: 10, window: 20, reads: 30, budget: time.Minute, countRounds: 1, crawlers: 2, crawl: time.Millisecond,
		simulate: shards.Options{Rows: 500, Nulls: 10, Shards: []int{1, 4}},
	}.run(t.Context(), testEnv(t, 300))
	require.NoError(t, err)
	require.Equal(t, "scale", s.ID)
	require.NotContains(t, s.Text, "%!")
	require.NotContains(t, s.Text, "NaN")
	require.Len(t, s.Tables, 6)
	for _, table := range s.Tables {
		require.NotEmpty(t, table.Rows, table.Title)
		for _, row := range table.Rows {
			require.Len(t, row, len(table.Columns), table.Title)
			for _, cell := range row {
				require.NotEmpty(t, cell, table.Title)
				require.NotContains(t, cell, "Inf", table.Title)
				require.NotContains(t, cell, "NaN", table.Title)
			}
		}
	}
	require.Len(t, s.Tables[1].Rows, 1+len(creatives.Indexes())+1, "that of _id, the declared ones and that of the feed")
	require.Len(t, s.Tables[3].Rows, 2*len(shards.Arms()))
	require.Len(t, s.Charts, 2)
	for _, chart := range s.Charts {
		require.Regexp(t, `^scale-[a-z0-9]+\.svg$`, chart.File)
		require.Len(t, chart.Series, len(shards.Arms()))
		require.Len(t, chart.Series[0].Points, 2)
	}
	require.Equal(t, 30, s.Measurements[0].Count)
}

func TestTimingOfPagesEndsWithItsBudget(t *testing.T) {
	t.Parallel()
	e := testEnv(t, 300)
	data, err := e.Dataset(t.Context(), 300)
	require.NoError(t, err)
	e.Progress(1, 1)
	samples, err := scale{limit: 10, window: 20, reads: 1_000_000}.pages(t.Context(), data)
	require.NoError(t, err)
	require.Len(t, samples.Times, 1, "one at least")
}

func TestLimitsAreInTheOrderInWhichTheyAreReached(t *testing.T) {
	t.Parallel()
	b := basis{
		sizes: sizes{document: 400, indexes: []indexSize{
			{index: indexes.ForSort("c", nil, "created_at", ""), estimate: 40},
			{index: indexes.ForSort("c", nil, "name", ""), estimate: 60},
		}},
		count: 0.001, search: 0.002, feed: feedSpeed{limit: 100, alone: 2, together: 1000},
	}
	require.InDelta(t, 60.0, b.writeMemory(), 0)
	require.InDelta(t, hotShare*440, b.readMemory(), 1e-9)
	limits := b.limits()
	require.InDelta(t, 500_000.0, limits[0].rows, 1e-6, "half a second at a microsecond a row")
	require.Contains(t, limits[0].what, "exact total")
	require.InDelta(t, 5_000_000.0, limits[1].rows, 1e-6, "ten seconds at two microseconds a row")
	require.InDelta(t, serverCache/64.4, limits[2].rows, 1)
	require.InDelta(t, 1.2096e9, limits[3].rows, 1, "12,096,000 pages a day, at 140 a second")
	require.InDelta(t, 10.0, feedSpeed{alone: 10}.spaced(), 0, "a server that is slower than it may be asked")
	require.Equal(t, 1, b.shardsFor(serverCache/64.4-1))
	require.Equal(t, 2, b.shardsFor(serverCache/64.4+1))
	b.page = measure.Samples{Times: []float64{1, 2, 3}}
	text := scale{simulate: shards.Options{Shards: []int{1, 64}}}.text(b)
	require.Contains(t, text, "at 500 k rows the exact total")
	require.Contains(t, text, "99.9843 % of one", "the 64th root of 0.99")
	require.Contains(t, text, "does not tell the sizes")
}

func TestIndexesThatGrowAtOneEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		index indexes.Index
		edge  bool
	}{
		"id":      {indexes.Index{Keys: bson.D{{Key: "_id", Value: 1}}}, true},
		"created": {indexes.ForSort("c", nil, "created_at", ""), true},
		"feed":    {feed.Index("c"), true},
		"name":    {indexes.ForSort("c", nil, "name", ""), false},
		"status":  {indexes.ForSort("c", []string{"status"}, "created_at", ""), false},
	} {
		require.Equal(t, c.edge, indexSize{index: c.index}.edge(), name)
	}
}

func TestEstimateOfAnEntry(t *testing.T) {
	t.Parallel()
	row := func(doc bson.D) bson.Raw {
		raw, err := bson.Marshal(append(bson.D{{Key: "_id", Value: bson.NewObjectID()}}, doc...))
		require.NoError(t, err)
		return raw
	}
	const fixed = entryEnd + entryRecord + entryCell + 13 // the last for the id
	for name, c := range map[string]struct {
		doc   bson.D
		bytes int
	}{
		"text":           {bson.D{{Key: "f", Value: "abc"}}, fixed + 5},
		"date":           {bson.D{{Key: "f", Value: bson.DateTime(1)}}, fixed + 9},
		"double":         {bson.D{{Key: "f", Value: 1.5}}, fixed + 9},
		"small integer":  {bson.D{{Key: "f", Value: int64(5)}}, fixed + 2},
		"larger integer": {bson.D{{Key: "f", Value: int64(-300)}}, fixed + 3},
		"nothing":        {nil, fixed + 1},
		"two items":      {bson.D{{Key: "f", Value: bson.A{"ab", "cd"}}}, 2 * (fixed + 4)},
	} {
		got := estimate(indexes.ForSort("c", nil, "f", ""), []bson.Raw{row(c.doc)})
		require.InDelta(t, float64(c.bytes)/entryPageFill, got, 1e-9, name)
	}
	source := row(bson.D{{Key: "source", Value: bson.D{{Key: "system", Value: "s"}, {Key: "id", Value: "abc"}}}})
	require.InDelta(t, (fixed-13+3+5)/entryPageFill/2, estimate(indexes.UniqueSource("c"), []bson.Raw{row(nil), source}), 1e-9,
		"a partial index holds some of the rows")
}

func TestLargeNumbersInWords(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"999", "1 k", "123 k", "1.23 M", "10 G", "12345 G"},
		[]string{rowsOf(999), rowsOf(1000), rowsOf(123_400), rowsOf(1.234e6), rowsOf(10e9), rowsOf(12345e9)})
	require.Equal(t, []string{"0.5 GB", "1000 GB", "1.5 TB"}, []string{gigabytes(5e8), gigabytes(999.9e9), gigabytes(1.5e12)})
	require.Equal(t, []string{"0.5 hours", "48.0 hours", "2.5 days"}, []string{duration(1800), duration(48 * 3600), duration(60 * 3600)})
}
