package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/indexes"
	"catalogue/migrations"
)

// pruneAge is how long an index stays hidden before it is dropped: long enough for a weekly report to miss it.
const pruneAge = 7 * 24 * time.Hour

// pruneJob is what the command line asks for.
type pruneJob struct {
	olderThan, wait time.Duration
	yes             bool
}

func newMigratePruneCommand(a *app) *cobra.Command {
	var job pruneJob
	command := &cobra.Command{
		Use:   "prune",
		Short: "Drop the indexes that retire hid long ago",
		Long: `Drop the indexes that migrate retire hid, that are still hidden and still not declared, and that have been so for
longer than --older-than by the database's clock. It asks first on a terminal, and needs --yes elsewhere.

The exit code is 2 where --yes is needed, 3 where another process worked on the database for the whole --wait, and 1
where the answer was no or an index could not be dropped.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if job.olderThan < 0 {
				return &exitError{code: exitUsage, err: errors.New("--older-than must not be negative")}
			}
			return a.migrating(c.Context(), func(ctx context.Context, db *mongo.Database) error {
				return a.migratePrune(ctx, db, job)
			})
		},
	}
	command.Flags().DurationVar(&job.olderThan, "older-than", pruneAge, "least `time` that an index has been hidden")
	command.Flags().BoolVar(&job.yes, "yes", false, "do not ask")
	waitFlag(command, &job.wait)
	return command
}

func (a *app) migratePrune(ctx context.Context, db *mongo.Database, job pruneJob) error {
	list, err := indexes.Prunable(ctx, db, declaredIndexes(), job.olderThan)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		a.say("No index has been hidden by migrate retire for %s: nothing was done.", job.olderThan)
		return nil
	}
	for _, e := range list {
		a.say("hidden    %s since %s", e, hiddenSince(e))
	}
	if !job.yes {
		if err := a.confirm(ctx, fmt.Sprintf("Drop %s?", counted(len(list), "index", "indexes"))); err != nil {
			return err
		}
	}
	return a.underLock(ctx, db, job.wait, func(ctx context.Context, held *migrations.Held) error {
		return a.prune(ctx, db, job.olderThan, held)
	})
}

func (a *app) prune(ctx context.Context, db *mongo.Database, olderThan time.Duration, held *migrations.Held) error {
	done, err := indexes.Prune(ctx, db, declaredIndexes(), olderThan, held.Check)
	failed := 0
	for _, p := range done {
		if p.Err != nil {
			failed++
			a.say("failed    %s: %v", p.Extra, p.Err)
			continue
		}
		a.say("dropped   %s", p.Extra)
	}
	if failed > 0 {
		err = errors.Join(err, fmt.Errorf("%s could not be dropped: see above", counted(failed, "index", "indexes")))
	}
	return err
}
