package feed

import (
	"math"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

// maxClients is how many clients are told apart: beyond it, the one that was silent longest begins anew.
const maxClients = 10_000

// Limiter bounds how often each client may ask. A nil Limiter bounds nothing. It is safe for concurrent use.
type Limiter struct {
	perSecond int
	now       func() time.Time

	mu      sync.Mutex // a client has one bucket, also where its first two requests come at once
	clients *lru.Cache[string, *rate.Limiter]
}

// NewLimiter allows perSecond requests a second and client, and as many at once after a second of silence. Zero bounds
// nothing.
func NewLimiter(perSecond int, now func() time.Time) *Limiter {
	if perSecond <= 0 {
		return nil
	}
	clients, err := lru.New[string, *rate.Limiter](maxClients)
	if err != nil {
		panic(err) // for a size below one only
	}
	return &Limiter{perSecond: perSecond, now: now, clients: clients}
}

// allow reports whether the client may ask now; where it may not, wait is when it may. A refusal costs the client nothing:
// the next request that would have been allowed is allowed still.
func (l *Limiter) allow(client string) (wait time.Duration, ok bool) {
	if l == nil {
		return 0, true
	}
	now, bucket := l.now(), l.bucket(client)
	if bucket.AllowN(now, 1) {
		return 0, true
	}
	missing := 1 - bucket.TokensAt(now)
	return time.Duration(math.Ceil(missing / float64(l.perSecond) * float64(time.Second))), false
}

func (l *Limiter) bucket(client string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	bucket, known := l.clients.Get(client)
	if !known {
		bucket = rate.NewLimiter(rate.Limit(l.perSecond), l.perSecond)
		l.clients.Add(client, bucket)
	}
	return bucket
}
