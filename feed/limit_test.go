package feed

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLimiter(t *testing.T) {
	t.Parallel()
	now := time.Unix(1760598968, 0)
	l := NewLimiter(10, func() time.Time { return now })
	allowed := func(client string) bool {
		_, ok := l.allow(client)
		return ok
	}
	for range 10 {
		require.True(t, allowed("a"), "a second's worth at once")
	}
	wait, ok := l.allow("a")
	require.False(t, ok)
	require.InDelta(t, 100*time.Millisecond, wait, float64(time.Millisecond))
	require.True(t, allowed("b"), "another client has its own")

	for range 1000 { // a refusal takes nothing
		require.False(t, allowed("a"))
	}
	now = now.Add(101 * time.Millisecond)
	require.True(t, allowed("a"), "the next in time, whatever was refused meanwhile")
	require.False(t, allowed("a"))

	now = now.Add(time.Hour)
	for range 10 {
		require.True(t, allowed("a"))
	}
	require.False(t, allowed("a"), "an hour of silence is worth a second")
}

func TestLimiterIsOffAtZero(t *testing.T) {
	t.Parallel()
	l := NewLimiter(0, time.Now)
	for range 10_000 {
		_, ok := l.allow("a")
		require.True(t, ok)
	}
}

func TestLimiterForgetsTheSilent(t *testing.T) {
	t.Parallel()
	l := NewLimiter(1, time.Now)
	for i := range maxClients + 100 {
		l.allow(time.Duration(i).String())
	}
	require.Equal(t, maxClients, l.clients.Len())
}
