package groups

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/bench/measure"
	"catalogue/bench/peers"
	"catalogue/bench/report"
	"catalogue/pagination"
)

func TestPeers(t *testing.T) {
	t.Parallel()
	r := rivals{sort: "-created_at", depths: []float64{0, deep}, limit: 5, warmup: 1, rounds: 4, fewer: 2}
	s, err := r.run(t.Context(), testEnv(t, 300))
	require.NoError(t, err)
	requireWhole(t, s)
	require.Equal(t, "peers", s.ID)
	speeds, losses := s.Tables[0], s.Tables[1]
	withNode := !strings.Contains(s.Text, "was left out: node")
	ways := 8
	if withNode {
		ways += 2
	}
	require.Len(t, speeds.Rows, ways)
	require.Len(t, s.Measurements, ways*len(r.depths))
	require.Equal(t, []string{"List", "keyset", "skip/limit", "one $or", "offset (openprocurement)"}, losses.Columns[:5])
	for _, row := range losses.Rows {
		require.Equal(t, "none", row[1], "%s by the keyset", row[0])
	}
	require.Len(t, s.Goals, 4, "one a peer, with Node or without")
	for _, g := range s.Goals {
		require.True(t, g.NotMeasured, "the promise is of more rows")
		require.True(t, g.AtLeast)
		require.NotEmpty(t, g.Reason)
	}
	for _, line := range s.Charts[0].Series {
		require.Len(t, line.Points, len(r.depths), line.Name)
		require.NotContains(t, line.Name, "hinted")
	}
}

// A page that is not the list's is not timed in silence.
func TestAWrongPageEndsTheGroup(t *testing.T) {
	t.Parallel()
	wanted := objectIDs(1, 2)
	answer := func(page ...byte) peers.Answer {
		return func() (peers.Page, error) { return peers.Page{IDs: objectIDs(page...)}, nil }
	}
	require.NoError(t, checkPage(answer(1, 2), wanted, true))
	require.Error(t, checkPage(answer(2, 3), wanted, true))
	require.NoError(t, checkPage(answer(2, 3), wanted, false))
	require.Error(t, checkPage(answer(1), wanted, false))
}

func TestPeerSize(t *testing.T) {
	t.Parallel()
	require.Equal(t, 10_000, peerSize([]int{10_000}))
	require.Equal(t, 100_000, peerSize([]int{10_000, 100_000, 1_000_000}))
	require.Equal(t, 1_000_000, peerSize([]int{1_000_000}))
}

// At the size of the promise each peer is judged, in its own form against the keyset in the same form. What is not met
// says why in figures.
func TestPeerGoals(t *testing.T) {
	t.Parallel()
	timed := func(ms float64) map[float64]measure.Samples {
		return map[float64]measure.Samples{deep: {Times: slices.Repeat([]float64{ms}, 9)}}
	}
	var list peers.List
	found := rivalry{
		rows: peerRows, nodeMissing: "there is none",
		ways: []way{
			{peer: peers.Keyset(list, keyring(t)), ours: true, timed: timed(2)},
			{peer: peers.Skip(list, false), name: "skip", timed: timed(40)},
			{peer: peers.Skip(list, true), name: "skip", hinted: true, timed: timed(4)},
			{peer: peers.Offset(list, false), name: "offset", why: "it is alike", timed: timed(3)},
			{peer: peers.Offset(list, true), name: "offset", hinted: true, timed: timed(2.5)},
		},
		results: [][]peers.Result{{{Peer: "offset (openprocurement)", Lost: 4, Rows: 9, Endless: 3}}},
	}
	goals := peerGoals(found)
	require.Len(t, goals, 3)
	require.True(t, goals[0].Met())
	require.Equal(t, report.Interval{Value: 20, Low: 20, High: 20}, goals[0].Value)
	require.False(t, goals[1].Met())
	require.Equal(t, "3.00 ms against 2.00 ms of the keyset page, hinted 2.50 ms; on the small lists it loses 4 of 9 rows, "+
		"and 3 walks do not end; it is alike", goals[1].Reason)
	require.True(t, goals[2].NotMeasured)
	require.Equal(t, "there is none", goals[2].Reason)
}

func objectIDs(last ...byte) []bson.ObjectID {
	out := make([]bson.ObjectID, len(last))
	for i, b := range last {
		out[i] = bson.ObjectID{11: b}
	}
	return out
}

func keyring(t *testing.T) pagination.Keyring {
	t.Helper()
	keys, err := pagination.NewKeyring(CursorKey)
	require.NoError(t, err)
	return keys
}
