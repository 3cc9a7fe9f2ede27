package pagination

import (
	"cmp"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// sortedSets is how many made lists the walk is compared on; rapid runs 100 a call.
const sortedSets = 10_000

// modelRow is a row of the model: a value, or none (null), or one of another type (stray).
type modelRow = Key[int]

func id(n int) (out ID) {
	binary.BigEndian.PutUint64(out[:8], uint64(n))
	return out
}

func compareID(a, b ID) int { return slices.Compare(a[:], b[:]) }

// model is a list as it should be walked: values, nulls, strays, each in the direction asked for.
func model(rows []modelRow, descending bool) []modelRow {
	sorted := slices.Clone(rows)
	slices.SortFunc(sorted, func(a, b modelRow) int {
		if c := cmp.Compare(a.Phase, b.Phase); c != 0 {
			return c
		}
		c := cmp.Or(cmp.Compare(a.Value, b.Value), compareID(a.ID, b.ID))
		if descending {
			return -c
		}
		return c
	})
	return sorted
}

// modelFetch answers a read from a sorted slice, as a database would.
func modelFetch(sorted []modelRow, descending bool) func(Read[int], int) ([]modelRow, error) {
	beyond := func(c int) bool { return (c > 0) != descending && c != 0 }
	return func(r Read[int], limit int) ([]modelRow, error) {
		var out []modelRow
		for _, row := range sorted {
			if len(out) == limit {
				break
			}
			match := row.Phase == r.Phase()
			if match && r.Bounded {
				switch r.Kind {
				case ReadTies:
					match = row.Value == r.Value && beyond(compareID(row.ID, r.ID))
				case ReadValues:
					match = beyond(cmp.Compare(row.Value, r.Value))
				case ReadNulls, ReadStrays:
					match = beyond(compareID(row.ID, r.ID))
				}
			}
			if match {
				out = append(out, row)
			}
		}
		return out, nil
	}
}

// modelWalk reads a whole list page by page. It gives up where a walk does not end.
func modelWalk(
	t require.TestingT, size, limit int, fetch func(Read[int], int) ([]modelRow, error), mayTie func(a, b int) bool,
) []modelRow {
	var out []modelRow
	position := Start[int]()
	for pages := 0; ; pages++ {
		require.LessOrEqual(t, pages, size, "the walk does not end")
		rows, err := Collect(position, limit+1, fetch)
		require.NoError(t, err)
		if len(rows) <= limit {
			return append(out, rows...)
		}
		out = append(out, rows[:limit]...)
		position = Next(rows[limit-1], rows[limit], mayTie)
	}
}

func drawRows(t *rapid.T) []modelRow {
	phases := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 24).Draw(t, "phases")
	ids := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
		for i := range phases {
			if !yield(i) {
				return
			}
		}
	})).Draw(t, "ids")
	rows := make([]modelRow, 0, len(phases))
	for i, p := range phases {
		row := modelRow{Phase: Values, ID: id(ids[i])}
		switch {
		case p >= 8:
			row.Phase = Strays
		case p >= 5:
			row.Phase = Nulls
		default:
			row.Value = p % 3 // few values, so that most are tied
		}
		rows = append(rows, row)
	}
	return rows
}

func TestEveryWalkEqualsTheSortedSlice(t *testing.T) {
	t.Parallel()
	property := func(t *rapid.T) {
		rows := drawRows(t)
		descending := rapid.Bool().Draw(t, "descending")
		mayTie := func(a, b int) bool { return a == b }
		if rapid.Bool().Draw(t, "cautious") {
			mayTie = func(int, int) bool { return true }
		}
		want := model(rows, descending)
		fetch := modelFetch(want, descending)
		for limit := 1; limit <= len(rows)+1; limit++ {
			got := modelWalk(t, len(rows), limit, fetch, mayTie)
			if !slices.Equal(want, got) {
				t.Fatalf("limit %d: want %v, got %v", limit, want, got)
			}
		}
	}
	for range sortedSets / 100 {
		rapid.Check(t, property)
	}
}

func TestPageThatEndsWithTheValuesContinuesInTheNullsWithoutAnID(t *testing.T) {
	t.Parallel()
	last := modelRow{Phase: Values, Value: 7, ID: id(1)}
	next := Next(last, modelRow{Phase: Nulls, ID: id(2)}, func(int, int) bool { return true })
	require.Equal(t, Position[int]{Phase: Nulls}, next)
	require.Equal(t, []Read[int]{{Kind: ReadNulls}, {Kind: ReadStrays}}, next.Reads())
}

func TestTiesAreReadOnlyWhereTheNextRowMayBeTied(t *testing.T) {
	t.Parallel()
	equal := func(a, b int) bool { return a == b }
	last := modelRow{Phase: Values, Value: 7, ID: id(1)}

	tied := Next(last, modelRow{Phase: Values, Value: 7, ID: id(2)}, equal).Reads()
	require.Equal(t, Read[int]{Kind: ReadTies, Bounded: true, Value: 7, ID: id(1)}, tied[0])
	require.Equal(t, Read[int]{Kind: ReadValues, Bounded: true, Value: 7}, tied[1])

	free := Next(last, modelRow{Phase: Values, Value: 8, ID: id(2)}, equal).Reads()
	require.Equal(t, Read[int]{Kind: ReadValues, Bounded: true, Value: 7}, free[0])
}

func TestMostPagesAreOneRead(t *testing.T) {
	t.Parallel()
	var rows []modelRow
	for i := range 100 {
		rows = append(rows, modelRow{Phase: Values, Value: i, ID: id(i)})
	}
	reads := 0
	fetch := modelFetch(rows, false)
	_, err := Collect(Next(rows[49], rows[50], func(a, b int) bool { return a == b }), 11,
		func(r Read[int], limit int) ([]modelRow, error) {
			reads++
			return fetch(r, limit)
		})
	require.NoError(t, err)
	require.Equal(t, 1, reads)
}
