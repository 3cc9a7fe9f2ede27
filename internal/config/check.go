package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"catalogue/internal/mongodb"
	"catalogue/internal/rediscache"
)

// The bounds of the configuration.
const (
	maxPoolLow, maxPoolHigh               = 1, 10_000
	countTimeoutLow, countTimeoutHigh     = 10 * time.Millisecond, 30 * time.Second
	countCacheTTLLow, countCacheTTLHigh   = time.Second, time.Hour
	requestTimeoutLow, requestTimeoutHigh = time.Second, 5 * time.Minute
	shutdownGraceLow, shutdownGraceHigh   = 2 * time.Second, 10 * time.Minute
	feedRateLow, feedRateHigh             = 0, 100_000
	feedDelayLow, feedDelayHigh           = 100 * time.Millisecond, 10 * time.Minute

	maxCursorKeys             = 10
	cursorKeyShortest         = 32 // characters
	cursorKeyLongest          = 1024
	databaseNameLongest       = 63 // bytes; the server's own bound
	databaseNameForbidden     = "/\\. \"$*<>:|?\x00"
	portHighest           int = 65_535
)

// publicAddress is an absolute address of plain characters: it is put in front of paths as it is.
var publicAddress = regexp.MustCompile(`^https?://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?(/[A-Za-z0-9._~-]+)*$`)

// mistakes collects everything that is wrong, at most one mistake a variable.
type mistakes struct {
	list  []error
	wrong map[string]bool
}

// note adds a mistake. Its text must not hold the value of a secret.
func (m *mistakes) note(name, format string, args ...any) {
	if m.wrong[name] {
		return
	}
	m.wrong[name] = true
	m.list = append(m.list, fmt.Errorf("  %s: %w", name, fmt.Errorf(format, args...)))
}

