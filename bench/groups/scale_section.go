package groups

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"catalogue/bench/measure"
	"catalogue/bench/report"
	"catalogue/bench/shards"
)

// What the plan takes for granted of the machines that it is for.
const (
	serverMemory = 128e9                    // bytes of one server of the database
	serverCache  = (serverMemory - 1e9) / 2 // of them WiredTiger's cache by its own default
	hotShare     = 0.01                     // of the rows, the newest, that nearly all reads are about
	pollEvery    = 30                       // seconds between two looks of a crawler that is at the end
	// countTimeout is the catalogue's default CATALOGUE_COUNT_TIMEOUT, in milliseconds.
	countTimeout = 500
)

// plannedRows are the sizes of the plan.
func plannedRows() []float64 { return []float64{100e6, 10e9} }

func (s scale) section(b basis) report.Section {
	return report.Section{
		ID: "scale", Title: "Scale on paper", Text: s.text(b),
		Measurements: []report.Measurement{b.page.Summary()},
		Tables:       []report.Table{shardKeys(), b.indexTable(), b.sizeTable(), b.shardTable(), b.feedTable(), b.limitTable()},
		Charts:       b.charts(),
	}
}

// shardKeys says which shard key serves which list. It holds no figures.
func shardKeys() report.Table {
	return report.Table{
		Title:   "Shard keys",
		Columns: []string{"Collection", "Shard key", "A page asks", "Writes go to", "Verdict"},
		Rows: [][]string{
			{"creatives, tasks", "{_id: hashed}", "every shard", "every shard alike", "chosen: no sort of many is worth the writes of all"},
			{"creatives, tasks", "{created_at, _id}", "by created_at the shards behind the cursor, by any other sort every shard", "new objects to the last chunk alone", "hot spot"},
			{"creatives", "{source.system, _id}", "one shard, where a filter names the system; else every shard", "the shard of the system", "for tenants of like size, with a filter that is always there"},
			{"comments", "{entity_id: hashed}", "one shard: every list of comments is below one task", "the shard of the task", "chosen"},
			{"history", "{entity_id: hashed}", "one shard, alike", "the shard of the task", "chosen"},
			{"feeds of any collection", "{_id: hashed}", "every shard", "every shard alike", "chosen"},
			{"feeds of any collection", "{public_modified, _id}", "the shards behind the offset", "every change moves its object to the last chunk", "hot spot, and a change that moves an object to another shard is a delete and an insert in a transaction"},
		},
	}
}

