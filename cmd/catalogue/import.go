package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/comments"
	"catalogue/creatives"
	"catalogue/history"
	"catalogue/indexes"
	"catalogue/internal/changes"
	"catalogue/internal/config"
	"catalogue/internal/importing"
	"catalogue/internal/importing/report"
	"catalogue/internal/mongodb"
	"catalogue/tasks"
)

// The exit codes of an import, beside those of every command.
const (
	exitRejected    = 3   // the run is complete, but some rows were rejected
	exitInterrupted = 130 // as shells have it for Ctrl-C
)

// importTargets are the collections that files can be imported into.
func importTargets() map[string]importing.Target {
	out := map[string]importing.Target{}
	for _, t := range []importing.Target{
		creatives.ImportTarget(), tasks.ImportTarget(), comments.ImportTarget(), history.ImportTarget(),
	} {
		out[t.Collection()] = t
	}
	return out
}

// importKinds are what the collections hold that files can be imported into.
func importKinds() []changes.Imported {
	return []changes.Imported{
		creatives.Kind().Imported(),
		tasks.Kind(nil).Imported(), // nobody is asked for creatives: references are resolved before
		comments.Kind().Imported(),
		{Collection: history.Collection, Parent: tasks.Collection},
	}
}

// importJob is what the command line asks for.
type importJob struct {
	target  importing.Target
	mapping string // paths
	file    string
	rejects string
}

func newImportCommand(a *app) *cobra.Command {
	targets := importTargets()
	names := slices.Sorted(maps.Keys(targets))
	var job importJob
	command := &cobra.Command{
		Use:   "import " + strings.Join(names, "|") + " --map MAPPING.yaml FILE",
		Short: "Import a CSV or JSON Lines file",
		Long: `Import a CSV or JSON Lines file as a mapping says: see examples/mappings.

Rows are applied by their key: a second run changes nothing, and a run that was cut short is completed by another one.
The exit code is 3 where rows were rejected; they are in the rejects file, and the others are in the database.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("a target (%s) and one file are needed", strings.Join(names, ", "))
			}
			if !slices.Contains(names, args[0]) {
				return fmt.Errorf("unknown target %q: it must be one of %s", args[0], strings.Join(names, ", "))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			job.target, job.file = targets[args[0]], args[1]
			return a.importFile(c.Context(), job)
		},
	}
	command.Flags().StringVar(&job.mapping, "map", "", "the mapping `file`")
	command.Flags().StringVar(&job.rejects, "rejects", "",
		"the `file` of rejected rows (default FILE.rejects.jsonl in the current folder)")
	if err := command.MarkFlagRequired("map"); err != nil {
		panic(err) // the flag stands two lines above
	}
	return command
}

// importFile reads the mapping before it asks the database for anything.
func (a *app) importFile(ctx context.Context, job importJob) error {
	if job.rejects == "" {
		job.rejects = filepath.Base(job.file) + ".rejects.jsonl"
	}
	plan, err := readMapping(job)
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	return a.withDatabase(ctx, func(ctx context.Context, _ config.Base, client *mongodb.Client) error {
		return a.runImport(ctx, job, plan, client.Database())
	})
}

func readMapping(job importJob) (*importing.Plan, error) {
	file, err := os.Open(job.mapping)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // nothing was written to it
	plan, err := importing.ReadMapping(file, job.target)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", job.mapping, err)
	}
	return plan, nil
}

func (a *app) runImport(ctx context.Context, job importJob, plan *importing.Plan, db *mongo.Database) error {
	can, err := mongodb.Probe(ctx, db)
	if err != nil {
		return err
	}
	progress := report.NewProgress(a.stderr, report.IsTerminal(a.stderr), a.now)
	summary, err := importing.Run(ctx, importing.Options{
		Path:    job.file,
		Plan:    plan,
		Rejects: job.rejects,
		Inputs:  []string{job.mapping},
		Store: changes.NewImporter(db, changes.ImporterOptions{
			NewID: bson.NewObjectID, Kinds: importKinds(), Transactions: can.Transactions,
		}),
		Resolvers: map[string]importing.Resolver{
			creatives.Collection: changes.NewReferences(db, creatives.Kind().Imported()),
			tasks.Collection:     changes.NewReferences(db, tasks.Kind(nil).Imported()),
		},
		EnsureIndexes: func(ctx context.Context) error { return a.ensureIndexes(ctx, db, job.target.Collection()) },
		Progress:      progress.Show,
		Now:           a.now,
	})
	progress.Done()
	interrupted := errors.Is(err, context.Canceled)
	if err == nil || interrupted || summary.Read > 0 {
		err = errors.Join(err, report.Summary(a.stdout, summary))
	}
	switch {
	case interrupted:
		return &exitError{code: exitInterrupted, err: errors.New("interrupted: the same command again completes the import")}
	case err != nil:
		return mongodb.Convert(err)
	case summary.Rejected > 0:
		return &exitError{code: exitRejected}
	default:
		return nil
	}
}

// ensureIndexes builds the missing indexes of a collection and of the tombstones, as migrate up does, so that migrate
// retire knows them as ours. What is still not ready is an error: without its unique index an import could double rows.
func (a *app) ensureIndexes(ctx context.Context, db *mongo.Database, collection string) error {
	declared := slices.DeleteFunc(declaredIndexes(), func(i indexes.Index) bool { return i.Collection != collection })
	declared = append(declared, changes.Indexes()...)
	outcomes, err := indexes.Build(ctx, db, declared, indexes.BuildOptions{Report: func(o indexes.Outcome) {
		if len(o.Done) > 0 {
			_, _ = fmt.Fprintf(a.stderr, "%-8s  %s\n", indexes.Built, o.Before.Index)
		}
	}})
	if err := errors.Join(err, indexes.Failures(outcomes)); err != nil {
		return err
	}
	return indexes.Apply(ctx, db, declared, func(indexes.Standing) {})
}
