package main

import (
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"catalogue/internal/mongotest"
	"catalogue/internal/seeding"
)

// BenchmarkPage reads the first page and one at 90 % of the depth through HTTP, side by side in one run, and reports
// the median of each and their ratio:
//
//	make bench
func BenchmarkPage(b *testing.B) {
	for _, rows := range []int{5_000, 50_000} {
		db := mongotest.Database(b)
		seed(b, db, seeding.Options{Creatives: rows, Seed: 1})
		a := serveDatabase(b, db)
		for _, sort := range []string{"-created_at", "-metrics.spend"} {
			deep := a.cursorAt(b, "/creatives?limit=200&sort="+sort, rows*9/10)
			b.Run(fmt.Sprintf("rows=%d/sort=%s", rows, sort), func(b *testing.B) {
				var first, last []time.Duration
				for b.Loop() {
					first = append(first, a.timed(b, "/creatives?limit=50&sort="+sort))
					last = append(last, a.timed(b, "/creatives?limit=50&sort="+sort+"&cursor="+deep))
				}
				b.ReportMetric(milliseconds(median(first)), "p50-first-ms")
				b.ReportMetric(milliseconds(median(last)), "p50-deep-ms")
				b.ReportMetric(float64(median(last))/float64(median(first)), "deep/first")
			})
		}
	}
}

// cursorAt walks to a depth and returns the cursor of the page that begins there.
func (a *api) cursorAt(b *testing.B, target string, depth int) string {
	b.Helper()
	cursor := ""
	for read := 0; read < depth; {
		p := a.page(b, target+cursor)
		read += len(p.Data)
		require.NotNil(b, p.Meta.NextCursor)
		cursor = "&cursor=" + url.QueryEscape(*p.Meta.NextCursor)
	}
	return cursor[len("&cursor="):]
}

func (a *api) timed(b *testing.B, target string) time.Duration {
	b.Helper()
	began := time.Now()
	a.page(b, target)
	return time.Since(began)
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
