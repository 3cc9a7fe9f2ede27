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
	"catalogue/migrations"
)

const (
	// prepareRetry is how long prepareIndexes waits for a database that is away.
	prepareRetry = 2 * time.Second
	// watchInterval is how soon lists use an index that was built or unhidden while they served.
	watchInterval = 10 * time.Second
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

// prepareIndexes looks at the indexes, and builds the missing ones where the configuration says so. The server answers
// meanwhile; /readyz tells what is missing. A database that is away or slow is waited for, and so is another process
// that works on it; what else fails is logged, once, and stays visible on /readyz.
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
		if !passes(err) {
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

// passes reports whether a failure is worth another try.
func passes(err error) bool {
	if _, locked := errors.AsType[*migrations.LockedError](err); locked || errors.Is(err, migrations.ErrLost) {
		return true
	}
	code := problem.Of(err).Code
	return code == problem.DatabaseUnavailable || code == problem.QueryTimeout
}

// prepareOnce looks before it builds, so that lists use what is there while it waits, and again afterwards.
func prepareOnce(ctx context.Context, mode string, db *mongo.Database, state *indexes.State, log *slog.Logger) error {
	if err := state.Look(ctx); err != nil || mode != config.IndexesCreate {
		return mongodb.Convert(err)
	}
	return mongodb.Convert(errors.Join(createIndexes(ctx, db, log), state.Look(ctx)))
}

// createIndexes builds what is missing, under the lock of migrate: of several replicas that start at once, one builds.
// Where nothing is missing it writes nothing.
func createIndexes(ctx context.Context, db *mongo.Database, log *slog.Logger) error {
	declared := indexesByCollection()
	compared, err := indexes.Compare(ctx, db, declared)
	if err != nil || len(compared.Pending()) == 0 {
		return err
	}
	lock := migrations.NewLock(db, lockHolder(), migrations.DefaultLease)
	waiting := func(h migrations.Holding) {
		log.LogAttrs(ctx, slog.LevelInfo, "another process prepares the database", holdingAttrs(h)...)
	}
	return locked(ctx, lock, migrations.DefaultWait, waiting, func(ctx context.Context, held *migrations.Held) error {
		outcomes, err := indexes.Build(ctx, db, declared, indexes.BuildOptions{
			Guard: held.Check, Report: func(o indexes.Outcome) { logOutcome(ctx, log, o) },
		})
		return errors.Join(err, indexes.Failures(outcomes))
	})
}

func logOutcome(ctx context.Context, log *slog.Logger, o indexes.Outcome) {
	level := slog.LevelInfo
	if len(o.Done) == 0 && o.Err == nil {
		level = slog.LevelDebug // nothing has happened
	}
	status := o.After.Status
	if len(o.Done) > 0 && status == indexes.Ready {
		status = indexes.Built
	}
	attrs := []slog.Attr{
		slog.String("index", o.After.Index.String()), slog.String("status", string(status)),
		slog.Duration("elapsed", o.Elapsed),
	}
	if o.Note != "" {
		level = slog.LevelWarn
		attrs = append(attrs, slog.String("note", o.Note))
	}
	log.LogAttrs(ctx, level, "index", attrs...)
}
