package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/indexes"
	"catalogue/internal/config"
	"catalogue/internal/mongodb"
)

func newMigrateCommand(a *app) *cobra.Command {
	migrate := &cobra.Command{Use: "migrate", Short: "Bring the database up to date"}
	asGroup(migrate)
	migrate.AddCommand(newMigrateUpCommand(a))
	return migrate
}

func newMigrateUpCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "up",
		Short: "Create the indexes that are missing",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withDatabase(c.Context(), func(ctx context.Context, _ config.Base, client *mongodb.Client) error {
				return migrateUp(ctx, client.Database(), a.stdout)
			})
		},
	}
}

// migrateUp prints a line for each index that it built or that is not as it should be, and how many are ready.
func migrateUp(ctx context.Context, db *mongo.Database, out io.Writer) error {
	ready, built := 0, 0
	say := func(format string, args ...any) {
		_, _ = fmt.Fprintf(out, format, args...) // the work goes on without a reader
	}
	err := indexes.Apply(ctx, db, declaredIndexes(), func(s indexes.Standing) {
		switch s.Status {
		case indexes.Ready:
			ready++
			return
		case indexes.Missing:
			return // it is told of again when it is built, or by the error
		case indexes.Built:
			built++
		case indexes.Building, indexes.Hidden, indexes.Conflict:
		}
		say("%-8s  %s (%s)\n", s.Status, s.Index, s.Index.Reason)
	})
	say("%d of %d indexes are ready, %d of them built now\n", ready+built, len(declaredIndexes()), built)
	return mongodb.Convert(err)
}
