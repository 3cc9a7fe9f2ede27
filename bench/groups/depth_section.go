package groups

import (
	"fmt"
	"slices"
	"strings"

	"catalogue/bench/measure"
	"catalogue/bench/report"
	"catalogue/pagination"
)

const depthText = `The same page of %d creatives at many depths, asked of the catalogue over HTTP. Each depth is a hundred pages,
drawn from %.0f %% of the phase and taken in turn, so that no single page is timed again and again; *values* are the rows that have a value in the sort
field, *nulls* those that have none and come behind them. *Reads* are find commands a page: where the cursor stands inside of a tie that began before the last page, a page reads
the rest of the tie first and then, unless that fills it, what lies beyond. DocumentDB takes ` + "`{f: null}`" + ` as the range (MinKey, null],
inside of which it cannot seek to an _id: there a page of nulls goes through those before it. MongoDB's bounds for it are
[null, null], inside of which a range of _id is a range of the index. All depths of all sizes are interleaved in random order, round by
round, and ratios are of the same rounds. The first page here is one without its total, which is measured by itself below.
*First page again* is the first page a second time: its ratio is the noise. *Driver alone* are the same reads without the
catalogue, so that the engine's share in a ratio shows. "–": the phase is too short for a whole page at that depth. p95 and
p99 are in results.json.`

func (d depth) section(e *Env, curves []curve) report.Section {
	out := report.Section{ID: "depth", Title: "Cost at depth", Text: fmt.Sprintf(depthText, d.limit, 100*stretch)}
	for _, c := range curves {
		for _, a := range c.arms {
			out.Measurements = append(out.Measurements, a.http.Summary(), a.driver.Summary())
		}
		out.Tables = append(out.Tables, d.table(e.Rows, c))
		out.Charts = append(out.Charts, d.chart(e.Rows, c))
	}
	out.Tables = append(out.Tables, d.shares(e.Rows, curves))
	for _, rows := range union(standardSizes(), e.Rows) {
		for _, phase := range phases() {
			out.Goals = append(out.Goals, depthGoal(curves, rows, phase))
		}
	}
	sizes := standardSizes()
	for _, phase := range phases() {
		out.Goals = append(out.Goals, growthGoal(curves, sizes[0], sizes[len(sizes)-1], phase))
	}
	return out
}

// table has a line for each place and two columns for each size.
func (d depth) table(sizes []int, c curve) report.Table {
	out := report.Table{Title: "Sort " + c.sort, Columns: []string{"Page"}}
	for _, rows := range sizes {
		n := number(rows)
		out.Columns = append(out.Columns, n+" rows: p50, ms", n+": × first page")
	}
	line := func(name string, pick func(rows int) (arm, bool)) {
		cells := []string{name}
		for _, rows := range sizes {
			a, found := pick(rows)
			if !found {
				cells = append(cells, "–", "–")
				continue
			}
			base, _ := c.first(rows) // where one place is found, the first page is
			cells = append(cells, millis(a.http.Summary().P50.Value), times(measure.Ratio(a.http, base.http, 0.5)))
		}
		out.Rows = append(out.Rows, cells)
	}
	for _, at := range d.places() {
		name := at.String()
		if at == first() {
			name = "first page"
		}
		line(name, func(rows int) (arm, bool) { return c.find(rows, at) })
		if at == first() {
			line("first page again", func(rows int) (arm, bool) {
				i := slices.IndexFunc(c.arms, func(a arm) bool { return a.rows == rows && a.again })
				if i < 0 {
					return arm{}, false
				}
				return c.arms[i], true
			})
		}
	}
	return out
}

// shares has a line for each sort, phase and size at the depth of the goals: what of a ratio is the engine's.
func (d depth) shares(sizes []int, curves []curve) report.Table {
	out := report.Table{
		Title:   fmt.Sprintf("Pages at %.0f %% of their phase against the first page, with the driver's share", 100*deep),
		Columns: []string{"Sort", "Phase", "Rows", "× over HTTP", "× by the driver alone", "Reads a page"},
	}
	for _, c := range curves {
		for _, phase := range phases() {
			for _, rows := range sizes {
				base, found := c.first(rows)
				a, deepFound := c.find(rows, place{phase, deep})
				if !found || !deepFound {
					continue
				}
				out.Rows = append(out.Rows, []string{
					c.sort, phaseName(phase), number(rows), times(measure.Ratio(a.http, base.http, 0.5)),
					times(measure.Ratio(a.driver, base.driver, 0.5)), fmt.Sprintf("%.2f", a.reads.each()),
				})
			}
		}
	}
	return out
}