// err joins the mistakes, sorted by the variables' names.
func (m *mistakes) err() error {
	if len(m.list) == 0 {
		return nil
	}
	slices.SortFunc(m.list, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return fmt.Errorf("the configuration is wrong:\n%w", errors.Join(m.list...))
}

func (m *mistakes) checkBase(b Base) {
	const uri = "CATALOGUE_MONGODB_URI"
	if b.MongoDBURI == "" {
		m.note(uri, "is required, such as mongodb://127.0.0.1:27017; %s%s may name a file that holds it", uri, fileSuffix)
	} else if err := mongodb.CheckURI(b.MongoDBURI.Reveal()); err != nil {
		m.note(uri, "%w", err)
	}
	if name := b.MongoDBDatabase; len(name) > databaseNameLongest || strings.ContainsAny(name, databaseNameForbidden) {
		m.note("CATALOGUE_MONGODB_DATABASE", "%q is no name of a database: at most %d bytes, none of %s and NUL",
			name, databaseNameLongest, strings.TrimRight(databaseNameForbidden, "\x00"))
	}
	between(m, "CATALOGUE_MONGODB_MAX_POOL", b.MongoDBMaxPool, maxPoolLow, maxPoolHigh)
	m.oneOf("CATALOGUE_LOG_FORMAT", b.LogFormat, LogJSON, LogText)
}

func (m *mistakes) checkServer(c Config) {
	m.oneOf("CATALOGUE_ENV", c.Env, Production, Development)
	m.oneOf("CATALOGUE_INDEXES", c.Indexes, IndexesCreate, IndexesCheck)
	m.checkAddress(c.Address)
	m.publicURL("CATALOGUE_PUBLIC_URL", c.PublicURL)
	for _, proxy := range c.TrustedProxies {
		m.network("CATALOGUE_TRUSTED_PROXIES", proxy)
	}
	m.cursorKeys("CATALOGUE_CURSOR_KEY", c)
	between(m, "CATALOGUE_REQUEST_TIMEOUT", c.RequestTimeout, requestTimeoutLow, requestTimeoutHigh)
	between(m, "CATALOGUE_SHUTDOWN_GRACE", c.ShutdownGrace, shutdownGraceLow, shutdownGraceHigh)
	m.redisURL("CATALOGUE_REDIS_URL", c.RedisURL)
	between(m, "CATALOGUE_COUNT_CACHE_TTL", c.CountCacheTTL, countCacheTTLLow, countCacheTTLHigh)
	if !m.wrong["CATALOGUE_SHUTDOWN_GRACE"] && (c.ShutdownDrain < 0 || c.ShutdownDrain >= c.ShutdownGrace) {
		m.note("CATALOGUE_SHUTDOWN_DRAIN", "%s is not from 0s to less than CATALOGUE_SHUTDOWN_GRACE, %s", c.ShutdownDrain, c.ShutdownGrace)
	}
	between(m, "CATALOGUE_FEED_RATE", c.FeedRate, feedRateLow, feedRateHigh)
	m.oneOf("CATALOGUE_FEED_ORDERING", c.FeedOrdering, OrderingNone, OrderingWatermark)
	between(m, "CATALOGUE_FEED_DELAY", c.FeedDelay, feedDelayLow, feedDelayHigh)
	between(m, "CATALOGUE_COUNT_TIMEOUT", c.CountTimeout, countTimeoutLow, countTimeoutHigh)
	if c.CountTimeout >= c.RequestTimeout && !m.wrong["CATALOGUE_REQUEST_TIMEOUT"] {
		m.note("CATALOGUE_COUNT_TIMEOUT", "%s is not less than CATALOGUE_REQUEST_TIMEOUT, %s", c.CountTimeout, c.RequestTimeout)
	}
}

func (m *mistakes) cursorKeys(name string, c Config) {
	if len(c.CursorKeys) == 0 && c.Env != Development {
		m.note(name, "is required outside development: 1 to %d keys of at least %d characters, separated by commas; "+
			"%s%s may name a file that holds them", maxCursorKeys, cursorKeyShortest, name, fileSuffix)
	}
	if len(c.CursorKeys) > maxCursorKeys {
		m.note(name, "holds %d keys; at most %d are possible", len(c.CursorKeys), maxCursorKeys)
	}
	for i, key := range c.CursorKeys {
		if strings.TrimSpace(key.Reveal()) != key.Reveal() { // replicas would differ by what nobody sees
			m.note(name, "key %d of %d begins or ends with white space", i+1, len(c.CursorKeys))
		}
		if n := len([]rune(key.Reveal())); n < cursorKeyShortest || n > cursorKeyLongest {
			m.note(name, "key %d of %d has %d characters; each needs %d to %d",
				i+1, len(c.CursorKeys), n, cursorKeyShortest, cursorKeyLongest)
		}
	}
}

func (m *mistakes) checkAddress(a Address) {
	_, port, err := net.SplitHostPort(a.HTTPAddr)
	if n, convErr := strconv.Atoi(port); err != nil || convErr != nil || n < 0 || n > portHighest {
		m.note("CATALOGUE_HTTP_ADDR", "%q is no host:port with a port of 0 to %d", a.HTTPAddr, portHighest)
	}
}

func (m *mistakes) network(name, value string) {
	if _, err := netip.ParseAddr(value); err == nil {
		return
	}
	if _, err := netip.ParsePrefix(value); err != nil {
		m.note(name, "%q is no IP address and no network such as 10.0.0.0/8", value)
	}
}

func (m *mistakes) redisURL(name string, value Secret) {
	if value == "" {
		return
	}
	if err := rediscache.CheckURL(value.Reveal()); err != nil {
		m.note(name, "%w", err)
	}
}

// publicURL takes an absolute address that paths can be added to.
func (m *mistakes) publicURL(name, value string) {
	if value == "" {
		return
	}
	if !publicAddress.MatchString(value) {
		m.note(name, "must be an http or https address without a slash, query or fragment at its end, such as https://api.example.com")
	}
}

func (m *mistakes) oneOf(name, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		m.note(name, "%q is none of %s", value, strings.Join(allowed, ", "))
	}
}

func between[T cmp.Ordered](m *mistakes, name string, value, low, high T) {
	if value < low || value > high {
		m.note(name, "%v is not within %v to %v", value, low, high)
	}
}
