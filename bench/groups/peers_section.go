package groups

import (
	"fmt"
	"slices"
	"strings"

	"catalogue/bench/measure"
	"catalogue/bench/peers"
	"catalogue/bench/peers/mixmax"
	"catalogue/bench/report"
)

// mixmaxName is the npm package.
const mixmaxName = "`mongo-cursor-pagination`"

const peersText = `Pages of %d creatives in the order %s of %s, asked for in the ways that users would pick instead. That order has ties (a
third of the rows share their value with many others) and rows without a value at its end. Every way serves the same rows with
the same fields; each page that was timed was then compared with the list. What runs by the driver in this process is compared
with the reads of a keyset page in this process, what answers over HTTP with the catalogue over HTTP. All ways read the same
page in one round, in random order; pages are drawn from the %.0f %% of all places around the depth. *Hinted* ways are told the
index that serves the order; none of them is of itself.

- *keyset*: this catalogue; *over HTTP* with its JSON and its signed cursors.
- *skip/limit*: the number of rows that come before.
- *one $or*: a value beyond the last one, or the same value and an _id beyond the last one, in one predicate. MongoDB itself
  plans this better than an engine does that cannot merge ordered ranges; what stays is the loss of rows below.
- *offset*: as the lists of openprocurement.api page, by the last row's value alone: the range read that a keyset page is, too,
  without a tie-break. There it pages over a time of change that every object has; an offset that is none or zero begins the
  list anew.
- *mongo-cursor-pagination* %s (npm, by mixmax), behind a small server of Node's.`

const casesText = `

The second table is what each loses or serves twice: every peer walks small lists page by page, in both directions, with pages
of %s rows. Rows are counted over these walks together, those aside that did not end and were cut off.`

func (r rivals) section(found rivalry) (report.Section, error) {
	version, err := mixmax.Version()
	if err != nil {
		return report.Section{}, err
	}
	limits := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(peers.Limits())), ", "), "[]")
	out := report.Section{
		ID: "peers", Title: "What it replaces",
		Text: fmt.Sprintf(peersText, r.limit, r.sort, number(found.rows)+" rows", 100*peerWindow, version) +
			fmt.Sprintf(casesText, limits) + leftOut(found),
		Tables: []report.Table{r.speeds(found), losses(found)},
		Charts: []report.Chart{r.chart(found)},
		Goals:  peerGoals(found),
	}
	for _, w := range found.ways {
		for _, depth := range r.depths {
			out.Measurements = append(out.Measurements, w.timed[depth].Summary())
		}
	}
	return out, nil
}

// leftOut says what is missing on the page, and why.
func leftOut(found rivalry) string {
	var out string
	if found.nodeMissing != "" {
		out += fmt.Sprintf("\n\n%s was left out: %s.", mixmaxName, found.nodeMissing)
	}
	if found.mixedMissing {
		out += "\n\nThe list in which some rows have an explicit null where others have no field was left out: this server's index keeps " +
			"the two apart, as MongoDB's does not. The catalogue itself never stores an explicit null."
	}
	return out
}

// base is the keyset page that a way is compared with: that of its own form.
func (found rivalry) base(w way) way {
	for _, candidate := range found.ways {
		if candidate.ours && candidate.http == w.http {
			return candidate
		}
	}
	return way{}
}

// gain is how many times the pages a second of a way the keyset serves at a depth.
func (found rivalry) gain(w way, depth float64) report.Interval {
	return measure.Ratio(w.timed[depth], found.base(w).timed[depth], 0.5)
}

func (r rivals) speeds(found rivalry) report.Table {
	out := report.Table{Title: fmt.Sprintf("A page of %s rows by its depth", number(found.rows)), Columns: []string{"Way"}}
	for _, depth := range r.depths {
		out.Columns = append(out.Columns, fmt.Sprintf("%.0f %%: p50 / p95 / p99, ms", 100*depth))
	}
	out.Columns = append(out.Columns, fmt.Sprintf("%.0f %%: pages in a second, one after the other", 100*deep), "keyset ÷ this way")
	for _, w := range found.ways {
		cells := []string{w.peer.Name()}
		for _, depth := range r.depths {
			cells = append(cells, percentiles(w.timed[depth]))
		}
		gain := "–"
		if !w.ours {
			gain = times(found.gain(w, deep))
		}
		p50 := w.timed[deep].Summary().P50.Value
		out.Rows = append(out.Rows, append(cells, fmt.Sprintf("%.1f", 1000/p50), gain))
	}
	return out
}

