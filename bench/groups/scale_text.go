package groups

import (
	"fmt"
	"math"
	"strings"

	"catalogue/bench/shards"
)

// text is the plan in words. Every figure in it is computed from what was measured or simulated.
func (s scale) text(b basis) string {
	return strings.Join([]string{
		fmt.Sprintf(`What this machine cannot run: 100 million and 10 billion objects. The figures below are computed by the
command from %s rows here, from documents of %.0f bytes and from a simulation. They are a plan and no measurement: estimates
are called so, and the speed of this engine stands for that of the database in production.`, number(b.rows), b.sizes.document),
		s.shardText(b), b.sizeText(), b.feedText(), b.breakText(),
	}, "\n\n")
}

func (s scale) shardText(b basis) string {
	most := s.simulate.Shards[len(s.simulate.Shards)-1]
	one := b.figure(shards.HashedWhole, s.simulate.Shards[0])
	whole, batched := b.figure(shards.HashedWhole, most), b.figure(shards.HashedBatched, most)
	ranged, turn := b.figure(shards.RangedWhole, most), b.figure(shards.RangedInTurn, most)
	out := fmt.Sprintf(`### Shards

A page is one range of an index, on a cluster too: the router asks shards for limit + 1 rows behind the cursor and merges
what they answer. Cursors, tie-breaks and the nulls phase stay as they are. Which shards it asks depends on the shard key;
it asks all of them at once and for the whole page, since it cannot know whose rows come first.

With the rows spread by a hash of _id over %d shards, %.1f rows are read for one that is served, %.1f with a key in the order
of the sort (a cursor in the depth leaves the shards before it out). A page's p50 grows from %s to %s ms and its p99 from
%s to %s ms, since it waits for the slowest shard. Smaller batches bring the rows down to %.2f for one, for %.2f waits a page
instead of %.2f: the router does so where batchSize is below the limit, at the price of more round trips to the client. One
shard after the other reads %.2f, and needs a catalogue that knows the ranges. In none of them does the cost of values grow
with the depth, nor that of nulls on an engine that seeks to an _id among them.`,
		most, whole.ReadPerRow, ranged.ReadPerRow, millis(one.P50), millis(whole.P50), millis(one.P99), millis(whole.P99),
		batched.ReadPerRow, batched.RoundsPerPage, whole.RoundsPerPage, turn.ReadPerRow)
	return out + fmt.Sprintf(`

A router that asks in batches hands them on as they come, so a client would fetch a page in several round trips; those are
not in the figures. The waits are from above, since every round is charged a whole page. They are draws of %s pages that were timed here one by one (p50 %s ms, p99 %s ms), as if shards were slow independently of
each other and the network took nothing. No draw is above the slowest page that was seen, %s ms; the p99 of %d shards is the
quantile %.4f %% of one, so it rests on the %d slowest of the samples.

Two things break with the first shard, whatever its key. A unique index must begin with the shard key, so that of the source
cannot be kept beside a hash of _id: the sources move to a collection of their own with the source as its key, written in the
same transaction. And behind a router $$NOW is the router's clock: the feed's promises hold for a replica set only.`,
		number(len(b.page.Times)), millis(b.page.Quantile(0.5).Value), millis(b.page.Quantile(0.99).Value), millis(b.slowest()), most,
		100*nthRoot(0.99, most), max(1, int((1-nthRoot(0.99, most))*float64(len(b.page.Times)))))
}

func (b basis) slowest() float64 {
	most := 0.0
	for _, t := range b.page.Times {
		most = max(most, t)
	}
	return most
}

// figure is that of an arm with a number of shards.
func (b basis) figure(arm shards.Arm, k int) shards.Figures {
	for _, f := range b.figures {
		if f.Arm == arm && f.Shards == k {
			return f
		}
	}
	return shards.Figures{}
}

func (b basis) sizeText() string {
	told := "This engine does not tell the sizes of its indexes."
	if b.sizes.told {
		sum := 0.0
		for _, i := range b.sizes.indexes {
			sum += i.here
		}
		told = fmt.Sprintf("Here the %d indexes take %.0f bytes a row, in this engine's own form.", len(b.sizes.indexes), sum)
	}
	edge := b.sizes.indexBytes(indexSize.edge)
	return fmt.Sprintf(`### Sizes and memory

%s An entry of a WiredTiger index is estimated as the bytes of its values, %d more, and pages that are %.0f %% full: %.0f bytes a
row for all. That is from above: neighbouring keys share their beginnings, on disk and in the cache.

Indexes that grow in the order of time (%.0f of these bytes) are written at one end, and what is read of them is near it. The
others are reckoned as written at random places, which is from above for the pairs, each value of which has an end of its own: a new object touches a page of each, and where they do not stay in memory every insert
reads from the disk. So memory is reckoned as %.0f bytes a row of those and %.0f %% of the rest, for servers of %.0f GB that give
WiredTiger's default share to its cache.`,
		told, entryEnd+entryRecord+entryCell, 100*entryPageFill, b.sizes.indexBytes(nil), edge, b.writeMemory(), 100*hotShare, serverMemory/1e9)
}

func (b basis) feedText() string {
	return fmt.Sprintf(`### The feed

The read of a page of %d objects takes %s ms, and the server does %s a second for all crawlers together, so that %s of them can look
every %d seconds. HTTP comes on top, and one client may take %d pages a second (CATALOGUE_FEED_RATE), which the times of a new crawler below keep to.
What they read at the end is the same few pages, which stay in memory; a crawler that begins walks the whole. Everything that
changes is written at one end of the feed's index. On one server that end is a page in memory that all writers share; with
public_modified as shard key all writes of a cluster would go to one shard; with a hash of _id each shard has an end of its
own, and a page of the feed asks all of them.`,
		b.feed.limit, millis(b.feed.alone), number(int(b.feed.together)), number(int(b.feed.together)*pollEvery), pollEvery, feedRate)
}

func (b basis) breakText() string {
	limits := b.limits()
	first, last := limits[0], limits[len(limits)-1]
	return fmt.Sprintf(`### What breaks first

In the order in which a growing collection gets there: at %s rows %s; the last of the list, at %s rows: %s. Pages without
a filter, or under one value of a pair's field, are in none of these: at any size they read ranges of about %d rows (nulls on an engine that seeks among them). Counts and
searches are reckoned from at most %s rows, the count from a filter that matches two in five.`,
		rowsOf(first.rows), first.what, rowsOf(last.rows), last.what, pageLimit+1, number(wholeReadRows))
}

// rowsOf writes a large number of rows: 12 M, 1.2 G.
func rowsOf(n float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, " G"}, {1e6, " M"}, {1e3, " k"}} {
		if n >= unit.size {
			return threeDigits(n/unit.size) + unit.name
		}
	}
	return fmt.Sprintf("%.0f", n)
}

// threeDigits writes a number to three digits, or to the unit where it has more.
func threeDigits(x float64) string {
	if x >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// gigabytes writes a number of bytes.
func gigabytes(bytes float64) string {
	if bytes >= 1e12 {
		return threeDigits(bytes/1e12) + " TB"
	}
	return threeDigits(bytes/1e9) + " GB"
}

// duration writes a number of seconds in hours or days.
func duration(seconds float64) string {
	const hour = 3600
	if seconds > 48*hour {
		return fmt.Sprintf("%.1f days", seconds/hour/24)
	}
	return fmt.Sprintf("%.1f hours", seconds/hour)
}

// nthRoot is the chance of one of n independent things where all of them have the chance q.
func nthRoot(q float64, n int) float64 { return math.Pow(q, 1/float64(n)) }
