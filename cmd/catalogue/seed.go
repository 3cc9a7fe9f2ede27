package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/config"
	"catalogue/internal/importing/report"
	"catalogue/internal/mongodb"
	"catalogue/internal/seeding"
)

// seedLineInterval is how often progress is a line of its own, where it is no bar.
const seedLineInterval = 2 * time.Second

func newSeedCommand(a *app) *cobra.Command {
	var options seeding.Options
	var ifEmpty, nulls bool
	command := &cobra.Command{
		Use:   "seed",
		Short: "Fill the database with made data",
		Long: `Fill the database with made data that has the shapes which hurt lists: ties, nulls, missing parents, unicode.

The same seed gives the same documents. What is there already is left as it is.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			options.OmitAbsent = !nulls
			return a.withDatabase(c.Context(), func(ctx context.Context, _ config.Base, client *mongodb.Client) error {
				return a.seed(ctx, client.Database(), options, ifEmpty)
			})
		},
	}
	command.Flags().IntVar(&options.Creatives, "creatives", 1000, "`number` of creatives")
	command.Flags().IntVar(&options.Tasks, "tasks", 500, "`number` of tasks, each with its comments and history")
	command.Flags().Uint64Var(&options.Seed, "seed", 1, "`number` that decides what is made")
	command.Flags().BoolVar(&nulls, "nulls", true,
		"store some absent values as null and some parents half empty, as other programs do; with false they are left out, as "+
			"the server's own writes leave them out")
	command.Flags().BoolVar(&ifEmpty, "if-empty", false, "do nothing where there are creatives or tasks already")
	return command
}

func (a *app) seed(ctx context.Context, db *mongo.Database, options seeding.Options, ifEmpty bool) error {
	if ifEmpty {
		empty, err := seeding.Empty(ctx, db)
		if err != nil {
			return err
		}
		if !empty {
			_, err := fmt.Fprintln(a.stdout, "There are creatives or tasks already: nothing is seeded.")
			return err
		}
	}
	progress, done := a.seedProgress(a.stderr)
	seeder, err := seeding.New(db, options, progress)
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	began := a.now()
	summary, err := seeder.Run(ctx)
	done()
	if err != nil {
		return err
	}
	for _, name := range []string{"creatives", "tasks", "comments", "history"} {
		if _, err := fmt.Fprintf(a.stdout, "%-10s %d\n", name, summary.Inserted[name]); err != nil {
			return err
		}
	}
	seconds := a.now().Sub(began).Seconds()
	_, err = fmt.Fprintf(a.stdout, "%d documents, %d were there already; %.0f a second, %.1f s\n",
		summary.Total(), summary.Present, float64(summary.Total()+summary.Present)/max(seconds, 0.001), seconds)
	return err
}

// seedProgress shows a counter on a terminal and a line now and then elsewhere. done ends the counter's line.
func (a *app) seedProgress(out io.Writer) (progress func(documents int), done func()) {
	if report.IsTerminal(out) {
		bar := progressbar.NewOptions(-1, progressbar.OptionSetWriter(out), progressbar.OptionSetDescription("seeding"),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionThrottle(100*time.Millisecond))
		// a counter that cannot be drawn is no reason to stop
		return func(n int) { _ = bar.Add(n) }, func() { _ = bar.Exit(); _, _ = fmt.Fprintln(out) }
	}
	written, shown := 0, a.now()
	return func(n int) {
		written += n
		if now := a.now(); now.Sub(shown) >= seedLineInterval {
			shown = now
			_, _ = fmt.Fprintf(out, "seeding: %d documents\n", written)
		}
	}, func() {}
}
