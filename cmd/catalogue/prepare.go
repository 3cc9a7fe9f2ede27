package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/indexes"
	"catalogue/internal/config"
	"catalogue/internal/mongodb"
	"catalogue/internal/problem"
)

const (
	// prepareRetry is how long prepareIndexes waits for a database that is away.
	prepareRetry = 2 * time.Second
	// watchInterval is how soon lists use an index that was built or unhidden while they served.
	watchInterval = 15 * time.Second
)

// watchIndexes looks at the indexes now and then until ctx is done. /readyz looks too, but need not be asked.
func watchIndexes(ctx context.Context, state *indexes.State, log *slog.Logger) {
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := state.Refresh(ctx); err != nil {
				log.DebugContext(ctx, "indexes cannot be looked at", slog.Any("error", err))
			}
		}
	}
}

// prepareIndexes builds the missing indexes where the configuration says so, and looks at what there is. The server
// answers meanwhile; /readyz tells what is missing. A database that is away or slow is waited for; what else fails is
// logged, once, and stays visible on /readyz.
func prepareIndexes(ctx context.Context, mode string, db *mongo.Database, state *indexes.State, log *slog.Logger) {
	for {
		err := prepareOnce(ctx, mode, db, state, log)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			if err := state.Unready(); err != nil {
				log.WarnContext(ctx, "the lists go on without some of their indexes", slog.Any("error", err))
			}
			return
		}
		if code := problem.Of(err).Code; code != problem.DatabaseUnavailable && code != problem.QueryTimeout {
			log.ErrorContext(ctx, "indexes are not ready", slog.Any("error", err))
			return
		}
		log.WarnContext(ctx, "waiting for the database", slog.Any("error", err))
		select {
		case <-ctx.Done():
			return
		case <-time.After(prepareRetry):
		}
	}
}

func prepareOnce(ctx context.Context, mode string, db *mongo.Database, state *indexes.State, log *slog.Logger) error {
	var applied error
	if mode == config.IndexesCreate {
		applied = indexes.Apply(ctx, db, declaredIndexes(), func(s indexes.Standing) {
			level := slog.LevelInfo
			if s.Status == indexes.Ready {
				level = slog.LevelDebug // nothing has happened
			}
			log.LogAttrs(ctx, level, "index", slog.String("index", s.Index.String()), slog.String("status", string(s.Status)))
		})
	}
	return mongodb.Convert(errors.Join(applied, state.Look(ctx)))
}