// chart draws the values, a line for each size. The nulls are in the table: they are a phase of their own length.
func (d depth) chart(sizes []int, c curve) report.Chart {
	out := report.Chart{
		File:  "depth-" + strings.NewReplacer(".", "-", "_", "-").Replace(strings.TrimPrefix(c.sort, "-")) + ".svg",
		Title: "A page by its depth, sort " + c.sort, X: "rows with a value that lie before the page, %", Y: "p50, ms",
	}
	for _, rows := range sizes {
		line := report.Series{Name: number(rows) + " rows"}
		for _, at := range d.places() {
			if a, found := c.find(rows, at); found && at.phase == pagination.Values {
				p50 := a.http.Summary().P50
				line.Points = append(line.Points, report.Point{X: 100 * at.depth, Y: p50.Value, Low: p50.Low, High: p50.High})
			}
		}
		out.Series = append(out.Series, line)
	}
	return out
}

// contender is one of the pages that a promise is made for.
type contender struct {
	name          string
	ratio, driver report.Interval // of the catalogue, and of the driver alone
	reads, base   float64         // find commands of the page, and of what it is compared with
}

func phases() []pagination.Phase { return []pagination.Phase{pagination.Values, pagination.Nulls} }

// depthGoal promises the cost of deep pages of one phase at one size: the worst of all sorts decides.
func depthGoal(curves []curve, rows int, phase pagination.Phase) report.Goal {
	at := place{phase, deep}
	var all []contender
	for _, c := range curves {
		base, found := c.first(rows)
		if a, deepFound := c.find(rows, at); found && deepFound {
			all = append(all, contend("sort "+c.sort, a, base))
		}
	}
	text := fmt.Sprintf("At %s rows, a page at %.0f %% of the %s takes at most %v × the first page (p50)",
		number(rows), 100*deep, phaseName(phase), depthLimit)
	why := number(rows) + " rows were not measured"
	if slices.ContainsFunc(curves, func(c curve) bool { _, found := c.first(rows); return found }) {
		why = fmt.Sprintf("the %s of %s rows are too few for a page there", phaseName(phase), number(rows))
	}
	return worst(text, depthLimit, all, why)
}

// growthGoal promises the cost of pages of a large list against those of a small one.
func growthGoal(curves []curve, small, large int, phase pagination.Phase) report.Goal {
	var all []contender
	for _, c := range curves {
		for _, at := range []place{{phase, 0}, {phase, deep}} {
			a, found := c.find(large, at)
			b, foundSmall := c.find(small, at)
			if found && foundSmall {
				all = append(all, contend(fmt.Sprintf("sort %s, %s", c.sort, at), a, b))
			}
		}
	}
	text := fmt.Sprintf("A page of the %s of %s rows takes at most %v × the same page of %s rows (p50)",
		phaseName(phase), number(large), growthLimit, number(small))
	return worst(text, growthLimit, all, fmt.Sprintf("%s and %s rows were not measured in one run", number(small), number(large)))
}

func contend(name string, a, base arm) contender {
	return contender{
		name: name, ratio: measure.Ratio(a.http, base.http, 0.5), driver: measure.Ratio(a.driver, base.driver, 0.5),
		reads: a.reads.each(), base: base.reads.each(),
	}
}

// worst is the goal that the greatest ratio decides. otherwise says why there is none.
func worst(text string, limit float64, all []contender, otherwise string) report.Goal {
	if len(all) == 0 {
		return unmeasured(text, "×", limit, otherwise)
	}
	w := slices.MaxFunc(all, func(a, b contender) int { return compare(a.ratio.Value, b.ratio.Value) })
	out := report.Goal{Text: text + "; the worst is " + w.name, Value: w.ratio, Unit: "×", Limit: limit}
	if !out.Met() {
		out.Reason = fmt.Sprintf("the driver alone takes %s × for the same reads; %.2f reads a page against %.2f", times(w.driver), w.reads, w.base)
	}
	return out
}
