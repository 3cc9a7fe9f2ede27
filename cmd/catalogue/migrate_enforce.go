package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/migrations"
)

func newMigrateEnforceCommand(a *app) *cobra.Command {
	var wait time.Duration
	command := &cobra.Command{
		Use:   "enforce",
		Short: "Let the database refuse documents whose fields have other types",
		Long: `Let the database refuse writes, by whatever program, that give a field another type than the declared one; migrate up
lets it warn only. Documents that do not fit already would be kept from being changed, so it refuses while migrate
check finds anything.

The exit code is 3 where another process worked on the database for the whole --wait, and 1 where a document does not fit.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.migratingAlone(c.Context(), wait, a.enforce)
		},
	}
	waitFlag(command, &wait)
	return command
}

func (a *app) enforce(ctx context.Context, db *mongo.Database, held *migrations.Held) error {
	if err := held.Check(ctx); err != nil {
		return err
	}
	err := migrations.Enforce(ctx, db, sortFields())
	if _, unfit := errors.AsType[*migrations.ProblemsError](err); unfit {
		return fmt.Errorf("%w\nnothing was changed: catalogue migrate check lists them all", err)
	}
	if err == nil {
		a.say("The database refuses writes that do not fit.")
	}
	return err
}
