package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/indexes"
	"catalogue/migrations"
)

func newMigrateUnhideCommand(a *app) *cobra.Command {
	var collection string
	var wait time.Duration
	command := &cobra.Command{
		Use:   "unhide NAME",
		Short: "Bring a hidden index back at once",
		Long: `Bring a hidden index back at once, whoever hid it: the database has kept it up to date. NAME is the one that migrate
plan and migrate retire show. Servers use it again within ten seconds.

The exit code is 3 where another process worked on the database for the whole --wait, and 1 where there is no such
hidden index.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("the name of one index is needed")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return a.migratingAlone(c.Context(), wait, func(ctx context.Context, db *mongo.Database, held *migrations.Held) error {
				back, err := indexes.Unhide(ctx, db, args[0], collection, held.Check)
				if err == nil {
					a.say("unhidden  %s", back)
				}
				return err
			})
		},
	}
	command.Flags().StringVar(&collection, "collection", "",
		"the index's `collection`, where several have an index of that name")
	waitFlag(command, &wait)
	return command
}
