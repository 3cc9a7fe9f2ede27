package race_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"catalogue/feed/race"
	"catalogue/internal/instant"
)

const ms = time.Millisecond

// epoch is the moment that the tables count from.
func epoch() time.Time { return time.UnixMilli(1_760_000_000_000) }

func version(t require.TestingT, object byte, stamp int64) race.Version {
	at, err := instant.FromMillis(epoch().UnixMilli() + stamp)
	require.NoError(t, err)
	return race.Version{ID: bson.ObjectID{11: object}, Stamp: at}
}

// write is one that was acknowledged so many milliseconds after its stamp.
func write(t require.TestingT, object byte, stamp, late int64) race.Write {
	return race.Write{
		Version: version(t, object, stamp), Late: time.Duration(late) * ms,
		Acked: epoch().Add(time.Duration(stamp+late) * ms),
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	const delay, uncertainty = 100 * ms, 2 * ms
	for name, c := range map[string]struct {
		written [][3]int64 // object, stamp, late
		seen    [][2]int64 // object, stamp
		lost    [][2]int64 // by stamp
		within  int
	}{
		"nothing":                            {},
		"all seen":                           {written: [][3]int64{{1, 10, 5}, {2, 11, 5}}, seen: [][2]int64{{1, 10}, {2, 11}}},
		"never seen":                         {written: [][3]int64{{1, 10, 5}, {2, 11, 5}}, seen: [][2]int64{{2, 11}}, lost: [][2]int64{{1, 10}}, within: 1},
		"a later state covers it":            {written: [][3]int64{{1, 10, 5}, {1, 20, 5}}, seen: [][2]int64{{1, 20}}},
		"the later state is the lost one":    {written: [][3]int64{{1, 10, 5}, {1, 20, 5}}, seen: [][2]int64{{1, 10}}, lost: [][2]int64{{1, 20}}, within: 1},
		"neither was seen: one row":          {written: [][3]int64{{1, 10, 5}, {1, 20, 5}}, lost: [][2]int64{{1, 20}}, within: 1},
		"the order of writes is no matter":   {written: [][3]int64{{1, 20, 5}, {1, 10, 5}}, seen: [][2]int64{{1, 20}}},
		"a later state without an answer":    {written: [][3]int64{{1, 10, 5}}, seen: [][2]int64{{1, 30}}},
		"an object that nobody wrote":        {written: [][3]int64{{1, 10, 5}}, seen: [][2]int64{{1, 10}, {9, 10}}},
		"as late as may be":                  {written: [][3]int64{{1, 10, 98}}, lost: [][2]int64{{1, 10}}, within: 1},
		"perhaps too late":                   {written: [][3]int64{{1, 10, 99}}, lost: [][2]int64{{1, 10}}},
		"too late":                           {written: [][3]int64{{1, 10, 500}, {2, 20, 3}}, lost: [][2]int64{{1, 10}, {2, 20}}, within: 1},
		"acknowledged before its own stamp":  {written: [][3]int64{{1, 10, -1}}, lost: [][2]int64{{1, 10}}, within: 1},
		"lost ones are in order of stamps":   {written: [][3]int64{{1, 30, 5}, {2, 20, 5}, {3, 10, 5}}, lost: [][2]int64{{3, 10}, {2, 20}, {1, 30}}, within: 3},
		"two objects of one stamp, one seen": {written: [][3]int64{{1, 10, 5}, {2, 10, 5}}, seen: [][2]int64{{1, 10}}, lost: [][2]int64{{2, 10}}, within: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var writes []race.Write
			for _, w := range c.written {
				writes = append(writes, write(t, byte(w[0]), w[1], w[2]))
			}
			seen := race.Sightings{}
			for _, s := range c.seen {
				seen[version(t, byte(s[0]), s[1])] = epoch()
			}
			out := race.Compare(writes, seen, delay, uncertainty)
			var lost [][2]int64
			for _, w := range out.Lost {
				lost = append(lost, [2]int64{int64(w.ID[11]), w.Stamp.Millis() - epoch().UnixMilli()})
			}
			require.Equal(t, c.lost, lost)
			require.Equal(t, c.within, out.Within)
			require.Equal(t, len(c.lost)-c.within, out.Slower())
		})
	}
}

// A follower that saw the end of every object has lost nothing; each last state that it did not see is lost, once.
func TestCompareFindsExactlyTheLastStatesThatWereNotSeen(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seen := race.Sightings{}
		var writes []race.Write
		missed := 0
		for object := range rapid.IntRange(0, 20).Draw(t, "objects") {
			states := rapid.IntRange(1, 3).Draw(t, "states")
			sees := rapid.SliceOfN(rapid.Bool(), states, states).Draw(t, "sees")
			for n, seesIt := range sees {
				w := write(t, byte(object), int64(10*n), 1)
				writes = append(writes, w)
				if seesIt {
					seen[w.Version] = w.Acked
				}
			}
			if !sees[states-1] {
				missed++
			}
		}
		writes = rapid.Permutation(writes).Draw(t, "order")
		out := race.Compare(writes, seen, ms, 0)
		require.Len(t, out.Lost, missed)
		require.Equal(t, missed, out.Within)
	})
}

func TestVisibility(t *testing.T) {
	t.Parallel()
	var writes []race.Write
	seen := race.Sightings{}
	for n := range int64(100) {
		w := write(t, byte(n), n, 5)
		writes = append(writes, w)
		seen[w.Version] = w.Acked.Add(time.Duration(n-1) * ms) // the first before its writer had the answer
	}
	slices.Reverse(writes)
	out := race.Compare(writes, seen, ms, 0)
	require.Equal(t, 48*ms, out.VisibleP50)
	require.Equal(t, 97*ms, out.VisibleP99)

	out = race.Compare(writes, race.Sightings{}, ms, 0)
	require.Zero(t, out.VisibleP99)
}

func TestPercentile(t *testing.T) {
	t.Parallel()
	require.Zero(t, race.Percentile(nil, 50))
	require.Equal(t, 7*ms, race.Percentile([]time.Duration{7 * ms}, 99))
	require.Equal(t, 1*ms, race.Percentile([]time.Duration{1 * ms, 2 * ms}, 50))
	require.Equal(t, 2*ms, race.Percentile([]time.Duration{1 * ms, 2 * ms}, 51))
	require.Equal(t, 1*ms, race.Percentile([]time.Duration{1 * ms, 2 * ms}, 0))
}

// Only an ordering that promises something can break it, and only within the delay.
func TestBroken(t *testing.T) {
	t.Parallel()
	lost := []race.Write{write(t, 1, 10, 5), write(t, 2, 10, 5000)}
	for _, c := range []struct {
		outcome race.Outcome
		broken  bool
	}{
		{race.Outcome{Lossless: true}, false},
		{race.Outcome{Lossless: true, Lost: lost, Within: 1}, true},
		{race.Outcome{Lossless: true, Lost: lost[1:]}, false},
		{race.Outcome{Lossless: false, Lost: lost, Within: 1}, false},
	} {
		result := race.Result{Plan: race.Plan{Delay: time.Second}, Outcomes: []race.Outcome{{}, c.outcome}}
		result.Outcomes[1].Ordering = "watermark"
		if c.broken {
			require.EqualError(t, result.Broken(),
				"the ordering watermark lost 1 rows that were acknowledged within the delay of 1s")
			continue
		}
		require.NoError(t, result.Broken())
	}
}
