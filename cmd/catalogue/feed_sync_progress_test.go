package main

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	follower "catalogue/feed/sync"
)

// The bar of a walk over a known copy is full at the end of the walk, and not before, however long that is.
func TestFeedSyncProgress(t *testing.T) {
	t.Parallel()
	for _, expected := range []int{0, 3, 30, 500} {
		p := &syncProgress{out: io.Discard, bar: newSyncCounter(io.Discard, "creatives")}
		p.expect(expected)
		for page := 1; page <= 3; page++ {
			require.False(t, p.bar.IsFinished())
			p.show(follower.Progress{Rows: 10, CaughtUp: page == 3})
			if expected == 500 && page < 3 {
				require.EqualValues(t, 500, p.bar.State().Max)
			}
		}
		state := p.bar.State()
		require.Equal(t, expected > 0, p.bar.IsFinished(), expected)
		if expected > 0 {
			require.EqualValues(t, 30, state.Max, expected)
			require.EqualValues(t, 30, state.CurrentNum, expected)
		}
	}
}

func TestFeedSyncProgressLines(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	var out bytes.Buffer
	p := newSyncProgress(&out, "tasks", func() time.Time { now = now.Add(time.Minute); return now })
	p.show(follower.Progress{Rows: 10, Entries: 10})
	p.expect(500)
	p.show(follower.Progress{Rows: 10, Entries: 20, CaughtUp: true})
	require.Equal(t, "tasks: 10 objects; 10 rows read\ntasks: 20 objects, caught up; 20 rows of about 500 read\n", out.String())
}
