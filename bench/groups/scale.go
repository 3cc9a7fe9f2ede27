package groups

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/errgroup"

	"catalogue/bench/dataset"
	"catalogue/bench/measure"
	"catalogue/bench/report"
	"catalogue/bench/shards"
	"catalogue/creatives"
	"catalogue/feed"
	"catalogue/internal/mongodb"
	"catalogue/pagination"
)

// scale says what the plan for more than one machine is computed from.
type scale struct {
	limit, window int
	// reads is how many pages are timed for the waits of the simulation, as far as budget lasts.
	reads  int
	budget time.Duration
	// countRounds is how often a count and a search are timed.
	countRounds int
	// crawlers follow the feed at the same time, for crawl.
	crawlers int
	crawl    time.Duration
	simulate shards.Options // without Limit and Times
}

// Scale computes the plan for sizes that this machine cannot run from what it can.
func Scale(ctx context.Context, e *Env) (report.Section, error) {
	return scale{
		limit: pageLimit, window: pageWindow, reads: 2000, budget: 15 * time.Second, countRounds: 5,
		crawlers: 8, crawl: 3 * time.Second,
		simulate: shards.Options{Rows: 50_000, Nulls: 10, Shards: []int{1, 2, 4, 8, 16, 64, 128}},
	}.run(ctx, e)
}

// basis is what was measured.
type basis struct {
	rows    int
	sizes   sizes
	page    measure.Samples // a page in the depth
	count   float64         // ms a row of the list that an exact total of a filter takes
	search  float64         // ms a row of the list that a filter takes that no index bounds and no row matches
	feed    feedSpeed
	figures []shards.Figures
}

// feedSpeed is how fast pages of the feed are read.
type feedSpeed struct {
	limit    int     // objects a page
	alone    float64 // ms a page, by one crawler
	together float64 // pages a second, by all
}

// feedRate is how many pages of the feed a second one client may take: the default of CATALOGUE_FEED_RATE.
const feedRate = 140

// spaced is the time between two pages of one crawler in milliseconds: what a page takes, or what it may take at least.
func (f feedSpeed) spaced() float64 { return max(f.alone, 1000.0/feedRate) }

func (s scale) run(ctx context.Context, e *Env) (report.Section, error) {
	data, err := e.Dataset(ctx, slices.Max(e.Rows))
	if err != nil {
		return report.Section{}, err
	}
	smaller, err := e.Dataset(ctx, largestUpTo(e.Rows, wholeReadRows))
	if err != nil {
		return report.Section{}, err
	}
	const measurements = 4
	step := e.counter(measurements + len(shards.Arms())*len(s.simulate.Shards))
	b := basis{rows: data.Rows}
	for _, measured := range []func() error{
		func() (err error) { b.sizes, err = sizesOf(ctx, data.Database); return err },
		func() (err error) { b.page, err = s.pages(ctx, data); return err },
		func() (err error) { b.count, b.search, err = s.filters(ctx, smaller); return err },
		func() (err error) { b.feed, err = s.feed(ctx, data); return err },
	} {
		if err := measured(); err != nil {
			return report.Section{}, err
		}
		step()
	}
	o := s.simulate
	o.Limit, o.Times = s.limit, b.page.Times
	b.figures = shards.Simulate(o, step)
	return s.section(b), nil
}

// pages times pages in the depth one after the other, for at least one and at most the budget.
func (s scale) pages(ctx context.Context, data *dataset.Dataset) (measure.Samples, error) {
	l, err := newList(creatives.List(), "-created_at")
	if err != nil {
		return measure.Samples{}, err
	}
	found, err := l.pages(ctx, data.Database, place{pagination.Values, deep}, s.limit, s.window)
	if err != nil {
		return measure.Samples{}, err
	}
	if found.none() {
		return measure.Samples{}, fmt.Errorf("%d rows are too few for a page in the depth", data.Rows)
	}
	subject := found.byDriver("page by the driver alone", map[string]string{"rows": number(data.Rows)})
	out := measure.Samples{Subject: subject}
	warmup := s.window / 10
	for began := time.Now(); len(out.Times) == 0 || len(out.Times) < s.reads && time.Since(began) < s.budget; warmup = 0 {
		more, err := measure.Interleave(ctx, warmup, 1, nil, subject)
		if err != nil {
			return measure.Samples{}, err
		}
		out.Times = append(out.Times, more[0].Times...)
	}
	return out, nil
}

