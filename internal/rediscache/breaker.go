package rediscache

import (
	"sync"
	"time"
)

// patience is how many answers in a row may be late before Redis is left alone: one may be late because this process
// is busy.
const patience = 3

// breaker keeps callers away from a Redis that failed, until one of them has found it well again.
type breaker struct {
	mu      sync.Mutex
	open    bool
	until   time.Time // then one caller may try
	probing bool      // one does
	late    int       // answers in a row
}

// allow reports whether Redis may be asked. probe says that the caller is the one who tries it again; it must then
// call succeed, fail or leave.
func (b *breaker) allow(now time.Time) (probe, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		return false, true
	}
	if b.probing || now.Before(b.until) {
		return false, false
	}
	b.probing = true
	return true, true
}

func (b *breaker) succeed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open, b.probing, b.late = false, false, 0
}

// slow notes an answer that did not come in time.
func (b *breaker) slow(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.late++; b.late >= patience || b.probing {
		b.open, b.probing, b.until = true, false, now.Add(Pause)
	}
}

func (b *breaker) fail(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open, b.probing, b.until = true, false, now.Add(Pause)
}

// leave gives the turn of a probe that learnt nothing to the next caller.
func (b *breaker) leave(probe bool) {
	if !probe {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
}
