package shards

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"catalogue/pagination"
)

// drawRows draws a list with many ties and nulls.
func drawRows(t *rapid.T) []Row {
	numbers := rapid.SliceOfNDistinct(rapid.IntRange(0, 500), 0, 60, rapid.ID[int]).Draw(t, "ids")
	rows := make([]Row, len(numbers))
	for i, n := range numbers {
		rows[i] = Row{Phase: pagination.Nulls, ID: id(n)}
		if value := rapid.IntRange(-1, 5).Draw(t, "value"); value >= 0 {
			rows[i].Phase, rows[i].Value = pagination.Values, value
		}
	}
	return rows
}

// sorted is the list as it is defined, written down without the cluster's own order.
func sorted(rows []Row, descending bool) []Row {
	out := slices.Clone(rows)
	slices.SortFunc(out, func(a, b Row) int {
		switch {
		case a.Phase != b.Phase:
			return int(a.Phase) - int(b.Phase)
		case descending:
			a, b = b, a
		}
		if a.Value != b.Value {
			return a.Value - b.Value
		}
		return slices.Compare(a.ID[:], b.ID[:])
	})
	return out
}

func TestAMergedWalkIsTheWalkOfOneList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows(t)
		arm := rapid.SampledFrom(Arms()).Draw(t, "arm")
		k := rapid.IntRange(1, 20).Draw(t, "shards")
		limit := rapid.IntRange(1, 65).Draw(t, "limit")
		descending := rapid.Bool().Draw(t, "descending")
		walked := []Row{}
		New(arm, rows, k, descending).Walk(limit, func(p Page) {
			if p.Next != nil {
				require.Len(t, p.Rows, limit)
			}
			require.GreaterOrEqual(t, p.Read, len(p.Rows))
			require.LessOrEqual(t, p.Read, k*(limit+1)*3, "three reads of at most the whole page of each shard")
			require.NotEmpty(t, p.Rounds)
			walked = append(walked, p.Rows...)
		})
		require.Equal(t, sorted(rows, descending), walked)
	})
}

func TestALongWalkOverManyShardsIsThatOfOneList(t *testing.T) {
	t.Parallel()
	rows := makeRows(Options{Rows: 5000, Nulls: 10})
	for _, arm := range Arms() {
		var walked []Row
		again := 0
		New(arm, rows, 16, true).Walk(50, func(p Page) {
			walked = append(walked, p.Rows...)
			if len(p.Rounds) > 2 {
				again++
			}
		})
		require.Equal(t, sorted(rows, true), walked, arm)
		require.Equal(t, arm == HashedBatched, again > 10, "only batches are asked for again: %s", arm)
	}
}

func TestAPageFromAnyPositionIsThatOfOneList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows(t)
		arm := rapid.SampledFrom(Arms()).Draw(t, "arm")
		descending := rapid.Bool().Draw(t, "descending")
		// A position that may be no row's: its row is gone, and others are tied with it.
		from := Position{
			Phase: pagination.Values, After: true, Tie: true,
			Value: rapid.IntRange(-1, 6).Draw(t, "behind"), ID: id(rapid.IntRange(0, 500).Draw(t, "behind id")),
		}
		list := sorted(rows, descending)
		all := sorted(append(list, Row{Phase: from.Phase, Value: from.Value, ID: from.ID}), descending)
		want := slices.DeleteFunc(slices.Clone(all), func(r Row) bool {
			return slices.Index(all, r) <= slices.Index(all, Row{Phase: from.Phase, Value: from.Value, ID: from.ID})
		})
		page := New(arm, rows, 4, descending).Page(from, len(list)+1)
		require.Equal(t, append([]Row{}, want...), append([]Row{}, page.Rows...))
	})
}