// filters times the two things that read a whole list: an exact total, and a filter without a match.
func (s scale) filters(ctx context.Context, data *dataset.Dataset) (countMS, searchMS float64, err error) {
	l, err := newList(creatives.List(), "-created_at")
	if err != nil {
		return 0, 0, err
	}
	active, err := l.filtered("status", creatives.StatusActive)
	if err != nil {
		return 0, 0, err
	}
	none, err := l.filtered("q", "nosuchname")
	if err != nil {
		return 0, 0, err
	}
	reads := none.reads(pagination.Start[bson.RawValue](), s.limit)
	samples, err := measure.Interleave(ctx, 1, s.countRounds, nil,
		measure.Subject{Name: "count", Run: func(ctx context.Context) error {
			_, err := data.Creatives().CountDocuments(ctx, active.filter)
			return err
		}},
		measure.Subject{Name: "search", Run: func(ctx context.Context) error {
			_, _, err := readPage(ctx, data.Database, reads, s.limit+1)
			return err
		}})
	if err != nil {
		return 0, 0, err
	}
	rows := float64(data.Rows)
	return samples[0].Quantile(0.5).Value / rows, samples[1].Quantile(0.5).Value / rows, nil
}

// feed reads pages of the feed from many places: alone for the time of one, then by all crawlers at once.
func (s scale) feed(ctx context.Context, data *dataset.Dataset) (feedSpeed, error) {
	reads, limit, err := s.feedReads(ctx, data)
	if err != nil {
		return feedSpeed{}, err
	}
	var turn atomic.Int64
	read := func(ctx context.Context) error {
		_, err := mongodb.Find(ctx, data.Database, reads[int(turn.Add(1))%len(reads)])
		return err
	}
	alone, err := measure.Interleave(ctx, 1, 20*s.countRounds, nil, measure.Subject{Name: "page of the feed", Run: read})
	if err != nil {
		return feedSpeed{}, err
	}
	var pages atomic.Int64
	group, reading := errgroup.WithContext(ctx)
	began := time.Now()
	for range s.crawlers {
		group.Go(func() error {
			for time.Since(began) < s.crawl {
				if err := read(reading); err != nil {
					return err
				}
				pages.Add(1)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return feedSpeed{}, fmt.Errorf("follow the feed: %w", err)
	}
	return feedSpeed{
		limit: limit, alone: alone[0].Quantile(0.5).Value, together: float64(pages.Load()) / time.Since(began).Seconds(),
	}, nil
}

// feedReads are finds of the feed from the timestamps of rows all over the collection, and how many objects each has.
func (s scale) feedReads(ctx context.Context, data *dataset.Dataset) ([]bson.D, int, error) {
	var form bson.D
	for _, f := range feed.Finds(creatives.Collection, feed.Index(creatives.Collection).Name()) {
		if f.Read == feed.ReadBehind && !f.Descending {
			form = with(f.Command, "projection", bson.D{{Key: feed.SortField, Value: int32(1)}, {Key: "dateModified", Value: int32(1)}})
		}
	}
	var parts struct {
		Filter bson.Raw `bson:"filter"`
		Limit  int      `bson:"limit"`
	}
	raw, err := bson.Marshal(form)
	if err != nil {
		return nil, 0, err
	}
	if err := bson.Unmarshal(raw, &parts); err != nil {
		return nil, 0, err
	}
	rows, err := mongodb.Find(ctx, data.Database, bson.D{
		{Key: "find", Value: creatives.Collection},
		{Key: "limit", Value: int64(sampledRows)},
		{Key: "batchSize", Value: int64(sampledRows)},
		{Key: "projection", Value: bson.D{{Key: feed.SortField, Value: int32(1)}}},
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read timestamps of the feed: %w", err)
	}
	var out []bson.D
	for _, row := range rows {
		at := row.Lookup(feed.SortField)
		if at.Type != bson.TypeDouble {
			continue
		}
		out = append(out, with(form, "filter", bson.D{
			{Key: feedField, Value: parts.Filter.Lookup(feedField)},
			{Key: feed.SortField, Value: bson.D{{Key: "$gte", Value: at}}},
		}))
	}
	if len(out) == 0 {
		return nil, 0, fmt.Errorf("no row of %s is in a feed", data.Database.Name())
	}
	return out, parts.Limit, nil
}
