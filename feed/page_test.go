package feed

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"
)

// sets is how many made feeds are walked in each property; rapid runs 100 a call.
const sets = 500

// check runs a property on many made feeds.
func check(t *testing.T, property func(t *rapid.T)) {
	t.Helper()
	for range sets / 100 {
		rapid.Check(t, property)
	}
}

// model is the feed as a slice: what a database does with it is a filter, a sort and a cut.
type model struct {
	rows  []row
	made  int
	clock float64 // the last stamp
}

func oid(n int) (id bson.ObjectID) {
	binary.BigEndian.PutUint64(id[4:], uint64(n))
	return id
}

// read answers from the slice, and checks what it is asked for: ranges that an index serves, of bounded length.
func (m *model) read(t require.TestingT) reader {
	return func(s span, n int, _ bool) ([]row, error) {
		require.Positive(t, n)
		require.False(t, s.empty(), "%+v", s)
		require.GreaterOrEqual(t, s.low, float64(minTimestamp))
		require.LessOrEqual(t, s.high, maxTimestamp)
		sorted := slices.Clone(m.rows)
		slices.SortFunc(sorted, func(a, b row) int {
			if before(a, b, s.descending) {
				return -1
			}
			return 1
		})
		var out []row
		for _, r := range sorted {
			inside := (r.at > s.low || r.at == s.low && !s.lowOpen) && (r.at < s.high || r.at == s.high && !s.highOpen)
			if s.behind != nil {
				require.Equal(t, s.low, s.high) //nolint:testifylint // one timestamp, copied
				inside = inside && before(row{at: r.at, id: *s.behind}, r, s.descending)
			}
			if inside && len(out) < n {
				out = append(out, r)
			}
		}
		return out, nil
	}
}

// add makes n objects with one timestamp, in no order of their ids.
func (m *model) add(t *rapid.T, n int, at float64) {
	for range n {
		m.made++
		m.rows = append(m.rows, row{at: at, id: oid(rapid.IntRange(0, 1<<20).Draw(t, "id")<<12 + m.made)})
	}
}

// write does what writers do between two pages: it makes objects, changes and deletes them. New stamps are behind every
// one before; several objects may get the same.
func (m *model) write(t *rapid.T) {
	for range rapid.IntRange(0, 3).Draw(t, "writes") {
		m.clock += rapid.SampledFrom([]float64{0.001, 1}).Draw(t, "passed")
		switch {
		case len(m.rows) == 0 || rapid.IntRange(0, 2).Draw(t, "kind") == 0:
			m.add(t, rapid.IntRange(1, 4).Draw(t, "new"), m.clock)
		default:
			i := rapid.IntRange(0, len(m.rows)-1).Draw(t, "which")
			if rapid.Bool().Draw(t, "delete") {
				m.rows = slices.Delete(m.rows, i, i+1)
			} else {
				m.rows[i].at = m.clock
			}
		}
	}
}

func drawModel(t *rapid.T) *model {
	m := &model{clock: 1760598968}
	for range rapid.IntRange(0, 12).Draw(t, "groups") {
		m.clock += rapid.SampledFrom([]float64{0.001, 0.25, 1}).Draw(t, "step")
		m.add(t, rapid.SampledFrom([]int{1, 1, 1, 2, 3, 5, 7, 8, 15}).Draw(t, "size"), m.clock)
	}
	return m
}

// sorted is the whole feed in the order of a walk.
func (m *model) sorted(descending bool) []row {
	out := slices.Clone(m.rows)
	slices.SortFunc(out, func(a, b row) int {
		if before(a, b, descending) {
			return -1
		}
		return 1
	})
	return out
}

// ask reads the page at an offset as a client has it, and checks what holds for each page.
func (m *model) ask(t require.TestingT, from string, descending bool, limit int) page {
	at, ok := parseOffset(from)
	require.True(t, ok, "the offset %q was given out and is refused", from)
	p, err := readPage(question{from: at, descending: descending, limit: limit, horizon: noHorizon()}, m.read(t))
	require.NoError(t, err)
	require.LessOrEqual(t, len(p.rows), limit)
	return p
}

func drawLimit(t *rapid.T) int { return rapid.IntRange(1, 7).Draw(t, "limit") }

