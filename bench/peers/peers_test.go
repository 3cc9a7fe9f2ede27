package peers_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"catalogue/bench/peers"
	"catalogue/internal/mongotest"
)

// Eight walks a case: by pages of 1, 2, 7 and 50 rows, in both directions.
const walks = 8

func TestKeysetLosesNothing(t *testing.T) {
	t.Parallel()
	keys := keyring(t)
	for _, c := range peers.Cases() {
		if c.Mixed {
			continue
		}
		result := walk(t, c.Name, func(l peers.List) peers.Peer { return peers.Keyset(l, keys) })
		require.Equal(t, peers.Result{Case: c.Name, Peer: "keyset", Walks: walks, Rows: walks * len(c.Rows)}, result)
	}
}

func TestKeysetLosesNothingWhereNullsAreMixed(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.NullsAsMissing)
	keys := keyring(t)
	result := walk(t, "missing and null mixed", func(l peers.List) peers.Peer { return peers.Keyset(l, keys) })
	require.Equal(t, peers.Result{Case: "missing and null mixed", Peer: "keyset", Walks: walks, Rows: walks * 8}, result)
}

// The probe of the benchmark finds what the tests need of the server to be served right.
func TestNullsAsMissing(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.NullsAsMissing)
	served, err := peers.NullsAsMissing(t.Context(), mongotest.Database(t))
	require.NoError(t, err)
	require.True(t, served)
}

func TestSkipLosesNothingOnQuietData(t *testing.T) {
	t.Parallel()
	for _, c := range peers.Cases() {
		if c.Deleting {
			continue
		}
		result := walk(t, c.Name, skip)
		require.Equal(t, peers.Result{Case: c.Name, Peer: "skip/limit", Walks: walks, Rows: walks * len(c.Rows)}, result)
	}
}

// Behind every deleted row, all rows move up by one, past the next page's beginning: of 20 rows every second by single
// pages (10), six by pages of two (after 2, 5, 8, …), two by pages of seven and none by pages of 50. Both directions.
func TestSkipLosesRowsWhereOthersAreDeleted(t *testing.T) {
	t.Parallel()
	result := walk(t, "first row of each page deleted", skip)
	require.Equal(t, 2*(10+6+2), result.Lost)
	require.Zero(t, result.Doubled)
}

// Two walks by pages of one row: with values first, the page behind the last value is empty; with the rows without a value
// first, as an ascending order of the database has them, that behind the first of those is.
func TestOrLosesRowsWithoutAValue(t *testing.T) {
	t.Parallel()
	result := walk(t, "one value, one row without", or)
	require.Equal(t, 2, result.Lost)
	require.Zero(t, result.Endless)
	require.Equal(t, 12, walk(t, "zero beside missing", or).Lost)
	require.Equal(t, 10, walk(t, "empty text beside missing", or).Lost)
}

func TestOrServesTies(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"60 rows of one value", "ties across borders"} {
		result := walk(t, name, or)
		require.Zero(t, result.Lost)
		require.Zero(t, result.Doubled)
	}
}

// Of 60 rows with one value only the first page is ever served: 59, 58, 53 and 10 are lost, in both directions.
func TestOffsetLosesTies(t *testing.T) {
	t.Parallel()
	result := walk(t, "60 rows of one value", offset)
	require.Equal(t, peers.Result{
		Case: "60 rows of one value", Peer: "offset (openprocurement)", Walks: walks, Rows: walks * 60, Lost: 2 * (59 + 58 + 53 + 10),
	}, result)
}

// The offset behind a row without a value is none, and that behind a zero counts as none: the list begins anew.
func TestOffsetBeginsAnew(t *testing.T) {
	t.Parallel()
	require.Equal(t, walks, walk(t, "ten without a value, no other", offset).Endless)
	require.Positive(t, walk(t, "zero beside missing", offset).Endless)
}

func TestOffsetHasNoTexts(t *testing.T) {
	t.Parallel()
	result := walk(t, "empty text beside missing", offset)
	require.True(t, result.Unsuitable)
	require.Zero(t, result.Walks)
}

func TestMixmaxServesNullsAndTies(t *testing.T) {
	t.Parallel()
	server := node(t)
	for _, c := range peers.Cases() {
		if c.Mixed {
			continue
		}
		result := walk(t, c.Name, func(l peers.List) peers.Peer { return peers.Mixmax(l, server, false) })
		require.Equal(t, peers.Result{
			Case: c.Name, Peer: "mongo-cursor-pagination over HTTP", Walks: walks, Rows: walks * len(c.Rows),
		}, result)
	}
}

// It takes a null for another value than a missing field, which MongoDB sorts as one.
func TestMixmaxLosesRowsWhereNullsAreMixed(t *testing.T) {
	t.Parallel()
	server := node(t)
	result := walk(t, "missing and null mixed", func(l peers.List) peers.Peer { return peers.Mixmax(l, server, false) })
	require.Equal(t, 8, result.Lost)
	require.Equal(t, 2, result.Doubled)
}

func TestAWalkThatDoesNotEndIsCutOff(t *testing.T) {
	t.Parallel()
	outcome, err := peers.Walk(t.Context(), standing{}, nil, 1, nil)
	require.NoError(t, err)
	require.Equal(t, peers.Outcome{Endless: true}, outcome)
}

// standing serves the first page for ever.
type standing struct{}

func (standing) Name() string                                 { return "standing" }
func (standing) Position(peers.Place) (peers.Position, error) { return peers.Position{}, nil }
func (standing) Fetch(context.Context, peers.Position, int) (peers.Answer, error) {
	return func() (peers.Page, error) { return peers.Page{Next: new(peers.Position)}, nil }, nil
}

func skip(l peers.List) peers.Peer   { return peers.Skip(l, false) }
func or(l peers.List) peers.Peer     { return peers.Or(l, false) }
func offset(l peers.List) peers.Peer { return peers.Offset(l, false) }
