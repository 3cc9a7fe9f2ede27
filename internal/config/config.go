// Package config reads the configuration from the environment.
package config

import (
	"log/slog"
	"time"

	"catalogue/internal/mongodb"
	"catalogue/internal/rediscache"
)

// The values of the keys that have a few.
const (
	Production  = "production"
	Development = "development"

	IndexesCreate = "create"
	IndexesCheck  = "check"

	OrderingNone      = "none"
	OrderingWatermark = "watermark"

	LogJSON = "json"
	LogText = "text"
)

// Base is what every command needs. Secrets may also come from a file that the key with _FILE at its end names.
// An empty variable counts as one that is not set.
type Base struct {
	// MongoDBURI is the address of the database, with its credentials. Required; also from a file. Defaults to nothing.
	MongoDBURI Secret `env:"CATALOGUE_MONGODB_URI"`
	// MongoDBDatabase is the name of the database. Defaults to catalogue.
	MongoDBDatabase string `env:"CATALOGUE_MONGODB_DATABASE" envDefault:"catalogue"`
	// MongoDBMaxPool is how many connections to each server may be open, 1 to 10000. Defaults to 100.
	MongoDBMaxPool uint64 `env:"CATALOGUE_MONGODB_MAX_POOL" envDefault:"100"`
	// LogFormat is json or text. Defaults to json.
	LogFormat string `env:"CATALOGUE_LOG_FORMAT" envDefault:"json"`
	// LogLevel is the least level that is logged: debug, info, warn or error. Defaults to info.
	LogLevel slog.Level `env:"CATALOGUE_LOG_LEVEL" envDefault:"info"`
}

// Address is what is needed to find a server that runs.
type Address struct {
	// HTTPAddr is where the server listens, host:port; port 0 takes a free one. Defaults to 127.0.0.1:8080.
	HTTPAddr string `env:"CATALOGUE_HTTP_ADDR" envDefault:"127.0.0.1:8080"`
}

// Config is what the server needs.
type Config struct {
	Base
	Address

	// Env is production or development. Defaults to production.
	Env string `env:"CATALOGUE_ENV" envDefault:"production"`
	// PublicURL is the address that clients reach the server at, such as https://api.example.com/catalogue, for the
	// links in answers. Defaults to the request's own host over http.
	PublicURL string `env:"CATALOGUE_PUBLIC_URL"`
	// TrustedProxies are the addresses or networks whose X-Forwarded-For is believed, separated by commas.
	// Defaults to none.
	TrustedProxies []string `env:"CATALOGUE_TRUSTED_PROXIES"`
	// Indexes tells whether serve creates missing indexes (create) or only reports them on /readyz (check).
	// Defaults to create.
	Indexes string `env:"CATALOGUE_INDEXES" envDefault:"create"`
	// CursorKeys sign cursors: the first signs, all verify; 1 to 10 keys of 32 to 1024 characters, separated by
	// commas. Required in production; also from a file. Defaults to a random key for the life of the process.
	CursorKeys []Secret `env:"CATALOGUE_CURSOR_KEY"`
	// CountTimeout is how long a list waits for its exact total, 10ms to 30s, and less than the request's time.
	// Defaults to 500ms.
	CountTimeout time.Duration `env:"CATALOGUE_COUNT_TIMEOUT" envDefault:"500ms"`
	// RedisURL is the address of the Redis or Valkey that counts are kept in, redis:// or rediss://, with its
	// credentials; also from a file. Defaults to nothing: counts are not kept.
	RedisURL Secret `env:"CATALOGUE_REDIS_URL"`
	// CountCacheTTL is how long a count is kept in Redis, 1s to 1h. Defaults to 60s.
	CountCacheTTL time.Duration `env:"CATALOGUE_COUNT_CACHE_TTL" envDefault:"60s"`
	// RequestTimeout is how long a request may take, 1s to 5m. Defaults to 10s.
	RequestTimeout time.Duration `env:"CATALOGUE_REQUEST_TIMEOUT" envDefault:"10s"`
	// ShutdownGrace is how long a stop may take, 2s to 10m: requests that go on after it are cut off. Defaults to 15s.
	ShutdownGrace time.Duration `env:"CATALOGUE_SHUTDOWN_GRACE" envDefault:"15s"`
	// ShutdownDrain is how much of that the server goes on taking connections, so that load balancers see /readyz at 503
	// first; 0s to less than the grace. Defaults to 1s.
	ShutdownDrain time.Duration `env:"CATALOGUE_SHUTDOWN_DRAIN" envDefault:"1s"`

	// TrustUserHeader tells whether the header X-Catalogue-User names the user, as it does behind a proxy that sets it:
	// 1 or 0. Without it nobody may write. Defaults to 1 in development, 0 in production.
	TrustUserHeader bool `env:"CATALOGUE_TRUST_USER_HEADER"`
	// FeedRate is how many requests a second each client may make to the feed, 0 to 100000; 0 is any number.
	// Defaults to 140.
	FeedRate int `env:"CATALOGUE_FEED_RATE" envDefault:"140"`
	// FeedOrdering is watermark or none: what the feed does about writes that commit in another order than they began.
	// Defaults to watermark.
	FeedOrdering string `env:"CATALOGUE_FEED_ORDERING" envDefault:"watermark"`
	// FeedDelay is how long the watermark holds changes back, 100ms to 10m: longer than any write takes to commit.
	// Defaults to 1s.
	FeedDelay time.Duration `env:"CATALOGUE_FEED_DELAY" envDefault:"1s"`

	// CursorKeyIsRandom says that no key was given: cursors end with the process. It has no variable.
	CursorKeyIsRandom bool
}

// LogValue shows the effective configuration without its secrets.
func (b Base) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("mongodb_uri", mongodb.Mask(b.MongoDBURI.Reveal())),
		slog.String("mongodb_database", b.MongoDBDatabase),
		slog.Uint64("mongodb_max_pool", b.MongoDBMaxPool),
		slog.String("log_format", b.LogFormat),
		slog.String("log_level", b.LogLevel.String()),
	)
}

// LogValue shows the effective configuration without its secrets.
func (c Config) LogValue() slog.Value {
	return slog.GroupValue(append(c.Base.LogValue().Group(),
		slog.String("env", c.Env),
		slog.String("http_addr", c.HTTPAddr),
		slog.String("public_url", c.PublicURL),
		slog.Any("trusted_proxies", c.TrustedProxies),
		slog.String("indexes", c.Indexes),
		slog.Int("cursor_keys", len(c.CursorKeys)),
		slog.Bool("cursor_key_is_random", c.CursorKeyIsRandom),
		slog.String("count_timeout", c.CountTimeout.String()),
		slog.String("redis_url", rediscache.Mask(c.RedisURL.Reveal())),
		slog.String("count_cache_ttl", c.CountCacheTTL.String()),
		slog.String("request_timeout", c.RequestTimeout.String()),
		slog.String("shutdown_grace", c.ShutdownGrace.String()),
		slog.String("shutdown_drain", c.ShutdownDrain.String()),
		slog.Bool("trust_user_header", c.TrustUserHeader),
		slog.Int("feed_rate", c.FeedRate),
		slog.String("feed_ordering", c.FeedOrdering),
		slog.String("feed_delay", c.FeedDelay.String()),
	)...)
}
