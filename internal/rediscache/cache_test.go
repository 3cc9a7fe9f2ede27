package rediscache_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"catalogue/internal/rediscache"
	"catalogue/internal/redistest"
)

const ttl = time.Minute

func requireHolds(t *testing.T, c *rediscache.Cache, key, want string) {
	t.Helper()
	value, found := c.Get(t.Context(), key)
	require.True(t, found)
	require.Equal(t, want, string(value))
}

func requireMiss(t *testing.T, c *rediscache.Cache, key string) {
	t.Helper()
	value, found := c.Get(t.Context(), key)
	require.False(t, found)
	require.Nil(t, value)
}

func TestValuesAreKeptAndExpire(t *testing.T) {
	t.Parallel()
	cache, _, log := open(t, redistest.URL(t))
	key, client := redistest.Prefix(t)+"a", redistest.Client(t)

	requireMiss(t, cache, key)
	cache.Set(t.Context(), key, []byte("one"), ttl)
	requireHolds(t, cache, key, "one")
	left, err := client.PTTL(t.Context(), key).Result()
	require.NoError(t, err)
	require.Greater(t, left, ttl/2)
	require.LessOrEqual(t, left, ttl)

	require.NoError(t, client.PExpireAt(t.Context(), key, time.Now().Add(-time.Second)).Err())
	requireMiss(t, cache, key)
	require.Zero(t, cache.Failures())
	require.Empty(t, log.String())
}

func TestEveryKeyExpires(t *testing.T) {
	t.Parallel()
	cache, _, _ := open(t, redistest.URL(t))
	prefix, client := redistest.Prefix(t), redistest.Client(t)
	for name, short := range map[string]time.Duration{"zero": 0, "negative": -1, "nanosecond": 1} {
		cache.Set(t.Context(), prefix+name, []byte("x"), short)
		require.Eventually(t, func() bool { return client.Exists(t.Context(), prefix+name).Val() == 0 },
			5*time.Second, time.Millisecond, name)
	}
	require.Zero(t, cache.Failures())
}

func TestWhatOthersStoredIsAMissAndOverwritten(t *testing.T) {
	t.Parallel()
	client := redistest.Client(t)
	for name, c := range map[string]struct {
		plant    func(key string) error
		failures uint64
	}{
		"a list": {func(key string) error { return client.RPush(t.Context(), key, "x").Err() }, 1},
		"a hash": {func(key string) error { return client.HSet(t.Context(), key, "f", "x").Err() }, 1},
		"too long": {func(key string) error {
			return client.Set(t.Context(), key, strings.Repeat("x", 10<<20), ttl).Err()
		}, 1},
		"empty": {func(key string) error { return client.Set(t.Context(), key, "", ttl).Err() }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cache, _, _ := open(t, redistest.URL(t))
			key := redistest.Prefix(t) + "a"
			require.NoError(t, c.plant(key))

			requireMiss(t, cache, key)
			require.Equal(t, c.failures, cache.Failures())
			cache.Set(t.Context(), key, []byte("ours"), ttl) // Redis is well and goes on being asked
			requireHolds(t, cache, key, "ours")
		})
	}
}

func TestOwnValuesAndKeysAreBounded(t *testing.T) {
	t.Parallel()
	cache, _, _ := open(t, redistest.URL(t))
	prefix := redistest.Prefix(t)
	longest := strings.Repeat("v", rediscache.MaxValue)
	cache.Set(t.Context(), prefix+"a", []byte(longest), ttl)
	requireHolds(t, cache, prefix+"a", longest)

	cache.Set(t.Context(), prefix+"b", []byte(longest+"v"), ttl)
	requireMiss(t, cache, prefix+"b")
	require.Equal(t, uint64(1), cache.Failures())

	key := strings.Repeat("k", rediscache.MaxKey+1)
	cache.Set(t.Context(), key, []byte("x"), ttl)
	requireMiss(t, cache, key)
	require.Equal(t, uint64(3), cache.Failures())
}

func TestARefusingRedisIsLeftAloneForAMomentAndHeals(t *testing.T) {
	t.Parallel()
	url, proxy := redistest.NewProxy(t)
	cache, clock, log := open(t, url)
	key := redistest.Prefix(t) + "a"
	cache.Set(t.Context(), key, []byte("one"), ttl)
	requireHolds(t, cache, key, "one")

	proxy.Cut()
	requireMiss(t, cache, key)
	require.Equal(t, uint64(1), cache.Failures())
	for range 100 {
		requireMiss(t, cache, key)
		cache.Set(t.Context(), key, []byte("two"), ttl)
	}
	require.Equal(t, uint64(1), cache.Failures(), "it is not asked")

	clock.pause()
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() { cache.Get(t.Context(), key) })
	}
	all.Wait()
	require.Equal(t, uint64(2), cache.Failures(), "one tries")
	require.Equal(t, 1, log.lines())

	proxy.Restore()
	requireMiss(t, cache, key) // not before the moment is over
	requireHeals(t, cache, clock, key, "one")
	cache.Set(t.Context(), key, []byte("three"), ttl)
	requireHolds(t, cache, key, "three")
}

