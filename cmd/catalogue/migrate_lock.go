package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/migrations"
)

// waitFlag adds the flag of the commands that take the lock.
func waitFlag(command *cobra.Command, wait *time.Duration) {
	command.Flags().DurationVar(wait, "wait", migrations.DefaultWait,
		"longest `time` to wait for another process that works on the database")
}

// lockHolder says who this process is.
func lockHolder() migrations.Holder {
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown host" // it is for people
	}
	return migrations.Holder{Host: host, Version: shortVersion(), ID: strconv.Itoa(os.Getpid())}
}

// underLock is locked for a command, which tells people for whom it waits.
func (a *app) underLock(
	ctx context.Context, db *mongo.Database, wait time.Duration,
	work func(ctx context.Context, held *migrations.Held) error,
) error {
	return locked(ctx, migrations.NewLock(db, lockHolder(), a.lease), wait, func(h migrations.Holding) {
		a.note("waiting for version %s on %s (process %s), which has worked on the database since %s; giving up after %s",
			h.Version, h.Host, h.ID, moment(h.Since), wait)
	}, work)
}

// locked takes the lock, works under it and frees it, also where ctx has ended. The context of the work ends where the
// lock is lost.
func locked(
	ctx context.Context, lock *migrations.Lock, wait time.Duration, onWait func(migrations.Holding),
	work func(ctx context.Context, held *migrations.Held) error,
) (err error) {
	held, working, err := lock.Take(ctx, wait, onWait)
	if err != nil {
		return err
	}
	defer func() {
		if e := held.Release(ctx); e != nil && !errors.Is(err, migrations.ErrLost) {
			err = errors.Join(err, fmt.Errorf("free the lock: %w", e))
		}
	}()
	return work(working, held)
}

// migratingAlone is migrating for work that takes the lock.
func (a *app) migratingAlone(
	ctx context.Context, wait time.Duration,
	work func(ctx context.Context, db *mongo.Database, held *migrations.Held) error,
) error {
	return a.migrating(ctx, func(ctx context.Context, db *mongo.Database) error {
		return a.underLock(ctx, db, wait, func(ctx context.Context, held *migrations.Held) error {
			return work(ctx, db, held)
		})
	})
}

// holdingAttrs names the holder of the lock in a log.
func holdingAttrs(h migrations.Holding) []slog.Attr {
	return []slog.Attr{
		slog.String("holder_host", h.Host), slog.String("holder_version", h.Version), slog.String("holder_id", h.ID),
		slog.Time("since", h.Since),
	}
}