// TestQuietFeed: each object is served exactly once, in order, by full pages, whatever the limit of each request, in both
// directions; and so is the way back from any page.
func TestQuietFeed(t *testing.T) {
	t.Parallel()
	check(t, func(t *rapid.T) {
		m, descending := drawModel(t), rapid.Bool().Draw(t, "descending")
		fixed := drawLimit(t)
		limits := func() int { return fixed }
		if rapid.Bool().Draw(t, "limits change") {
			limits = func() int { return drawLimit(t) }
		}
		whole := m.sorted(descending)
		for at, from := 0, ""; ; {
			limit := limits()
			p := m.ask(t, from, descending, limit)
			if at == len(whole) {
				require.Empty(t, p.rows)
				break
			}
			require.Equal(t, whole[at:min(at+limit, len(whole))], p.rows)
			m.checkForm(t, p.next, p.rows[len(p.rows)-1], limit)
			m.checkForm(t, p.prev, p.rows[0], limit)
			if rapid.IntRange(0, 4).Draw(t, "back") == 0 {
				m.walkBack(t, p.prev.String(), descending, limits, whole[:at])
			}
			at += len(p.rows)
			from = p.next.String()
		}
	})
}

// checkForm: an offset in a group larger than the limit names its row. One in a group that fits counts, unless a
// smaller limit before has begun to name rows in it.
func (m *model) checkForm(t *rapid.T, given offset, at row, limit int) {
	size := 0
	for _, r := range m.rows {
		if r.at == at.at {
			size++
		}
	}
	if size > limit {
		require.Equal(t, offset{form: formWithin, at: at.at, id: at.id}, given)
	} else if given.form == formGroup {
		require.True(t, given.n >= 1 && given.n <= size, "%s of %d", given, size)
	}
}

// walkBack turns round at a page: what was before it comes back once, in the other order.
func (m *model) walkBack(t *rapid.T, from string, descending bool, limits func() int, passed []row) {
	want := append([]row{}, passed...)
	slices.Reverse(want)
	got := []row{}
	for {
		p := m.ask(t, from, !descending, limits())
		if len(p.rows) == 0 {
			break
		}
		got = append(got, p.rows...)
		from = p.next.String()
	}
	require.Equal(t, want, got)
}

// TestWritesBetweenPages: whatever is written between two pages, a forward walk ends with the last state of every object,
// at least once.
func TestWritesBetweenPages(t *testing.T) {
	t.Parallel()
	check(t, func(t *rapid.T) {
		m := drawModel(t)
		seen := map[bson.ObjectID]float64{}
		from, writes := "", rapid.IntRange(0, 12).Draw(t, "rounds")
		for pages := 0; ; pages++ {
			require.Less(t, pages, 1000, "the walk does not end")
			limit := drawLimit(t)
			p := m.ask(t, from, false, limit)
			for _, r := range p.rows {
				seen[r.id] = r.at
			}
			if len(p.rows) < limit {
				require.True(t, m.atEnd(seen), "a short page before the end")
			}
			if len(p.rows) > 0 {
				from = p.next.String()
			}
			if writes--; writes >= 0 {
				m.write(t)
			} else if len(p.rows) == 0 {
				break
			}
		}
		for _, r := range m.rows {
			require.Equal(t, r.at, seen[r.id], "%s", r.id.Hex()) //nolint:testifylint // stamps are copied, never computed
		}
	})
}

func (m *model) atEnd(seen map[bson.ObjectID]float64) bool {
	return !slices.ContainsFunc(m.rows, func(r row) bool { return seen[r.id] != r.at })
}

// TestTwoWayStart: a backward and a forward walk from the first descending page, with writes between their pages, see
// every object together.
func TestTwoWayStart(t *testing.T) {
	t.Parallel()
	check(t, func(t *rapid.T) {
		m := drawModel(t)
		seen := map[bson.ObjectID]float64{}
		take := func(p page) {
			for _, r := range p.rows {
				seen[r.id] = max(seen[r.id], r.at) // the two walks run at once: the newer state wins
			}
		}
		p := m.ask(t, "", true, drawLimit(t))
		take(p)
		backward, forward := p.next.String(), p.prev.String()
		back, writes := len(p.rows) > 0, rapid.IntRange(0, 12).Draw(t, "rounds")
		for pages := 0; ; pages++ {
			require.Less(t, pages, 1000, "the walks do not end")
			if back {
				p := m.ask(t, backward, true, drawLimit(t))
				take(p)
				backward, back = p.next.String(), len(p.rows) > 0
			}
			p := m.ask(t, forward, false, drawLimit(t))
			take(p)
			if len(p.rows) > 0 {
				forward = p.next.String()
			}
			if writes--; writes >= 0 {
				m.write(t)
			} else if !back && len(p.rows) == 0 {
				break
			}
		}
		require.True(t, m.atEnd(seen))
	})
}

