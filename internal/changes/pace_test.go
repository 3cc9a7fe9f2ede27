package changes

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPace(t *testing.T) {
	t.Parallel()
	var p pace
	require.Equal(t, 100, p.next())
	p.took(100, 10*time.Millisecond)
	require.Equal(t, 150, p.next())
	p.took(20, time.Millisecond) // the end of a file says nothing
	p.took(150, 200*time.Millisecond)
	require.Equal(t, 150, p.next())
	p.took(150, 251*time.Millisecond)
	require.Equal(t, 75, p.next())
	p.took(20, time.Second)
	require.Equal(t, 10, p.next())
}

func TestPaceStaysInItsBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var p pace
		for range rapid.IntRange(0, 100).Draw(t, "chunks") {
			before := p.next()
			rows := rapid.IntRange(1, before).Draw(t, "rows")
			took := time.Duration(rapid.IntRange(0, 2000).Draw(t, "ms")) * time.Millisecond
			p.took(rows, took)
			after := p.next()
			require.GreaterOrEqual(t, after, minChunk)
			require.LessOrEqual(t, after, maxChunk)
			if took > slowChunk && before > minChunk {
				require.LessOrEqual(t, after, before/2+minChunk)
			}
			if took >= quickChunk {
				require.LessOrEqual(t, after, before)
			}
		}
	})
}
