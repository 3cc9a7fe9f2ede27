package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/comments"
	"catalogue/creatives"
	"catalogue/history"
	"catalogue/indexes"
	"catalogue/internal/config"
	"catalogue/internal/mongodb"
	"catalogue/migrations"
	"catalogue/tasks"
)

// The exit codes of migrate, beside those of every command.
const (
	exitPending   = 2 // of plan: up has something to do
	exitLocked    = 3 // another one worked on the database all the time
	exitForPerson = 4 // up has nothing more to do, but something is left for a person
)

func newMigrateCommand(a *app) *cobra.Command {
	migrate := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the database up to date",
		Long:  "Bring the database up to date. docs/migrations.md says how a deploy goes.",
	}
	asGroup(migrate)
	migrate.AddCommand(
		newMigratePlanCommand(a),
		newMigrateUpCommand(a),
		newMigrateStatusCommand(a),
		newMigrateRetireCommand(a),
		newMigratePruneCommand(a),
		newMigrateUnhideCommand(a),
		newMigrateCheckCommand(a),
		newMigrateEnforceCommand(a),
		newMigrateExplainCommand(a),
	)
	return migrate
}

// sortFields are the fields that lists are sorted by, with their kinds.
func sortFields() migrations.Fields {
	return migrations.Fields{
		creatives.Collection: slices.Concat(creatives.List().Sorts, creatives.Gallery().Sorts),
		tasks.Collection:     tasks.List().Sorts,
		comments.Collection:  comments.OfTask().Sorts,
		history.Collection:   history.OfTask().Sorts,
	}
}

// newRunner makes the runner of the data migrations.
func newRunner(db *mongo.Database) (*migrations.Runner, error) {
	kinds := importKinds()
	return migrations.NewRunner(db, migrations.All(kinds, sortFields(), migrations.NewRewriter(db, kinds)))
}

// indexesByCollection are the declared indexes, collection by collection.
func indexesByCollection() []indexes.Index {
	declared := declaredIndexes()
	slices.SortStableFunc(declared, func(a, b indexes.Index) int { return cmp.Compare(a.Collection, b.Collection) })
	return declared
}

// migrating runs a command of migrate on the database and gives its errors their exit codes.
func (a *app) migrating(ctx context.Context, work func(ctx context.Context, db *mongo.Database) error) error {
	return a.withDatabase(ctx, func(ctx context.Context, _ config.Base, client *mongodb.Client) error {
		return migrateExit(ctx, work(ctx, client.Database()))
	})
}

func migrateExit(ctx context.Context, err error) error {
	_, locked := errors.AsType[*migrations.LockedError](err)
	_, chosen := errors.AsType[*exitError](err)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &exitError{code: exitInterrupted, err: errors.New("interrupted: the same command again goes on from here")}
	case locked:
		return &exitError{code: exitLocked, err: fmt.Errorf(
			"%w: nothing was done; try again when that has ended, or wait longer with --wait", err)}
	case errors.Is(err, migrations.ErrLost):
		return fmt.Errorf("%w; what was done is recorded: run the same command again", err)
	case chosen:
		return err
	default:
		return mongodb.Convert(err)
	}
}

// counted writes a number with its noun: 1 index, 2 indexes.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// shortVersion is the version without the commit and the toolchain.
func shortVersion() string {
	short, _, _ := strings.Cut(buildVersion(), ", ")
	return short
}

// say writes a line of a command's result.
func (a *app) say(format string, args ...any) {
	_, _ = fmt.Fprintf(a.stdout, format+"\n", args...) // the work goes on without a reader
}

// note writes a line for people beside the result.
func (a *app) note(format string, args ...any) {
	_, _ = fmt.Fprintf(a.stderr, format+"\n", args...) // the work goes on without a reader
}

// moment writes a time of the database's clock.
func moment(t time.Time) string { return t.UTC().Format(time.DateTime) + "Z" }