// requireHeals waits until the key is found again. A busy machine may need more than one try.
func requireHeals(t *testing.T, c *rediscache.Cache, now *clock, key, want string) {
	t.Helper()
	require.Eventually(t, func() bool {
		now.pause()
		value, found := c.Get(t.Context(), key)
		return found && string(value) == want
	}, 15*time.Second, time.Millisecond)
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := listener.Addr().String()
	require.NoError(t, listener.Close())
	cache, clock, log := open(t, "redis://"+addr)
	// more failures than there are places in the pool, after which the library would go on dialing by itself
	for n := range uint64(40) {
		requireMiss(t, cache, "a")
		require.Equal(t, n+1, cache.Failures())
		clock.pause()
	}
	require.Equal(t, 1, log.lines())
	require.Contains(t, log.String(), "refused")
}

func TestAHangingRedisCostsItsTimeoutAndHeals(t *testing.T) {
	t.Parallel()
	url, proxy := redistest.NewProxy(t)
	cache, clock, _ := openWith(t, url, 0)
	key := redistest.Prefix(t) + "a"
	require.NoError(t, redistest.Client(t).Set(t.Context(), key, "one", ttl).Err())
	requireHeals(t, cache, clock, key, "one") // with a connection that is in use before the outage

	proxy.Stall()
	requireBounded(t, cache, clock, key)
	proxy.Restore()
	requireHeals(t, cache, clock, key, "one")
}

// A connection that never comes to its end of the handshake: Close ends it, too.
func TestAHangingHandshakeCostsTheTimeout(t *testing.T) {
	t.Parallel()
	_, proxy := redistest.NewProxy(t)
	proxy.Stall()
	cache, clock, _ := openWith(t, "rediss://"+proxy.Addr(), 0)
	requireBounded(t, cache, clock, "a")
}

// requireBounded lets several callers run into a Redis that does not answer. The quickest shows the bound; the others
// may have waited for the machine.
func requireBounded(t *testing.T, c *rediscache.Cache, now *clock, key string) {
	t.Helper()
	for range 2 { // late answers alone are no outage: this process may be busy
		before := c.Failures()
		requireMiss(t, c, key)
		require.Equal(t, before+1, c.Failures())
	}
	quickest := time.Hour
	for range 4 {
		before, began := c.Failures(), time.Now()
		requireMiss(t, c, key)
		took := time.Since(began)
		require.Equal(t, before+1, c.Failures())
		require.Less(t, took, 20*rediscache.DefaultTimeout)
		quickest = min(quickest, took)
		c.Set(t.Context(), key, []byte("x"), ttl)
		require.Equal(t, before+1, c.Failures(), "it is not asked again")
		now.pause()
	}
	require.Less(t, quickest, 2*rediscache.DefaultTimeout)
}

func TestARedisThatRefusesWritesIsStillRead(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]string{
		"read-only": "-READONLY You can't write against a read only replica.",
		"full":      "-OOM command not allowed when used memory > 'maxmemory'.",
		"disk":      "-MISCONF Valkey is configured to save RDB snapshots, but it's currently unable to persist to disk.",
		"forbidden": "-NOPERM User default has no permissions to run the 'set' command",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newFake(t, map[string]string{"GETRANGE": text("one"), "SET": refusal})
			cache, clock, log := open(t, server.url(""))
			for range 10 {
				requireHolds(t, cache, "a", "one")
				cache.Set(t.Context(), "a", []byte("two"), ttl)
			}
			require.Equal(t, 1, server.count("SET"), "it is not asked to write for a moment")
			require.Equal(t, 10, server.count("GETRANGE"))
			require.Equal(t, uint64(1), cache.Failures())
			require.Contains(t, log.String(), refusal[1:8])

			server.set("SET", "+OK")
			clock.pause()
			for n := range 3 {
				cache.Set(t.Context(), "a", []byte("two"), ttl)
				require.Equal(t, n+2, server.count("SET"))
			}
			require.Equal(t, uint64(1), cache.Failures())
		})
	}
}

func TestARedisThatRefusesReads(t *testing.T) {
	t.Parallel()
	server := newFake(t, map[string]string{"GETRANGE": "-LOADING Valkey is loading the dataset in memory"})
	cache, clock, _ := open(t, server.url(""))
	for range 10 {
		requireMiss(t, cache, "a")
	}
	require.Equal(t, 1, server.count("GETRANGE"))
	server.set("GETRANGE", text("one"))
	requireHeals(t, cache, clock, "a", "one")
}

