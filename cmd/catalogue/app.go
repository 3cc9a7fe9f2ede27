package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"catalogue/internal/config"
	"catalogue/internal/httpserver"
	"catalogue/internal/importing/report"
	"catalogue/internal/mongodb"
	"catalogue/migrations"
)

const appName = "catalogue"

// app is what commands get from outside.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	interactive    bool     // a person at a terminal can be asked
	environ        []string // as os.Environ
	now            func() time.Time
	lease          time.Duration // of the lock of migrate
	started        bool          // a command's own work has begun: its errors are no longer those of usage
}

// run is the whole program but its signals. It returns the exit code.
func run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	a := &app{
		stdin: os.Stdin, stdout: stdout, stderr: stderr, environ: environ, now: time.Now, lease: migrations.DefaultLease,
		interactive: report.IsTerminal(os.Stdin) && report.IsTerminal(stderr),
	}
	return a.execute(ctx, args)
}

// execute runs the command that args name.
func (a *app) execute(ctx context.Context, args []string) int {
	root := newRootCommand(a) //nolint:contextcheck // commands get ctx from cobra
	root.SetArgs(args)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	command, err := root.ExecuteContextC(ctx)
	return a.report(command, err)
}

// logger makes the logger of a command. It writes to stderr: stdout belongs to the command's results.
func (a *app) logger(base config.Base) *slog.Logger {
	options := &slog.HandlerOptions{Level: base.LogLevel, ReplaceAttr: timesInUTC}
	var handler slog.Handler = slog.NewJSONHandler(a.stderr, options)
	if base.LogFormat == config.LogText {
		handler = slog.NewTextHandler(a.stderr, options)
	}
	return slog.New(httpserver.LogHandler(handler))
}

// timesInUTC makes the lines of machines in different zones comparable.
func timesInUTC(_ []string, attr slog.Attr) slog.Attr {
	if attr.Value.Kind() == slog.KindTime {
		attr.Value = slog.TimeValue(attr.Value.Time().UTC())
	}
	return attr
}

// withDatabase runs a command that can do nothing without the database, and closes its client afterwards.
func (a *app) withDatabase(
	ctx context.Context, command func(ctx context.Context, base config.Base, client *mongodb.Client) error,
) (err error) {
	base, err := config.LoadBase(a.environ)
	if err != nil {
		return err
	}
	client, err := mongodb.Connect(ctx, databaseOptions(base))
	if err != nil {
		return fmt.Errorf("no MongoDB answers at %s: %s", mongodb.Mask(base.MongoDBURI.Reveal()), mongodb.Reason(err))
	}
	defer func() { err = errors.Join(err, client.Disconnect(ctx)) }()
	return command(ctx, base, client)
}

func databaseOptions(base config.Base) mongodb.Options {
	return mongodb.Options{
		URI: base.MongoDBURI.Reveal(), Database: base.MongoDBDatabase, MaxPoolSize: base.MongoDBMaxPool, AppName: appName,
	}
}

// markStarted wraps the work of every command, so that report can tell it from the parsing before it.
func (a *app) markStarted(command *cobra.Command) {
	if work := command.RunE; work != nil {
		command.RunE = func(c *cobra.Command, args []string) error {
			a.started = true
			return work(c, args)
		}
	}
	for _, child := range command.Commands() {
		a.markStarted(child)
	}
}
