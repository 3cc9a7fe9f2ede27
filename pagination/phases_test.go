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
func modelFetch(sorted *[]modelRow, descending bool) func(Read[int], int) ([]modelRow, error) {
	beyond := func(c int) bool { return (c > 0) != descending && c != 0 }
	return func(r Read[int], limit int) ([]modelRow, error) {
		var out []modelRow
		for _, row := range *sorted {
			if len(out) == limit+r.Passed {
				break
			}
			match := row.Phase == r.Phase()
			if match && r.Bounded {
				switch r.Kind {
				case ReadTies:
					match = row.Value == r.Value && beyond(compareID(row.ID, r.ID))
				case ReadValues:
					match = beyond(cmp.Compare(row.Value, r.Value))
				case ReadFrom:
					match = row.Value == r.Value || beyond(cmp.Compare(row.Value, r.Value))
				case ReadNulls, ReadStrays:
					match = beyond(compareID(row.ID, r.ID))
				}
			}
			if match {
				out = append(out, row)
			}
		}
		if r.Kind != ReadFrom {
			return out, nil
		}
		return Behind(r, out, limit, func(row modelRow) Side {
			if row.Value != r.Value || beyond(compareID(row.ID, r.ID)) {
				return Beyond
			}
			return UpTo
		})
	}
}

// modelNext is the position behind a page, as KeysetPage makes it.
func modelNext(page []modelRow, leftOut modelRow, mayTie func(a, b int) bool) Position[int] {
	p := Next(page[len(page)-1], leftOut, mayTie)
	if p.Tie {
		p.Passed = Passed(page, func(r modelRow) int { return r.Value }, equalInts, mayTie)
	}
	return p
}

func equalInts(a, b int) bool { return a == b }

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
		position = modelNext(rows[:limit], rows[limit], mayTie)
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
		mayTie := equalInts
		if rapid.Bool().Draw(t, "cautious") {
			mayTie = func(int, int) bool { return true }
		}
		want := model(rows, descending)
		fetch := modelFetch(&want, descending)
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
	fetch := modelFetch(&rows, false)
	_, err := Collect(Next(rows[49], rows[50], func(a, b int) bool { return a == b }), 11,
		func(r Read[int], limit int) ([]modelRow, error) {
			reads++
			return fetch(r, limit)
		})
	require.NoError(t, err)
	require.Equal(t, 1, reads)
}

// Rows that come and go between two pages cost a page a read at most: those that stay are served once, in their order.
func TestRowsThatStayAreServedOnceWhateverComesAndGoes(t *testing.T) {
	t.Parallel()
	property := func(t *rapid.T) {
		rows := drawRows(t)
		descending := rapid.Bool().Draw(t, "descending")
		limit := rapid.IntRange(1, 6).Draw(t, "limit")
		stay := map[ID]bool{}
		for _, row := range rows {
			stay[row.ID] = rapid.Bool().Draw(t, "stays")
		}
		list := model(rows, descending)
		fetch := modelFetch(&list, descending)
		var served []modelRow
		position := Start[int]()
		for {
			page, err := Collect(position, limit+1, fetch)
			require.NoError(t, err)
			end := min(limit, len(page))
			served = append(served, page[:end]...)
			if end == len(page) {
				break
			}
			position = modelNext(page[:end], page[end], equalInts)
			list = slices.DeleteFunc(list, func(row modelRow) bool { return !stay[row.ID] && rapid.Bool().Draw(t, "goes") })
			for range rapid.IntRange(0, 3).Draw(t, "come") {
				row := modelRow{Phase: Values, Value: rapid.IntRange(0, 2).Draw(t, "value"), ID: id(rapid.IntRange(0, 40).Draw(t, "id"))}
				if !slices.ContainsFunc(list, func(r modelRow) bool { return r.ID == row.ID }) && len(served) < 200 {
					list = model(append(list, row), descending)
				}
			}
		}
		var want, got []modelRow
		for _, row := range model(rows, descending) {
			if stay[row.ID] {
				want = append(want, row)
			}
		}
		for _, row := range served {
			if stay[row.ID] {
				got = append(got, row)
			}
		}
		if !slices.Equal(want, got) {
			t.Fatalf("limit %d: want %v, got %v", limit, want, got)
		}
	}
	for range sortedSets / 1000 {
		rapid.Check(t, property)
	}
}

func TestATieThatBeganOnThePageBeforeIsOneRead(t *testing.T) {
	t.Parallel()
	var rows []modelRow
	for i := range 40 {
		rows = append(rows, modelRow{Phase: Values, Value: i / 8, ID: id(i)})
	}
	fetch := modelFetch(&rows, false)
	for limit, want := range map[int]int{
		10: 1, // the tie of the last row began on the page
		4:  1, // it fills the page behind, too
		5:  2, // it began on the page before that
	} {
		position, reads := Start[int](), 0
		for range 3 {
			reads = 0
			page, err := Collect(position, limit+1, func(r Read[int], n int) ([]modelRow, error) {
				reads++
				return fetch(r, n)
			})
			require.NoError(t, err)
			position = modelNext(page[:limit], page[limit], equalInts)
		}
		require.LessOrEqual(t, reads, want, "limit %d", limit)
	}
}

func TestBehind(t *testing.T) {
	t.Parallel()
	side := func(row int) Side { return Side(row) }
	up, beyond, unclear := int(UpTo), int(Beyond), int(Unclear)
	read := Read[int]{Kind: ReadFrom, Passed: 2}
	for name, c := range map[string]struct {
		rows []int
		want []int // nil where it is overtaken
	}{
		"as it was":                         {[]int{up, up, beyond, beyond, beyond}, []int{beyond, beyond, beyond}},
		"one row has gone":                  {[]int{up, beyond, beyond, beyond, beyond}, []int{beyond, beyond, beyond}},
		"the list ends":                     {[]int{up, up, beyond}, []int{beyond}},
		"the list ends with the position":   {[]int{up, up}, []int{}},
		"the list ends, and one has come":   {[]int{up, up, up, beyond}, []int{beyond}},
		"one has come":                      {[]int{up, up, up, beyond, beyond}, nil},
		"more have come than are asked for": {[]int{up, up, up, up, up}, nil},
		"nobody can tell":                   {[]int{up, unclear, beyond, beyond, beyond}, nil},
		"nothing is left":                   {[]int{}, []int{}},
	} {
		got, err := Behind(read, c.rows, 3, side)
		if c.want == nil {
			require.ErrorIs(t, err, ErrOvertaken, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
	}
}

func TestPassed(t *testing.T) {
	t.Parallel()
	value := func(row int) int { return row }
	never, always := func(int, int) bool { return false }, func(int, int) bool { return true }
	require.Equal(t, 2, Passed([]int{5, 7, 7}, value, equalInts, equalInts))
	require.Equal(t, 1, Passed([]int{7, 5, 7}, value, equalInts, equalInts))
	require.Zero(t, Passed([]int{7, 7, 7}, value, equalInts, equalInts), "they may have begun before the page")
	require.Zero(t, Passed([]int{7}, value, equalInts, equalInts))
	require.Zero(t, Passed([]int{5, 7, 7}, value, never, always), "nobody can tell")
	require.Zero(t, Passed([]int{5, 7, 7}, value, equalInts, always), "the first may be tied")
}
