package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"catalogue/internal/config"
)

const (
	uri = "CATALOGUE_MONGODB_URI=mongodb://localhost:27017"
	key = "CATALOGUE_CURSOR_KEY=0123456789abcdef0123456789abcdef"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDefaults(t *testing.T) {
	t.Parallel()
	c, err := config.Load([]string{uri, key, "CATALOGUE_LOG_LEVEL="})
	require.NoError(t, err)
	require.Equal(t, config.Config{
		Base: config.Base{
			MongoDBURI: "mongodb://localhost:27017", MongoDBDatabase: "catalogue", MongoDBMaxPool: 100,
			LogFormat: "json", LogLevel: slog.LevelInfo,
		},
		Address: config.Address{HTTPAddr: "127.0.0.1:8080"},
		Env:     "production", Indexes: "create",
		CursorKeys:    []config.Secret{"0123456789abcdef0123456789abcdef"},
		CountCacheTTL: time.Minute, CountTimeout: 500 * time.Millisecond, RequestTimeout: 10 * time.Second, ShutdownGrace: 15 * time.Second, ShutdownDrain: time.Second,
		FeedRate: 140, FeedOrdering: "watermark", FeedDelay: time.Second,
	}, c)
}

func TestEveryKeyIsRead(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 40)
	c, err := config.Load([]string{
		uri, "CATALOGUE_MONGODB_DATABASE=shop", "CATALOGUE_MONGODB_MAX_POOL=7", "CATALOGUE_LOG_FORMAT=text",
		"CATALOGUE_LOG_LEVEL=warn", "CATALOGUE_ENV=development", "CATALOGUE_HTTP_ADDR=[::1]:0",
		"CATALOGUE_TRUSTED_PROXIES=10.0.0.0/8,::1", "CATALOGUE_INDEXES=check",
		"CATALOGUE_CURSOR_KEY=" + long + "," + strings.ToUpper(long), "CATALOGUE_COUNT_TIMEOUT=2s",
		"CATALOGUE_REQUEST_TIMEOUT=1m", "CATALOGUE_SHUTDOWN_GRACE=2m", "CATALOGUE_SHUTDOWN_DRAIN=5s",
		"CATALOGUE_REDIS_URL=rediss://cache.example/2", "CATALOGUE_COUNT_CACHE_TTL=1h",
		"CATALOGUE_TRUST_USER_HEADER=1", "CATALOGUE_FEED_RATE=0", "CATALOGUE_FEED_ORDERING=none", "CATALOGUE_FEED_DELAY=3s",
	})
	require.NoError(t, err)
	require.Equal(t, config.Config{
		Base: config.Base{
			MongoDBURI: "mongodb://localhost:27017", MongoDBDatabase: "shop", MongoDBMaxPool: 7,
			LogFormat: "text", LogLevel: slog.LevelWarn,
		},
		Address: config.Address{HTTPAddr: "[::1]:0"},
		Env:     "development", TrustedProxies: []string{"10.0.0.0/8", "::1"}, Indexes: "check",
		CursorKeys:   []config.Secret{config.Secret(long), config.Secret(strings.ToUpper(long))},
		CountTimeout: 2 * time.Second, RequestTimeout: time.Minute, ShutdownGrace: 2 * time.Minute, ShutdownDrain: 5 * time.Second,
		RedisURL: "rediss://cache.example/2", CountCacheTTL: time.Hour,
		TrustUserHeader: true, FeedRate: 0, FeedOrdering: "none", FeedDelay: 3 * time.Second,
	}, c)
}

// The header with the user's name is believed where somebody has said so, and in development.
func TestTrustOfTheUserHeader(t *testing.T) {
	t.Parallel()
	const variable, development = "CATALOGUE_TRUST_USER_HEADER=", "CATALOGUE_ENV=development"
	for _, c := range []struct {
		environ []string
		trusted bool
	}{
		{nil, false},
		{[]string{variable + "1"}, true},
		{[]string{variable + "0"}, false},
		{[]string{development}, true},
		{[]string{development, variable}, true},
		{[]string{development, variable + "0"}, false},
	} {
		got, err := config.Load(append([]string{uri, key}, c.environ...))
		require.NoError(t, err)
		require.Equal(t, c.trusted, got.TrustUserHeader, "%v", c.environ)
	}
}