// losses has a line for each case and a column for each peer.
func losses(found rivalry) report.Table {
	out := report.Table{Title: "Rows lost and served twice", Columns: []string{"List"}}
	for i, results := range found.results {
		cells := []string{found.cases[i].Name}
		for _, result := range results {
			if i == 0 {
				out.Columns = append(out.Columns, result.Peer)
			}
			cells = append(cells, loss(result))
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}

// loss writes a result.
func loss(r peers.Result) string {
	if r.Unsuitable {
		return "–"
	}
	var parts []string
	if r.Lost > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d lost", r.Lost, r.Rows))
	}
	if r.Doubled > 0 {
		parts = append(parts, fmt.Sprintf("%d twice", r.Doubled))
	}
	if r.Endless > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d walks do not end", r.Endless, r.Walks))
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// chart draws the ways as they are of themselves. The hinted ones are in the table.
func (r rivals) chart(found rivalry) report.Chart {
	out := report.Chart{
		File: "peers.svg", Title: fmt.Sprintf("A page of %s rows by its depth, sort %s", number(found.rows), r.sort),
		X: "rows that lie before the page, %", Y: "p50, ms", LogY: true,
	}
	for _, w := range found.ways {
		if w.hinted {
			continue
		}
		line := report.Series{Name: w.peer.Name()}
		for _, depth := range r.depths {
			p50 := w.timed[depth].Summary().P50
			line.Points = append(line.Points, report.Point{X: 100 * depth, Y: p50.Value, Low: p50.Low, High: p50.High})
		}
		out.Series = append(out.Series, line)
	}
	return out
}

// peerGoals are the promises, one a peer, judged on the peer's way of itself.
func peerGoals(found rivalry) []report.Goal {
	text := func(name string) string {
		return fmt.Sprintf("At %.0f %% depth of %s rows, at least %d × the pages a second of %s (p50)", 100*deep, number(peerRows), peerLimit, name)
	}
	var out []report.Goal
	for _, w := range found.ways {
		switch {
		case w.ours || w.hinted:
		case found.rows != peerRows:
			out = append(out, atLeast(unmeasured(text(w.name), "×", peerLimit, fmt.Sprintf(
				"%s rows were not measured; of %s it is %s", number(peerRows), number(found.rows), times(found.gain(w, deep))))))
		default:
			goal := report.Goal{Text: text(w.name), Value: found.gain(w, deep), Unit: "×", Limit: peerLimit, AtLeast: true}
			if !goal.Met() {
				goal.Reason = found.reason(w)
			}
			out = append(out, goal)
		}
	}
	if found.nodeMissing != "" {
		out = append(out, atLeast(unmeasured(text(mixmaxName), "×", peerLimit, found.nodeMissing)))
	}
	return out
}

func atLeast(g report.Goal) report.Goal {
	g.AtLeast = true
	return g
}

// reason says, in figures, why a way is not so much slower: what it takes, hinted and not, and what it loses for it.
func (found rivalry) reason(w way) string {
	p50 := func(w way) string { return millis(w.timed[deep].Summary().P50.Value) + " ms" }
	out := fmt.Sprintf("%s against %s of the keyset page", p50(w), p50(found.base(w)))
	hinted := slices.IndexFunc(found.ways, func(other way) bool { return other.hinted && other.name == w.name })
	if hinted >= 0 {
		out += ", hinted " + p50(found.ways[hinted])
	}
	var lost, rows, endless int
	for _, results := range found.results {
		for _, result := range results {
			if result.Peer == w.peer.Name() {
				lost, rows, endless = lost+result.Lost, rows+result.Rows, endless+result.Endless
			}
		}
	}
	out += fmt.Sprintf("; on the small lists it loses %d of %d rows, and %d walks do not end", lost, rows, endless)
	if w.why != "" {
		out += "; " + w.why
	}
	return out
}
