package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/migrations"
)

// shownChecksum is how much of a checksum the table shows.
const shownChecksum = 12

func newMigrateStatusCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "List the data migrations, and who works on the database",
		Long: `List the data migrations with their checksum, when, where and by which version each ran, and who works on the
database now. All times are of the database's clock.

The exit code is 1 where an applied data migration is declared otherwise than it was when it ran.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.migrating(c.Context(), a.migrateStatus) },
	}
}

func (a *app) migrateStatus(ctx context.Context, db *mongo.Database) error {
	runner, err := newRunner(db)
	if err != nil {
		return err
	}
	all, err := runner.Status(ctx)
	if err != nil {
		return err
	}
	holding, held, err := migrations.NewLock(db, lockHolder(), a.lease).Holding(ctx)
	if err != nil {
		return err
	}
	var text strings.Builder
	rows := make([]string, 0, len(all))
	var changed []migrations.Standing
	for _, s := range all {
		rows = append(rows, statusRow(s))
		if s.State == migrations.Changed {
			changed = append(changed, s)
		}
	}
	if err := table(&text, "DATA MIGRATION\tSTATE\tCHECKSUM\tSTARTED\tENDED\tMADE\tHOST\tVERSION", rows); err != nil {
		return err
	}
	for _, s := range all {
		if s.State == migrations.Failed {
			_, _ = fmt.Fprintf(&text, "\n%s failed: %s\nmigrate up goes on from where it stopped.\n", s, s.Record.Error)
		}
	}
	text.WriteString("\n" + holdingText(holding, held) + "\n")
	if _, err := io.WriteString(a.stdout, text.String()); err != nil {
		return err
	}
	if len(changed) > 0 {
		return &migrations.ChangedError{Migrations: changed}
	}
	return nil
}

func holdingText(h migrations.Holding, held bool) string {
	if !held {
		return "Nobody works on the database."
	}
	return fmt.Sprintf("Version %s on %s (process %s) has worked on the database since %s.",
		h.Version, h.Host, h.ID, moment(h.Since))
}

func statusRow(s migrations.Standing) string {
	const none = "-"
	sum := s.Checksum
	if s.Record != nil {
		sum = s.Record.Checksum
	}
	sum = sum[:min(len(sum), shownChecksum)]
	if s.Record == nil {
		return cells(s.String(), string(s.State), sum, none, none, none, none, none)
	}
	r := s.Record
	at := func(t time.Time) string {
		if t.IsZero() {
			return none
		}
		return moment(t)
	}
	return cells(s.String(), string(s.State), sum, at(r.StartedAt), at(r.EndedAt), changesText(r.Done), r.Host, r.Version)
}
