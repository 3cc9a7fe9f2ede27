// Package rediscache keeps small values in Redis for a while. It is a cache only: one that fails is one that misses,
// says so in the log now and then, and never costs its callers more than a moment.
package rediscache

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// DefaultTimeout bounds what one Get or Set costs its caller: the wait for a connection, making one, and the answer.
	DefaultTimeout = 50 * time.Millisecond
	// Pause is how long Redis is not asked after a failure. After it one caller tries, and the others follow once that
	// one got an answer.
	Pause = time.Second
	// LogInterval is how much time lies between two lines of the log, however much fails.
	LogInterval = time.Minute
	// MaxValue is the longest value that is kept, and the most that is read of one that somebody else stored.
	MaxValue = 1024
	// MaxKey is the longest key.
	MaxKey = 512

	maxMessage = 300
)

var (
	errPaused    = errors.New("redis is not asked for a moment")
	errMaxValue  = errors.New("the value is too long for the cache")
	errMaxKey    = errors.New("the key is too long for the cache")
	errWrongType = errors.New("the key holds another type of value")
)

// Options say where Redis is.
type Options struct {
	URL     string // redis:// or rediss://, with the credentials and the number of the database
	Logger  *slog.Logger
	Timeout time.Duration    // zero means DefaultTimeout
	Now     func() time.Time // nil means time.Now
}

// Cache is a pool of connections to one Redis. All methods may be called on nil, which is a cache that holds nothing.
type Cache struct {
	client  *redis.Client
	hangUp  context.CancelFunc // ends connections that are still being made
	timeout time.Duration
	url     string // masked
	hide    *strings.Replacer
	log     *slog.Logger
	now     func() time.Time

	reads, writes breaker
	failures      atomic.Uint64
	mu            sync.Mutex
	logged        time.Time
}

// Open makes a cache without waiting for Redis: it fails only where the URL is wrong. Connections are made when they
// are needed, and again after an outage.
func Open(o Options) (*Cache, error) {
	settings, err := parse(o.URL)
	if err != nil {
		return nil, err
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	life, hangUp := context.WithCancel(context.Background())
	return &Cache{
		client: newClient(life, settings, o.Timeout), hangUp: hangUp, timeout: o.Timeout,
		url: Mask(o.URL), hide: hider(settings), log: o.Logger, now: o.Now,
	}, nil
}

// Close ends the connections.
func (c *Cache) Close() error {
	if c == nil {
		return nil
	}
	c.hangUp()
	return c.client.Close()
}

// Failures tells how often Redis failed or held something that could not be used, since the start.
func (c *Cache) Failures() uint64 {
	if c == nil {
		return 0
	}
	return c.failures.Load()
}

// Get returns the value of a key. It is not found where there is none, where it is empty or longer than MaxValue, and
// where Redis does not give it in time.
func (c *Cache) Get(ctx context.Context, key string) (value []byte, found bool) {
	if c == nil {
		return nil, false
	}
	err := c.ask(ctx, &c.reads, key, func(ctx context.Context) (err error) {
		// a range and not the whole: somebody else may have stored anything
		value, err = c.client.GetRange(ctx, key, 0, MaxValue).Bytes()
		return err
	})
	switch {
	case err != nil || len(value) == 0:
		return nil, false
	case len(value) > MaxValue:
		c.Reject(ctx, errMaxValue)
		return nil, false
	default:
		return value, true
	}
}

// Set keeps a value for ttl, or does not.
func (c *Cache) Set(ctx context.Context, key string, value []byte, ttl time.Duration) {
	switch {
	case c == nil:
	case len(value) > MaxValue:
		c.Reject(ctx, errMaxValue)
	default:
		_ = c.ask(ctx, &c.writes, key, func(ctx context.Context) error { // ask has told the log
			return c.client.Set(ctx, key, value, max(ttl, time.Millisecond)).Err() // zero would mean for ever
		})
	}
}

// Reject counts and logs a value that its reader could not use. Redis itself is well, so it goes on being asked.
func (c *Cache) Reject(ctx context.Context, reason error) {
	if c != nil {
		c.fail(ctx, reason)
	}
}

// ask runs one command, if Redis may be asked now.
func (c *Cache) ask(ctx context.Context, b *breaker, key string, command func(context.Context) error) error {
	if len(key) > MaxKey {
		c.fail(ctx, errMaxKey)
		return errMaxKey
	}
	probe, ok := b.allow(c.now())
	if !ok {
		return errPaused
	}
	bounded, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	err := guarded(bounded, command)
	switch _, answered := errors.AsType[redis.Error](err); {
	case err == nil:
		b.succeed()
	case ctx.Err() != nil:
		b.leave(probe) // the caller has gone: that says nothing about Redis
	case redis.HasErrorPrefix(err, "WRONGTYPE"):
		b.succeed()
		c.fail(ctx, errWrongType)
	case answered:
		// It refuses this kind of command: a replica refuses writes only, and so does one that is full.
		b.fail(c.now())
		c.fail(ctx, err)
	case bounded.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded):
		now := c.now()
		c.reads.slow(now)
		c.writes.slow(now)
		c.fail(ctx, err)
	default:
		now := c.now()
		c.reads.fail(now)
		c.writes.fail(now)
		c.fail(ctx, err)
	}
	return err
}

// guarded makes an error of a panic: the library has some where a server breaks the protocol.
func guarded(ctx context.Context, command func(context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the answer cannot be read: %v", p)
		}
	}()
	return command(ctx)
}

func (c *Cache) fail(ctx context.Context, err error) {
	failures := c.failures.Add(1)
	if c.mayLog() {
		c.log.WarnContext(ctx, "the cache in redis fails, requests go on without it", slog.String("redis", c.url),
			slog.String("error", c.message(err)), slog.Uint64("failures", failures))
	}
}

// message is what err says, without credentials and of a length for a log: servers may answer with anything.
func (c *Cache) message(err error) string {
	text := c.hide.Replace(err.Error())
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}

func (c *Cache) mayLog() bool {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.logged.IsZero() && now.Sub(c.logged) < LogInterval {
		return false
	}
	c.logged = now
	return true
}
