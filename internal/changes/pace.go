package changes

import (
	"sync"
	"time"
)

// One command stamps all its objects with the moment at which it began, and the feed holds them back for a short while
// only: a chunk of many objects must be stored well before that.
const (
	firstChunk  = 100
	minChunk    = 10
	maxChunk    = 500
	chunkGrowth = 50
	// slowChunk is how long a chunk may take; after a slower one they are half as large.
	slowChunk = 250 * time.Millisecond
	// quickChunk is how long a chunk takes that could have been larger.
	quickChunk = 125 * time.Millisecond
)

// pace says how many objects are written at once, by how long the last ones took. It is safe for concurrent use.
type pace struct {
	mu   sync.Mutex
	rows int // 0 before the first chunk
}

func (p *pace) next() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rows == 0 {
		p.rows = firstChunk
	}
	return p.rows
}

// took learns from a chunk of a number of rows.
func (p *pace) took(rows int, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case d > slowChunk:
		p.rows = max(minChunk, min(p.rows, rows)/2)
	case d < quickChunk && rows >= p.rows:
		p.rows = min(maxChunk, p.rows+chunkGrowth)
	}
}