func (b basis) indexTable() report.Table {
	out := report.Table{
		Title:   fmt.Sprintf("Indexes, bytes a row: this engine's own form, measured at %s rows; WiredTiger's, estimated from the bytes of the keys", number(b.rows)),
		Columns: []string{"Index", "Measured here", "Estimate for WiredTiger", "At 100 M rows", "At 10 G rows"},
	}
	for _, i := range b.sizes.indexes {
		here := "not told"
		if i.here > 0 {
			here = fmt.Sprintf("%.0f", i.here)
		}
		row := []string{strings.TrimPrefix(i.index.String(), i.index.Collection+" "), here, fmt.Sprintf("%.0f", i.estimate)}
		for _, n := range plannedRows() {
			row = append(row, gigabytes(i.estimate*n))
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

func (b basis) sizeTable() report.Table {
	out := report.Table{
		Title: "The collection as a whole, estimated",
		Columns: []string{
			"Rows", "Documents, uncompressed", "Indexes", "Memory for writes: indexes in no order of time",
			fmt.Sprintf("Memory for reads: the newest %.0f %%", 100*hotShare), "Shards for that memory",
		},
	}
	for _, n := range plannedRows() {
		out.Rows = append(out.Rows, []string{
			rowsOf(n), gigabytes(b.sizes.document * n), gigabytes(b.sizes.indexBytes(nil) * n),
			gigabytes(b.writeMemory() * n), gigabytes(b.readMemory() * n), number(b.shardsFor(n)),
		})
	}
	return out
}

// writeMemory is the bytes a row that inserts touch at random: every page of an index that is not in the order of time.
func (b basis) writeMemory() float64 {
	return b.sizes.indexBytes(func(i indexSize) bool { return !i.edge() })
}

// readMemory is the bytes a row of what is read again and again beyond that.
func (b basis) readMemory() float64 {
	return hotShare * (b.sizes.document + b.sizes.indexBytes(indexSize.edge))
}

// shardsFor is how many servers keep in memory what should be.
func (b basis) shardsFor(rows float64) int {
	return int(math.Ceil((b.writeMemory() + b.readMemory()) * rows / serverCache))
}

func (b basis) shardTable() report.Table {
	out := report.Table{
		Title: "Pages of a list on several shards, simulated",
		Columns: []string{
			"Spread and gathered", "Shards", "Rows read for one served", "KB between shards and router a page", "Shards asked a page",
			"Waits a page", "p50, ms", "p99, ms",
		},
	}
	for _, f := range b.figures {
		out.Rows = append(out.Rows, []string{
			f.Arm.String(), number(f.Shards), fmt.Sprintf("%.2f", f.ReadPerRow), number(int(f.ReadPerPage * b.sizes.document / 1e3)),
			fmt.Sprintf("%.1f", f.AskedPerPage), fmt.Sprintf("%.2f", f.RoundsPerPage), millis(f.P50), millis(f.P99),
		})
	}
	return out
}

func (b basis) charts() []report.Chart {
	chart := func(file, title, y string, logY bool, value func(shards.Figures) float64) report.Chart {
		out := report.Chart{File: file, Title: title, X: "shards", Y: y, LogX: true, LogY: logY}
		for _, arm := range shards.Arms() {
			line := report.Series{Name: arm.String()}
			for _, f := range b.figures {
				if f.Arm == arm {
					line.Points = append(line.Points, point(float64(f.Shards), exactly(value(f))))
				}
			}
			out.Series = append(out.Series, line)
		}
		return out
	}
	return []report.Chart{
		chart("scale-rows.svg", "Rows that shards read for one that is served", "rows", true, func(f shards.Figures) float64 { return f.ReadPerRow }),
		chart("scale-p99.svg", "p99 of a page on several shards", "ms", false, func(f shards.Figures) float64 { return f.P99 }),
	}
}

func (b basis) feedTable() report.Table {
	out := report.Table{
		Title: fmt.Sprintf("The feed on one server: %d objects a page, read by the driver in %s ms by one crawler, %s pages a second by all",
			b.feed.limit, millis(b.feed.alone), number(int(b.feed.together))),
		Columns: []string{"Rows", "A new crawler alone is at the end after", "Ten at once", fmt.Sprintf("Crawlers at the end that look every %d s", pollEvery)},
	}
	for _, n := range plannedRows() {
		pages := n / float64(b.feed.limit)
		out.Rows = append(out.Rows, []string{
			rowsOf(n), duration(pages * b.feed.spaced() / 1e3), duration(pages * max(b.feed.spaced()/1e3, 10/b.feed.together)), number(int(b.feed.together) * pollEvery),
		})
	}
	return out
}

// breaking is a limit of the design: where it lies and what is to be done then.
type breaking struct {
	what string
	rows float64
	then string
}

// limits are in the order in which a growing collection reaches them.
func (b basis) limits() []breaking {
	const day = 24 * 60 * 60 * 1000 // ms
	out := []breaking{
		{
			"the exact total of a filter takes longer than its time", countTimeout / b.count,
			"the page is served with total_kind unknown; a count kept in Redis is given longer in the background, or counters are kept by status",
		},
		{
			"a filter that no index bounds and no row matches takes longer than a request may", measure.Milliseconds(readTimeout) / b.search,
			"such filters need another condition that an index bounds, or a search engine beside the database for words in names",
		},
		{
			"a new crawler takes longer than a day to the end of the feed", day / b.feed.spaced() * float64(b.feed.limit),
			"a dump of the whole as a file, from which the feed is followed; larger pages",
		},
		{
			"what should be in one server's memory is not", serverCache / (b.writeMemory() + b.readMemory()),
			"drop indexes of sorts that nobody uses (each costs every write), then shards by the hash of _id",
		},
	}
	slices.SortFunc(out, func(x, y breaking) int { return compare(x.rows, y.rows) })
	return out
}

func (b basis) limitTable() report.Table {
	out := report.Table{
		Title:   "What breaks first on one server, computed from this machine's figures",
		Columns: []string{"From", "What", "Then"},
	}
	for _, l := range b.limits() {
		out.Rows = append(out.Rows, []string{rowsOf(l.rows) + " rows", l.what, l.then})
	}
	return out
}