func TestNonsenseFromTheServerIsAMiss(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"another protocol": "HTTP/1.1 400 Bad Request", "another type": "*1\r\n$1\r\nx", "a length that is none": "$x",
		"a length without end": "$9223372036854775807",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newFake(t, map[string]string{"GETRANGE": answer})
			cache, clock, _ := open(t, server.url(""))
			requireMiss(t, cache, "a")
			require.Equal(t, uint64(1), cache.Failures())
			server.set("GETRANGE", text("one"))
			requireHeals(t, cache, clock, "a", "one")
		})
	}
}

func TestOneLineAMinuteWithoutCredentials(t *testing.T) {
	t.Parallel()
	server := newFake(t, map[string]string{
		"HELLO": "-ERR unknown command `HELLO`, with args beginning with: `2` `AUTH` `somebody` `s3cr3t` ",
		"AUTH":  "-ERR unknown command `AUTH`, with args beginning with: `somebody` `s3cr3t` " + strings.Repeat("x", 5000),
	})
	cache, clock, log := open(t, server.url("somebody:s3cr3t@"))
	for range 60 {
		requireMiss(t, cache, "a")
		cache.Set(t.Context(), "a", []byte("x"), ttl)
		clock.pause()
	}
	require.Equal(t, 1, log.lines())
	requireMiss(t, cache, "a")
	require.Equal(t, 2, log.lines())
	require.Greater(t, cache.Failures(), uint64(60))

	require.Contains(t, log.String(), "redis://***@127.0.0.1:")
	require.Contains(t, log.String(), "failures=1\n")
	require.NotContains(t, log.String(), "s3cr3t")
	require.NotContains(t, log.String(), "somebody")
	require.Less(t, len(log.String()), 2000)
}

func TestACallerThatLeavesSaysNothingAboutRedis(t *testing.T) {
	t.Parallel()
	url, proxy := redistest.NewProxy(t)
	cache, clock, log := open(t, url)
	key := redistest.Prefix(t) + "a"
	gone, cancel := context.WithCancel(t.Context())
	cancel()

	cache.Get(gone, key)
	cache.Set(gone, key, []byte("x"), ttl)
	require.Zero(t, cache.Failures())

	proxy.Cut()
	requireMiss(t, cache, key)
	proxy.Restore()
	clock.pause()
	cache.Get(gone, key) // has the turn to try, and leaves it to the next
	cache.Set(t.Context(), key, []byte("x"), ttl)
	requireHeals(t, cache, clock, key, "x")
	require.Equal(t, 1, log.lines())
}

func TestRejectedValuesAreCountedAndLogged(t *testing.T) {
	t.Parallel()
	cache, _, log := open(t, redistest.URL(t))
	for range 3 {
		cache.Reject(t.Context(), errors.New("not ours"))
	}
	require.Equal(t, uint64(3), cache.Failures())
	require.Equal(t, 1, log.lines())
	require.Contains(t, log.String(), "not ours")
	key := redistest.Prefix(t) + "a"
	cache.Set(t.Context(), key, []byte("x"), ttl)
	requireHolds(t, cache, key, "x")
}

func TestNoCacheHoldsNothing(t *testing.T) {
	t.Parallel()
	var cache *rediscache.Cache
	cache.Set(t.Context(), "a", []byte("x"), ttl)
	requireMiss(t, cache, "a")
	cache.Reject(t.Context(), errors.New("not ours"))
	require.Zero(t, cache.Failures())
	require.NoError(t, cache.Close())
}

func TestURLs(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"redis://cache":                        "",
		"redis://cache:6379/0":                 "",
		"rediss://user:s3cr3t@cache:6380/15":   "",
		"redis://:s3cr3t@[::1]:6379":           "",
		"":                                     "must begin with",
		"cache:6379":                           "must begin with",
		"unix:///var/run/redis.sock":           "must begin with",
		"redis:///0":                           "host is missing",
		"redis://cache:0":                      "no port",
		"redis://cache:65536":                  "no port",
		"redis://cache:http":                   "invalid port",
		"redis://cache/one":                    "invalid database number",
		"redis://cache/-1":                     "no number of a database",
		"redis://cache/0/1":                    "invalid URL path",
		"redis://cache?max_retries=9":          "options",
		"redis://cache#0":                      "options",
		"redis://user:s3cr3t/@cache":           "not shown",
		"redis://user:s3cr3t@cache?password=x": "not shown",
		"redis://user:%s3cr3t@cache":           "not shown",
	} {
		err := rediscache.CheckURL(url)
		if want == "" {
			require.NoError(t, err, url)
			continue
		}
		require.ErrorContains(t, err, want, url)
		require.NotContains(t, err.Error(), "s3cr3t")
		_, err = rediscache.Open(rediscache.Options{URL: url})
		require.ErrorContains(t, err, want, url)
	}
	for url, want := range map[string]string{
		"": "", "redis://cache/0": "redis://cache/0", "redis://user:s3cr3t@cache:1/0": "redis://***@cache:1/0",
		"redis://user:s3@cr/3t@cache": "redis://***@cache", "s3cr3t": "***",
	} {
		require.Equal(t, want, rediscache.Mask(url))
	}
}
