package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"catalogue/internal/config"
	"catalogue/internal/counting"
	"catalogue/internal/rediscache"
	"catalogue/pagination"
)

// countHold is how long a count is shared without the cache: no longer than the least TTL, and as long as Redis is left
// alone after it failed.
const countHold = time.Second

// openCounts makes what counts lists, with a cache where one is configured. closeCounts ends the counts that still run.
func openCounts(
	c config.Config, log *slog.Logger, now func() time.Time,
) (counts *counting.Counts, closeCounts func() error, err error) {
	options := counting.Options{
		Counter: pagination.Counter{Timeout: c.CountTimeout, OnError: func(ctx context.Context, err error) {
			log.WarnContext(ctx, "count failed", slog.Any("error", err))
		}},
		TTL: c.CountCacheTTL, Hold: countHold, Now: now,
	}
	var cache *rediscache.Cache
	if c.RedisURL != "" {
		cache, err = rediscache.Open(rediscache.Options{URL: c.RedisURL.Reveal(), Logger: log, Now: now})
		if err != nil {
			return nil, nil, errors.Join(errors.New("CATALOGUE_REDIS_URL"), err)
		}
		options.Cache = cache
	}
	counts = counting.New(options)
	return counts, func() error {
		counts.Close()
		return cache.Close()
	}, nil
}