func TestEachMistakeIsNamedWithItsBound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ variable, want string }{
		{"CATALOGUE_MONGODB_URI=", "is required"},
		{"CATALOGUE_MONGODB_URI=http://x", "not valid"},
		{"CATALOGUE_MONGODB_DATABASE=a/b", "none of"},
		{"CATALOGUE_MONGODB_DATABASE=" + strings.Repeat("d", 64), "63 bytes"},
		{"CATALOGUE_MONGODB_MAX_POOL=0", "1 to 10000"},
		{"CATALOGUE_MONGODB_MAX_POOL=-1", `"-1"`},
		{"CATALOGUE_LOG_FORMAT=xml", "json, text"},
		{"CATALOGUE_LOG_LEVEL=loud", "debug, info, warn, error"},
		{"CATALOGUE_ENV=staging", "production, development"},
		{"CATALOGUE_HTTP_ADDR=localhost", "host:port"},
		{"CATALOGUE_HTTP_ADDR=:65536", "65535"},
		{"CATALOGUE_HTTP_ADDR=:http", "65535"},
		{"CATALOGUE_TRUSTED_PROXIES=10.0.0.0/8,proxy", `"proxy"`},
		{"CATALOGUE_PUBLIC_URL=api.example.com", "http or https"},
		{"CATALOGUE_PUBLIC_URL=ftp://api.example.com", "http or https"},
		{"CATALOGUE_PUBLIC_URL=https://api.example.com/", "slash"},
		{"CATALOGUE_PUBLIC_URL=https://api.example.com?x=1", "query"},
		{"CATALOGUE_PUBLIC_URL=https://user:secret@api.example.com", "http or https"},
		{"CATALOGUE_INDEXES=drop", "create, check"},
		{"CATALOGUE_CURSOR_KEY=", "required outside development"},
		{"CATALOGUE_CURSOR_KEY=short", "32"},
		{"CATALOGUE_CURSOR_KEY=" + strings.Repeat("k", 32) + ",", "key 2 of 2"},
		{"CATALOGUE_CURSOR_KEY=" + strings.Repeat("k", 1025), "1024"},
		{"CATALOGUE_CURSOR_KEY=" + strings.Repeat(strings.Repeat("k", 32)+",", 10) + strings.Repeat("k", 32), "at most 10"},
		{"CATALOGUE_COUNT_TIMEOUT=500", "no duration"},
		{"CATALOGUE_COUNT_TIMEOUT=1ms", "10ms to 30s"},
		{"CATALOGUE_COUNT_TIMEOUT=10s", "CATALOGUE_REQUEST_TIMEOUT"},
		{"CATALOGUE_REDIS_URL=127.0.0.1:6379", "Redis URL is not valid"},
		{"CATALOGUE_REDIS_URL=http://cache", "redis:// or rediss://"},
		{"CATALOGUE_REDIS_URL=redis://", "host"},
		{"CATALOGUE_REDIS_URL=redis://cache:70000", "65535"},
		{"CATALOGUE_REDIS_URL=redis://cache/x", "database number"},
		{"CATALOGUE_REDIS_URL=redis://cache?read_timeout=5s", "options"},
		{"CATALOGUE_REDIS_URL=redis://:s3cr3t@cache/x", "not shown"},
		{"CATALOGUE_COUNT_CACHE_TTL=60", "no duration"},
		{"CATALOGUE_COUNT_CACHE_TTL=999ms", "1s to 1h0m0s"},
		{"CATALOGUE_COUNT_CACHE_TTL=61m", "1s to 1h0m0s"},
		{"CATALOGUE_REQUEST_TIMEOUT=1h", "1s to 5m0s"},
		{"CATALOGUE_SHUTDOWN_GRACE=0s", "2s to 10m0s"},
		{"CATALOGUE_SHUTDOWN_DRAIN=15s", "less than CATALOGUE_SHUTDOWN_GRACE, 15s"},
		{"CATALOGUE_SHUTDOWN_DRAIN=-1s", "from 0s"},
		{"CATALOGUE_TRUST_USER_HEADER=maybe", "neither 1 nor 0"},
		{"CATALOGUE_FEED_RATE=-1", "0 to 100000"},
		{"CATALOGUE_FEED_RATE=many", "no whole number"},
		{"CATALOGUE_FEED_ORDERING=time", "none, watermark"},
		{"CATALOGUE_FEED_DELAY=10ms", "100ms to 10m0s"},
	} {
		t.Run(c.variable[:min(len(c.variable), 50)], func(t *testing.T) {
			t.Parallel()
			_, err := config.Load([]string{uri, key, c.variable})
			name, _, _ := strings.Cut(c.variable, "=")
			require.ErrorContains(t, err, name+": ")
			require.ErrorContains(t, err, c.want)
			require.Equal(t, 1, strings.Count(err.Error(), "\n"), "one mistake, one line: %v", err)
		})
	}
}

func TestAllMistakesAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	_, err := config.Load([]string{
		"CATALOGUE_MONGODB_URI=mongodb://u:s3cr3t@h:x/", "CATALOGUE_CURSOR_KEY=s3cr3t", "CATALOGUE_COUNT_TIMEOUT=x",
		"CATALOGUE_REQUEST_TIMEOUT=x", "CATALOGUE_LOG_LEVEL=x", "CATALOGUE_ENV=x", "CATALOGUE_HTTP_ADDR=x",
		"CATALOGUE_INDEXES=x", "CATALOGUE_MONGODB_MAX_POOL=x", "CATALOGUE_TRUSTED_PROXIES=x",
		"CATALOGUE_REDIS_URL=redis://u:s3cr3t@h:x/", "CATALOGUE_COUNT_CACHE_TTL=x",
	})
	require.Error(t, err)
	require.Equal(t, 12, strings.Count(err.Error(), "\n  CATALOGUE_"), "%v", err)
	require.NotContains(t, err.Error(), "s3cr3t")
}

func TestSecretsFromFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	secret := strings.Repeat("s3cr3t", 6)
	uriFile := "CATALOGUE_MONGODB_URI_FILE=" + file("uri", "mongodb://u:s3cr3t@h/\r\n")
	keyFile := "CATALOGUE_CURSOR_KEY_FILE=" + file("key", secret+"\n")

	redisFile := "CATALOGUE_REDIS_URL_FILE=" + file("redis", "redis://:s3cr3t@h\n")

	c, err := config.Load([]string{uriFile, keyFile, redisFile})
	require.NoError(t, err)
	require.Equal(t, "redis://:s3cr3t@h", c.RedisURL.Reveal())
	require.Equal(t, "mongodb://u:s3cr3t@h/", c.MongoDBURI.Reveal())
	require.Equal(t, []config.Secret{config.Secret(secret)}, c.CursorKeys)

	for name, environ := range map[string][]string{
		"CATALOGUE_CURSOR_KEY: is set beside":    {uri, keyFile, key},
		"CATALOGUE_MONGODB_URI: is set beside":   {uri, uriFile, key},
		"CATALOGUE_REDIS_URL: is set beside":     {uri, key, redisFile, "CATALOGUE_REDIS_URL=redis://h"},
		"CATALOGUE_CURSOR_KEY_FILE: open ":       {uri, "CATALOGUE_CURSOR_KEY_FILE=" + filepath.Join(dir, "none")},
		"CATALOGUE_CURSOR_KEY_FILE: the file is": {uri, "CATALOGUE_CURSOR_KEY_FILE=" + file("empty", "\n")},
	} {
		_, err := config.Load(environ)
		require.ErrorContains(t, err, name)
		require.Equal(t, 1, strings.Count(err.Error(), "\n"), "one mistake, one line: %v", err)
		require.NotContains(t, err.Error(), "s3cr3t")
	}
}

func TestDevelopmentMakesACursorKey(t *testing.T) {
	t.Parallel()
	environ := []string{uri, "CATALOGUE_ENV=development"}
	a, err := config.Load(environ)
	require.NoError(t, err)
	b, err := config.Load(environ)
	require.NoError(t, err)

	require.True(t, a.CursorKeyIsRandom)
	require.Len(t, a.CursorKeys, 1)
	require.GreaterOrEqual(t, len(a.CursorKeys[0].Reveal()), 32)
	require.NotEqual(t, a.CursorKeys, b.CursorKeys)
}

func TestBaseNeedsNoKeyOfTheServer(t *testing.T) {
	t.Parallel()
	b, err := config.LoadBase([]string{uri, "CATALOGUE_ENV=nonsense"})
	require.NoError(t, err)
	require.Equal(t, "catalogue", b.MongoDBDatabase)

	_, err = config.LoadBase(nil)
	require.ErrorContains(t, err, "CATALOGUE_MONGODB_URI: is required")
}

func TestAddressNeedsNothingElse(t *testing.T) {
	t.Parallel()
	a, err := config.LoadAddress([]string{"CATALOGUE_HTTP_ADDR=:9090"})
	require.NoError(t, err)
	require.Equal(t, ":9090", a.HTTPAddr)

	_, err = config.LoadAddress([]string{"CATALOGUE_HTTP_ADDR=9090"})
	require.ErrorContains(t, err, "CATALOGUE_HTTP_ADDR: ")
}

func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	c, err := config.Load([]string{
		"CATALOGUE_MONGODB_URI=mongodb://user:s3cr3t@db.example:27017/", "CATALOGUE_CURSOR_KEY=" + strings.Repeat("s3cr3t", 6),
		"CATALOGUE_REDIS_URL=redis://user:s3cr3t@cache.example:6379/1",
	})
	require.NoError(t, err)
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("configuration",
		slog.Any("config", c), slog.Any("base", c.Base), slog.Any("keys", c.CursorKeys), slog.Any("uri", c.MongoDBURI))
	encoded, err := json.Marshal(c)
	require.NoError(t, err)

	shown := log.String() + string(encoded) + fmt.Sprintf("%v %+v %#v %s", c, c, c, c.MongoDBURI)
	require.NotContains(t, shown, "s3cr3t")
	require.Contains(t, log.String(), `"mongodb_uri":"mongodb://***@db.example:27017/"`)
	require.Contains(t, log.String(), `"redis_url":"redis://***@cache.example:6379/1"`)
	require.Contains(t, log.String(), `"count_cache_ttl":"1m0s"`)
	require.Contains(t, log.String(), `"cursor_keys":1`)
	require.Contains(t, log.String(), `"request_timeout":"10s"`)
}
