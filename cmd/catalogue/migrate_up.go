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

// upJob is what the command line asks for.
type upJob struct {
	wait          time.Duration
	dryRun, quiet bool
}

func newMigrateUpCommand(a *app) *cobra.Command {
	var job upJob
	command := &cobra.Command{
		Use:   "up",
		Short: "Build the missing indexes and run the pending data migrations",
		Long: `Build the missing indexes and run the pending data migrations.

It hides and drops nothing, so that the version before goes on beside it; run it before a new version serves. Run it as
often as you like, also in several places at once: one works, the others wait. Stopped anywhere, the next run goes on.

The exit code is 0 where all is done, 3 where another process worked on the database for the whole --wait, 4 where all
is done but for indexes that are left for a person, 130 after Ctrl-C, and 1 where something failed.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.migrating(c.Context(), func(ctx context.Context, db *mongo.Database) error {
				return a.migrateUp(ctx, db, job)
			})
		},
	}
	waitFlag(command, &job.wait)
	command.Flags().BoolVar(&job.dryRun, "dry-run", false,
		"show the plan and count what the data migrations would change, and change nothing")
	command.Flags().BoolVar(&job.quiet, "quiet", false, "no line for each index that was built")
	return command
}

func (a *app) migrateUp(ctx context.Context, db *mongo.Database, job upJob) error {
	runner, err := newRunner(db)
	if err != nil {
		return err
	}
	if job.dryRun {
		return a.dryRun(ctx, db, runner)
	}
	return a.underLock(ctx, db, job.wait, func(ctx context.Context, held *migrations.Held) error {
		u := &upRun{app: a, held: held, quiet: job.quiet, progress: newMigrateProgress(a.stderr, a.now)}
		return u.run(ctx, db, runner)
	})
}

// upRun is one run of migrate up.
type upRun struct {
	app      *app
	held     *migrations.Held
	quiet    bool
	progress *migrateProgress

	ready, built, failed, forPerson int // indexes
	ran                             int // data migrations
}

// run builds the indexes before it changes data: lists and /readyz wait for the indexes alone.
func (u *upRun) run(ctx context.Context, db *mongo.Database, runner *migrations.Runner) error {
	declared := indexesByCollection()
	_, err := indexes.Build(ctx, db, declared, indexes.BuildOptions{
		Guard: u.held.Check, Progress: u.building, Report: u.outcome,
	})
	if err == nil {
		err = runner.Up(ctx, u.held, u.event)
	}
	u.progress.clear()
	u.say("%d of %s ready, %d of them built now; %s ran", u.ready, counted(len(declared), "index is", "indexes are"),
		u.built, counted(u.ran, "data migration", "data migrations"))
	if u.failed > 0 {
		err = errors.Join(err, fmt.Errorf("%s could not be made ready: see above, and run the same command again",
			counted(u.failed, "index", "indexes")))
	}
	if err == nil && u.forPerson > 0 {
		return &exitError{code: exitForPerson, err: fmt.Errorf("%s left for a person: see above",
			counted(u.forPerson, "index is", "indexes are"))}
	}
	return err
}

// say writes a line of the result.
func (u *upRun) say(format string, args ...any) {
	u.progress.clear()
	_, _ = fmt.Fprintf(u.app.stdout, format+"\n", args...) // the work goes on without a reader
}

// detail is say for what people need not see.
func (u *upRun) detail(format string, args ...any) {
	if !u.quiet {
		u.say(format, args...)
	}
}

func (u *upRun) building(p indexes.Progress) {
	s := workStep{work: fmt.Sprintf("%s %s", p.Finding.Action, p.Finding.Index), detail: p.Elapsed.Round(time.Second).String()}
	if p.Total > 0 {
		s.done, s.total = p.Done, p.Total
		s.detail += " " + p.Phase
	}
	u.progress.show(s)
}

// outcome tells what became of one index.
func (u *upRun) outcome(o indexes.Outcome) {
	switch f := o.After; {
	case o.Err != nil:
		u.failed++
		u.say("failed    %s: %v", f.Index, o.Err)
		return
	case f.ForPerson():
		u.forPerson++
		u.say("left      %s: %s", f.Index, advice(f))
		return
	default:
		u.ready++
	}
	for _, action := range o.Done {
		verb := ""
		switch action {
		case indexes.ActionBuild:
			u.built++
			verb = "built"
		case indexes.ActionWait:
			verb = "finished"
		case indexes.ActionUnhide:
			verb = "unhidden"
		case indexes.ActionExpire:
			verb = "changed"
		}
		u.detail("%-8s  %s, %s (%s)", verb, o.After.Index, o.Elapsed.Round(time.Millisecond), o.After.Reason)
	}
	if o.Note != "" {
		u.say("warning   %s: %s", o.After.Index, o.Note)
	}
}

// event tells how a data migration goes.
func (u *upRun) event(e migrations.Event) {
	switch e.Kind {
	case migrations.Started, migrations.Progress:
		u.progress.show(workStep{work: "migrate " + e.Migration.String(), detail: changesText(e.Done), done: e.Done})
	case migrations.Resumed:
		u.detail("resumed   %s, %s before", e.Migration, changesText(e.Done))
	case migrations.Note:
		u.say("note      %s: %s", e.Migration, e.Text)
	case migrations.Ended:
		u.ran++
		u.detail("applied   %s, %s", e.Migration, changesText(e.Done))
	case migrations.Broken:
		u.say("failed    %s, after %s: the next run goes on from there", e.Migration, changesText(e.Done))
	}
}

// changesText counts what a data migration changed: documents, or settings of collections.
func changesText(n int64) string { return counted(int(n), "change", "changes") }