// TestOneTimestamp: many objects of one moment are served once each by full pages, and an offset that stops among them
// names its row. The reads stay linear.
func TestOneTimestamp(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{10, 100, 1000} {
		for _, descending := range []bool{false, true} {
			t.Run(fmt.Sprintf("limit=%d/descending=%t", limit, descending), func(t *testing.T) {
				t.Parallel()
				m := &model{}
				for i := range 2500 {
					m.rows = append(m.rows, row{at: 1760598968, id: oid(i)})
				}
				whole, from := m.sorted(descending), ""
				for at := 0; at < len(whole); {
					p := m.ask(t, from, descending, limit)
					require.Equal(t, whole[at:min(at+limit, len(whole))], p.rows)
					at += len(p.rows)
					require.Equal(t, "1760598968.0.0.00000000"+whole[at-1].id.Hex(), p.next.String())
					from = p.next.String()
				}
			})
		}
	}
}

// TestGroupThatChanges: rows leave and enter a group that was served in part.
func TestGroupThatChanges(t *testing.T) {
	t.Parallel()
	at := 1760598968.5
	group := func(ids ...int) *model {
		m := &model{}
		for _, n := range ids {
			m.rows = append(m.rows, row{at: at, id: oid(n)})
		}
		return m
	}
	ids := func(p page) (out []int) {
		for _, r := range p.rows {
			out = append(out, int(binary.BigEndian.Uint64(r.id[4:])))
		}
		return out
	}
	first := group(1, 2, 3).ask(t, "", false, 3)
	require.Equal(t, formGroup, first.next.form)
	require.Equal(t, 3, first.next.n)
	from := first.next.String()

	require.Empty(t, ids(group(1, 2, 3).ask(t, from, false, 3)), "nothing has changed")
	require.Equal(t, []int{4}, ids(group(1, 2, 3, 4).ask(t, from, false, 3)), "one more behind")
	require.Equal(t, []int{0, 1, 2}, ids(group(0, 1, 2, 3).ask(t, from, false, 3)), "one more in front: all again")
	require.Equal(t, []int{1, 3}, ids(group(1, 3).ask(t, from, false, 3)), "one left: all again")
	require.Equal(t, []int{1, 2, 9}, ids(group(1, 2, 9).ask(t, from, false, 3)), "one came for another")
}

// TestHorizon: nothing beyond it is shown, and an offset beyond it is kept.
func TestHorizon(t *testing.T) {
	t.Parallel()
	m := &model{rows: []row{{at: 1, id: oid(1)}, {at: 2, id: oid(2)}, {at: 2, id: oid(3)}, {at: 3, id: oid(4)}}}
	ask := func(from offset, descending bool, horizon float64) []row {
		p, err := readPage(question{from: from, descending: descending, limit: 7, horizon: horizon}, m.read(t))
		require.NoError(t, err)
		return p.rows
	}
	require.Len(t, ask(offset{}, false, 2), 3, "the horizon itself is shown")
	require.Len(t, ask(offset{}, true, 2), 3)
	require.Len(t, ask(offset{}, false, 1.999), 1)
	require.Empty(t, ask(offset{form: formAfter, at: 2}, false, 1))
	require.Empty(t, ask(offset{form: formGroup, at: 2, n: 1, hash: someHash}, false, 1))
	require.Empty(t, ask(offset{form: formWithin, at: 2, id: oid(2)}, false, 1), "its own group is held back, too")
	require.Empty(t, ask(offset{}, false, -5), "a clock before 1970")
}

func TestMergeRows(t *testing.T) {
	t.Parallel()
	check(t, func(t *rapid.T) {
		m, other := drawModel(t), drawModel(t)
		descending, n := rapid.Bool().Draw(t, "descending"), rapid.IntRange(1, 60).Draw(t, "n")
		both := &model{rows: append(slices.Clone(m.rows), other.rows...)}
		want := both.sorted(descending)
		got := mergeRows(m.sorted(descending), other.sorted(descending), descending, n)
		require.Len(t, got, min(n, len(want)))
		for i, r := range got {
			require.False(t, before(want[i], r, descending) || before(r, want[i], descending), "at %d", i)
		}
	})
}
