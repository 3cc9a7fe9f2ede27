package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/indexes"
	"catalogue/migrations"
)

func newMigrateRetireCommand(a *app) *cobra.Command {
	var wait time.Duration
	command := &cobra.Command{
		Use:   "retire",
		Short: "Hide the indexes of migrate up that nothing declares any more",
		Long: `Hide the indexes that migrate up once built and that nothing declares any more. Run it when the version that needed
them is gone. Nothing is dropped, and indexes of others are left alone; reads that still ask for a hidden index are
answered without it.

Before each is hidden, its use is shown: since when and how often the node that answers has used it. The exit code is 3
where another process worked on the database for the whole --wait, and 1 where an index could not be hidden.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.migratingAlone(c.Context(), wait, a.retire)
		},
	}
	waitFlag(command, &wait)
	return command
}

func (a *app) retire(ctx context.Context, db *mongo.Database, held *migrations.Held) error {
	done, err := indexes.Retire(ctx, db, declaredIndexes(), indexes.RetireOptions{
		Guard:  held.Check,
		Before: func(r indexes.Retired) { a.say("hiding    %s, %s", r.Extra, useText(r.Use)) },
	})
	if err != nil {
		return err
	}
	if done.Unsupported {
		a.say("This server has no hidden indexes: nothing was done.")
		return nil
	}
	for _, e := range done.Hidden {
		a.say("hidden    %s since %s", e, hiddenSince(e))
	}
	for _, e := range done.Foreign {
		a.say("foreign   %s, which migrate up did not build: it stays as it is", e)
	}
	failed := 0
	for _, r := range done.Retired {
		if r.Err != nil {
			failed++
			a.say("failed    %s: %v", r.Extra, r.Err)
		}
	}
	if len(done.Retired)+len(done.Hidden) == 0 {
		a.say("Every index that migrate up built is declared: nothing was done.")
		return nil
	}
	a.say("%s hidden now. catalogue migrate unhide NAME brings one back, catalogue migrate prune drops them one day.",
		counted(len(done.Retired)-failed, "index is", "indexes are"))
	if failed > 0 {
		return fmt.Errorf("%s could not be hidden: see above", counted(failed, "index", "indexes"))
	}
	return nil
}

// useText says how often an index was used.
func useText(u *indexes.Use) string {
	if u == nil {
		return "whose use the server does not tell"
	}
	return fmt.Sprintf("used %s since %s on %s", counted(int(u.Operations), "time", "times"), moment(u.Since), u.Host)
}

// hiddenSince is when retire hid an index. One that a person hid has no such moment.
func hiddenSince(e indexes.Extra) string {
	if e.HiddenAt == nil {
		return "a person hid it"
	}
	return moment(*e.HiddenAt)
}
