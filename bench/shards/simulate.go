package shards

import (
	"math"
	"math/rand/v2"
	"slices"

	"catalogue/pagination"
)

const (
	// seed makes two simulations of the same samples the same.
	seed = 1
	// fewestDraws is how many waits a quantile is taken of, at least: the 99 % quantile of fewer moves from run to run.
	fewestDraws = 20_000
	// spread is how many values there are for a row: about one row in so many is tied with its neighbour.
	spread = 10
)

// Options say what to simulate.
type Options struct {
	Rows   int   // of the list
	Nulls  int   // of a hundred rows, how many have no value
	Limit  int   // rows a page
	Shards []int // numbers of shards
	// Times are how long a shard took for a page, in milliseconds, as measured. They are drawn from independently: shards
	// that are slow together would be waited for less.
	Times []float64
}

// Figures are what the pages of a whole walk took.
type Figures struct {
	Arm    Arm
	Shards int
	// ReadPerRow is how many rows the shards answered with for one that was served.
	ReadPerRow                               float64
	ReadPerPage, AskedPerPage, RoundsPerPage float64
	P50, P99                                 float64 // of a page in milliseconds, without the network
}

// Simulate walks the list in each arm with each number of shards. step is called after each walk.
func Simulate(o Options, step func()) []Figures {
	rows := makeRows(o)
	times := slices.Sorted(slices.Values(o.Times))
	out := make([]Figures, 0, len(Arms())*len(o.Shards))
	for _, arm := range Arms() {
		for _, k := range o.Shards {
			out = append(out, walk(New(arm, rows, k, true), k, o.Limit, times))
			step()
		}
	}
	return out
}

// makeRows makes a list with ties and nulls, whose ids are in no relation to the values.
func makeRows(o Options) []Row {
	dice := newDice()
	rows := make([]Row, o.Rows)
	for i, number := range dice.Perm(o.Rows) {
		rows[i] = Row{Phase: pagination.Values, Value: dice.IntN(spread * o.Rows), ID: id(number)}
		if dice.IntN(100) < o.Nulls {
			rows[i] = Row{Phase: pagination.Nulls, ID: id(number)}
		}
	}
	return rows
}

func walk(c *Cluster, k, limit int, times []float64) Figures {
	out := Figures{Arm: c.arm, Shards: k}
	var pages [][]int
	served := 0.0
	c.Walk(limit, func(p Page) {
		pages = append(pages, p.Rounds)
		served += float64(len(p.Rows))
		out.ReadPerPage += float64(p.Read)
		out.RoundsPerPage += float64(len(p.Rounds))
		for _, asked := range p.Rounds {
			out.AskedPerPage += float64(asked)
		}
	})
	out.ReadPerRow = out.ReadPerPage / served
	for _, sum := range []*float64{&out.ReadPerPage, &out.RoundsPerPage, &out.AskedPerPage} {
		*sum /= float64(len(pages))
	}
	waits := Waits(pages, times)
	out.P50, out.P99 = at(waits, 0.5), at(waits, 0.99)
	return out
}

// Waits draws how long pages take, sorted: for each of its rounds a page waits for the slowest of the shards that it asks.
// sorted are the times of one shard.
func Waits(pages [][]int, sorted []float64) []float64 {
	dice := newDice()
	out := make([]float64, 0, fewestDraws+len(pages))
	for len(out) < fewestDraws {
		for _, rounds := range pages {
			wait := 0.0
			for _, shards := range rounds {
				// The largest of m draws lies below the quantile q with the chance q^m.
				wait += at(sorted, math.Pow(dice.Float64(), 1/float64(shards)))
			}
			out = append(out, wait)
		}
	}
	slices.Sort(out)
	return out
}

// at is a quantile of what was observed: no value between two observations is made up, and none beyond the largest.
func at(sorted []float64, q float64) float64 {
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

func newDice() *rand.Rand {
	return rand.New(rand.NewPCG(seed, seed)) //nolint:gosec // a simulation is no secret
}
