package main

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"catalogue/feed"
	"catalogue/internal/mongotest"
	"catalogue/tasks"
)

// BenchmarkFeedPage reads pages of 100 through HTTP and the same ranges with the driver alone, one after the other in
// one run, and reports the median of each and the share of the driver's speed that the feed has:
//
//	scripts/test -race=false -run '^$' -bench FeedPage ./cmd/catalogue
func BenchmarkFeedPage(b *testing.B) {
	for _, rows := range []int{1_000, 5_000} {
		db := mongotest.Database(b)
		for batch := range slices.Chunk(planted(rows), plantBatch) {
			plant(b, db, tasks.Collection, batch...)
		}
		clock := feed.DatabaseClock(db)
		for name, ordering := range map[string]feed.Ordering{
			"none": feed.None{}, "watermark": feed.NewWatermark(clock, time.Second),
		} {
			a := serveFeed(b, db, feedSettings{ordering: ordering})
			b.Run(fmt.Sprintf("rows=%d/ordering=%s", rows, name), func(b *testing.B) { benchmarkFeed(b, a, rows) })
		}
	}
}

func benchmarkFeed(b *testing.B, a *api, rows int) {
	b.Helper()
	const limit = 100
	var through, raw []time.Duration
	offset, at := "", 0
	for b.Loop() {
		began := time.Now()
		answer := a.get(b, "/api/v1/tasks?limit=100&offset="+offset)
		through = append(through, time.Since(began))
		p := answer.feedPage(b)
		require.Len(b, p.Data, limit)

		began = time.Now()
		require.Len(b, readRaw(b, a.db.Collection(tasks.Collection), at, limit), limit)
		raw = append(raw, time.Since(began))

		offset, at = *p.Next.Offset, at+limit
		if at+limit > rows {
			offset, at = "", 0
		}
	}
	b.ReportMetric(milliseconds(median(through)), "p50-feed-ms")
	b.ReportMetric(milliseconds(median(raw)), "p50-driver-ms")
	b.ReportMetric(float64(median(raw))/float64(median(through)), "feed/driver")
}

// readRaw reads the rows of a page as a program of its own would.
func readRaw(b *testing.B, coll *mongo.Collection, at, limit int) []bson.Raw {
	b.Helper()
	filter := bson.D{{Key: "feed", Value: "live"}, {Key: "public_modified", Value: bson.D{
		{Key: "$gte", Value: start + float64(at)}, {Key: "$lte", Value: start + 1e9},
	}}}
	found, err := coll.Find(b.Context(), filter, options.Find().
		SetSort(bson.D{{Key: "public_modified", Value: 1}, {Key: "_id", Value: 1}}).
		SetHint(feed.Index(tasks.Collection).Name()).
		SetProjection(bson.D{{Key: "public_modified", Value: 1}, {Key: "dateModified", Value: 1}}).
		SetLimit(int64(limit)))
	require.NoError(b, err)
	var rows []bson.Raw
	require.NoError(b, found.All(b.Context(), &rows))
	return rows
}
