package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/migrations"
)

func newMigrateCheckCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "List the documents that would be served strangely",
		Long: `List the documents that would be served strangely, with their ids: values of another type than their field's, arrays
in sort fields, dates outside the years 0001 to 9999, numbers that are none, names that a document has twice. It reads
every document once and changes nothing.

The exit code is 1 where there are any.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.migrating(c.Context(), a.migrateCheck) },
	}
}

func (a *app) migrateCheck(ctx context.Context, db *mongo.Database) error {
	n := 0
	for problem, err := range migrations.Check(ctx, db, sortFields()) {
		if err != nil {
			return err
		}
		n++
		if _, err := fmt.Fprintln(a.stdout, problem); err != nil {
			return err // who reads the list has left
		}
	}
	if n > 0 {
		return fmt.Errorf("%s would be served strangely", counted(n, "value", "values"))
	}
	a.say("Every document is as it should be.")
	return nil
}
