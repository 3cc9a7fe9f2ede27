package groups

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"catalogue/bench/service"
	"catalogue/creatives"
	"catalogue/pagination"
)

// answer is what the tests look at in a page.
type answer struct {
	Data []struct{ ID string }
	Meta struct {
		NextCursor *string `json:"next_cursor"`
		Total      *int64
		TotalKind  *string `json:"total_kind"`
	}
}

func ids(a answer) []string {
	out := make([]string, len(a.Data))
	for i, item := range a.Data {
		out[i] = item.ID
	}
	return out
}

func get(ctx context.Context, t *testing.T, s *service.Service, target string) answer {
	t.Helper()
	page, err := s.Page(ctx, target)
	require.NoError(t, err)
	var out answer
	require.NoError(t, json.Unmarshal(page.Body, &out))
	return out
}

// walk gets every row of a list one by one, and the cursor before each of them but the first.
func walk(t *testing.T, s *service.Service, l list) (rows, cursors []string) {
	t.Helper()
	cursor := ""
	for {
		page := get(t.Context(), t, s, l.target(1, cursor))
		rows, cursors = append(rows, ids(page)...), append(cursors, cursor)
		if page.Meta.NextCursor == nil {
			return rows, cursors
		}
		cursor = *page.Meta.NextCursor
	}
}

func TestMintedCursorsAreThoseOfAWalk(t *testing.T) {
	t.Parallel()
	const rows, limit = 300, 20
	e := testEnv(t, rows)
	data, server, err := e.served(t.Context(), rows)
	require.NoError(t, err)
	for _, sort := range []string{"-created_at", "metrics.spend", "media.width", "-media.width"} {
		l, err := newList(creatives.List(), sort)
		require.NoError(t, err)
		all, cursors := walk(t, server, l)
		require.Len(t, all, rows)
		at := map[string]int{} // where a cursor stands
		for i, cursor := range cursors {
			at[cursor] = i
		}
		for _, where := range (depth{}).places() {
			found, err := l.positions(t.Context(), data.Database, where, limit, 15)
			require.NoError(t, err)
			for _, position := range found {
				cursor, err := l.mint(position)
				require.NoError(t, err)
				got := ids(get(t.Context(), t, server, l.target(limit, cursor)))
				require.Len(t, got, limit)
				begin := 0
				if where != first() {
					position.Passed = 0 // as behind a page of one row
					cursor, err := l.mint(position)
					require.NoError(t, err)
					var known bool
					begin, known = at[cursor]
					require.True(t, known, "%s, %s: a walk hands out the same text", sort, where)
				}
				require.Equal(t, all[begin:begin+limit], got, "%s, %s", sort, where)
			}
		}
	}
}

func TestMintedCursorsKnowTheTieThatTheCatalogueKnows(t *testing.T) {
	t.Parallel()
	const rows, limit = 300, 20
	e := testEnv(t, rows)
	data, server, err := e.served(t.Context(), rows)
	require.NoError(t, err)
	l, err := newList(creatives.List(), "media.width")
	require.NoError(t, err)
	minted := map[string]bool{}
	for _, depth := range []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8} {
		found, err := l.positions(t.Context(), data.Database, place{pagination.Values, depth}, limit, rows/8)
		require.NoError(t, err)
		for _, position := range found {
			cursor, err := l.mint(position)
			require.NoError(t, err)
			minted[cursor] = position.Passed > 0
		}
	}
	same, tied := 0, 0
	cursor := get(t.Context(), t, server, l.target(limit, "")).Meta.NextCursor
	for ; cursor != nil; cursor = get(t.Context(), t, server, l.target(limit, *cursor)).Meta.NextCursor {
		if passed, found := minted[*cursor]; found {
			same++
			if passed {
				tied++
			}
		}
	}
	require.Greater(t, same, 4, "a walk hands out the same text")
	require.Positive(t, tied)
}

func TestPlacesLieWhereTheySay(t *testing.T) {
	t.Parallel()
	const rows, limit = 300, 20
	e := testEnv(t, rows)
	data, server, err := e.served(t.Context(), rows)
	require.NoError(t, err)
	l, err := newList(creatives.List(), "metrics.spend")
	require.NoError(t, err)
	_, cursors := walk(t, server, l)
	values, err := count(t.Context(), data.Database, l.reads(pagination.RowPosition{Phase: pagination.Values}, 1)[0])
	require.NoError(t, err)
	nulls, err := count(t.Context(), data.Database, l.reads(pagination.RowPosition{Phase: pagination.Nulls}, 1)[0])
	require.NoError(t, err)
	require.Equal(t, rows, values+nulls)
	for _, c := range []struct {
		at          place
		first, last int // how many rows lie before
	}{
		{place{pagination.Values, 0.5}, values/2 - 7, values/2 + 7},                        // on both sides of the depth
		{place{pagination.Values, 0.99}, values - limit - fewestPages, values - limit - 1}, // as deep as whole pages lie
		{place{pagination.Nulls, 0}, values, values},
		{place{pagination.Nulls, 0.1}, values + 1, min(values+15, rows-limit-1)}, // never before the phase
	} {
		found, err := l.positions(t.Context(), data.Database, c.at, limit, 15)
		require.NoError(t, err)
		var behind []int
		for _, position := range found {
			position.Passed = 0 // as behind a page of one row
			cursor, err := l.mint(position)
			require.NoError(t, err)
			for i := range cursors {
				if cursors[i] == cursor {
					behind = append(behind, i)
				}
			}
		}
		require.Len(t, behind, c.last-c.first+1, c.at)
		for i := c.first; i <= c.last; i++ {
			require.Contains(t, behind, i, c.at)
		}
	}
	short, err := l.positions(t.Context(), data.Database, place{pagination.Nulls, 0.5}, nulls, 15)
	require.NoError(t, err)
	require.Empty(t, short, "no whole page and a row more")
}

func TestReadsByTheDriverAreThoseOfThePage(t *testing.T) {
	t.Parallel()
	const rows, limit = 300, 20
	e := testEnv(t, rows)
	data, server, err := e.served(t.Context(), rows)
	require.NoError(t, err)
	plain, err := newList(creatives.Gallery(), "media.width")
	require.NoError(t, err)
	active, err := plain.filtered("status", creatives.StatusActive)
	require.NoError(t, err)
	for _, l := range []list{plain, active} {
		for _, at := range []place{first(), {pagination.Values, 0.5}, {pagination.Nulls, 0}} {
			found, err := l.pages(t.Context(), data.Database, at, limit, 15)
			require.NoError(t, err)
			require.False(t, found.none())
			for i, target := range found.targets {
				docs, _, err := readPage(t.Context(), data.Database, found.reads[i], limit+1+found.passed[i])
				require.NoError(t, err)
				docs = docs[found.passed[i]:]
				require.Len(t, docs, limit+1)
				var want []string
				for _, doc := range docs[:limit] {
					want = append(want, doc.Lookup("_id").ObjectID().Hex())
				}
				page := get(t.Context(), t, server, target)
				require.Equal(t, want, ids(page), "%s at %s", target, at)
				require.Nil(t, page.Meta.TotalKind, "no total is counted")
			}
		}
	}
	require.Error(t, func() error { _, err := newList(creatives.List(), "unknown"); return err }())
}