func TestWhatAPageAsksOfTheShards(t *testing.T) {
	t.Parallel()
	rows := makeRows(Options{Rows: 10_000})
	first := pagination.Start[int]()
	for arm, want := range map[Arm]Page{
		HashedWhole:  {Read: 8 * 51, Rounds: []int{8}},
		RangedWhole:  {Read: 8 * 51, Rounds: []int{8}},
		RangedInTurn: {Read: 51, Rounds: []int{1}},
	} {
		page := New(arm, rows, 8, false).Page(first, 50)
		require.Equal(t, want.Read, page.Read, arm)
		require.Equal(t, want.Rounds, page.Rounds, arm)
	}
	batched := New(HashedBatched, rows, 8, false).Page(first, 50)
	require.Less(t, batched.Read, 8*51/2)
	require.GreaterOrEqual(t, batched.Read, 8*batch(51, 8))
	require.Equal(t, 8, batched.Rounds[0])
	require.Len(t, batched.Rounds, 1+(batched.Read-8*batch(51, 8))/batch(51, 8))
}

func TestBatchesAreNeverMoreThanThePage(t *testing.T) {
	t.Parallel()
	require.Equal(t, 51, batch(51, 1))
	require.Equal(t, 40, batch(51, 2))
	require.Equal(t, 3, batch(51, 64))
	require.Equal(t, 1, batch(1, 64))
}

func TestRangesBehindTheCursorAreTheOnesAsked(t *testing.T) {
	t.Parallel()
	rows := makeRows(Options{Rows: 8000})
	list := sorted(rows, false)
	for asked := 8; asked > 0; asked-- {
		last := list[(8-asked)*1000+500]
		page := New(RangedWhole, rows, 8, false).Page(Position{Phase: pagination.Values, After: true, Value: last.Value, ID: last.ID}, 50)
		require.Equal(t, []int{asked}, page.Rounds)
	}
}

func TestAPageWaitsForTheSlowestOfItsShards(t *testing.T) {
	t.Parallel()
	times := make([]float64, 1000)
	for i := range times {
		times[i] = float64(i)
	}
	for _, k := range []int{1, 4, 64} {
		waits := Waits([][]int{{k}}, times)
		for _, q := range []float64{0.5, 0.99} {
			// The closed form: half of the pages are quicker than the time that each shard keeps with the chance 0.5^(1/k).
			require.InDelta(t, closedForm(times, q, k), at(waits, q), 15, "%d shards, quantile %v", k, q)
		}
	}
	constant := Waits([][]int{{3, 1, 1}}, []float64{2})
	require.InDelta(t, 6.0, constant[0], 0)
	require.InDelta(t, 6.0, constant[len(constant)-1], 0)
}

// closedForm inverts the distribution of the largest of k: the share of single times whose k-th power is q.
func closedForm(times []float64, q float64, k int) float64 {
	for i := range times {
		share, power := float64(i+1)/float64(len(times)), 1.0
		for range k {
			power *= share
		}
		if power >= q {
			return times[i]
		}
	}
	return times[len(times)-1]
}

func TestFiguresOfAWalk(t *testing.T) {
	t.Parallel()
	steps := 0
	figures := Simulate(Options{Rows: 5000, Nulls: 10, Limit: 50, Shards: []int{1, 16}, Times: []float64{1, 2, 3}}, func() { steps++ })
	require.Equal(t, len(figures), steps)
	require.Len(t, figures, 2*len(Arms()))
	byArm := map[Arm][]Figures{}
	for _, f := range figures {
		byArm[f.Arm] = append(byArm[f.Arm], f)
		require.GreaterOrEqual(t, f.ReadPerRow, 1.0)
		require.LessOrEqual(t, f.P50, f.P99)
	}
	for arm, f := range byArm {
		require.InDelta(t, 1.02, f[0].ReadPerRow, 0.01, "one shard reads a row more a page: %s", arm)
	}
	require.Greater(t, byArm[HashedWhole][1].ReadPerRow, 10.0)
	require.Less(t, byArm[HashedBatched][1].ReadPerRow, 3.0)
	require.Greater(t, byArm[HashedBatched][1].RoundsPerPage, byArm[HashedWhole][1].RoundsPerPage)
	require.Less(t, byArm[RangedWhole][1].ReadPerRow, byArm[HashedWhole][1].ReadPerRow)
	require.Less(t, byArm[RangedInTurn][1].ReadPerRow, 1.1)
}
