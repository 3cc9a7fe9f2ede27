package main

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/config"
	"catalogue/internal/mongotest"
	"catalogue/internal/rediscache"
	"catalogue/internal/redistest"
	"catalogue/internal/seeding"
)

// cached serves made data with a cache of counts.
func cached(t testing.TB, creatives int) *api {
	t.Helper()
	db := mongotest.Database(t) // its name is part of every key
	seed(t, db, seeding.Options{Creatives: creatives, Seed: 1})
	serveDatabase(t, db)
	cache, err := rediscache.Open(rediscache.Options{URL: redistest.URL(t), Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cache.Close()) })
	return serveWith(t, db, settings{cache: cache})
}

func TestTheSecondFirstPageHasACachedTotal(t *testing.T) {
	t.Parallel()
	a := cached(t, 200)
	before := time.Now().Add(-time.Second)
	first := a.page(t, "/creatives?limit=5&status=active")
	require.Equal(t, "exact", *first.Meta.TotalKind)
	require.Nil(t, first.Meta.TotalAsOf)

	plant(t, a.db, "creatives", bson.D{{Key: "status", Value: "active"}})
	for _, target := range []string{"/creatives?limit=5&status=active&sort=name", "/creatives/gallery?limit=3&status=active"} {
		second := a.page(t, target)
		require.Equal(t, "cached", *second.Meta.TotalKind, target)
		require.Equal(t, first.Meta.Total, second.Meta.Total, "of a moment ago, whatever was written since")
		at, err := time.Parse(time.RFC3339, *second.Meta.TotalAsOf)
		require.NoError(t, err)
		require.True(t, at.After(before))
	}
	require.Equal(t, "exact", *a.page(t, "/creatives?limit=5&status=paused").Meta.TotalKind, "another filter")
	require.Equal(t, "estimated", *a.page(t, "/creatives?limit=5").Meta.TotalKind, "no filter")
}

func TestAWrongRedisURLEndsTheStart(t *testing.T) {
	t.Parallel()
	_, _, err := openCounts(config.Config{RedisURL: "nonsense"}, slog.New(slog.DiscardHandler), time.Now)
	require.ErrorContains(t, err, "CATALOGUE_REDIS_URL")
}
