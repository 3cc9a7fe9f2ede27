package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"catalogue/bench/groups"
	"catalogue/bench/report"
)

const (
	exitOK      = 0
	exitFailure = 1

	defaultBinary  = "bin/catalogue"
	defaultOutput  = ".run/bench"
	defaultRows    = "10k"
	defaultSeconds = 60
	maxRows        = 1_000_000_000 // more than these machines hold, and no overflow

	// chartsFolder is the folder below that of --docs which takes charts and results.
	chartsFolder = "performance"
)

// app is what the command gets from outside.
type app struct {
	stdout, stderr io.Writer
	getenv         func(name string) string
	groups         []groups.Group // that there are
}

// settings are what flags say.
type settings struct {
	uri, redisURL, binary string
	rows                  []int // ascending
	groups                []groups.Group
	output, docs          string // folders; docs may be empty
	load                  time.Duration
	command               string // that repeats the run
}

// execute runs the command and returns its exit code. Goals that are not met are results, not errors.
func (a *app) execute(ctx context.Context, args []string) int {
	root := a.newCommand() //nolint:contextcheck // commands get ctx from cobra
	root.AddCommand(a.newPageCommand())
	root.SetArgs(args)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	if err := root.ExecuteContext(ctx); err != nil {
		_, _ = fmt.Fprintf(a.stderr, "bench: %v\n", err) // a stderr that fails leaves the code to tell
		return exitFailure
	}
	return exitOK
}

func (a *app) newCommand() *cobra.Command {
	var s settings
	var rows, chosen string
	var seconds int
	command := &cobra.Command{
		Use:   "bench",
		Short: "Measure pages at any depth against what users would pick instead",
		Long: "Measure pages at any depth against what users would pick instead. The groups of benchmarks: " +
			strings.Join(ids(a.groups), ", ") + ".",
		Args: cobra.NoArgs, SilenceErrors: true, SilenceUsage: true,
	}
	flags := command.Flags()
	flags.StringVar(&s.uri, "uri", a.firstOf("CATALOGUE_TEST_MONGODB_URI", "CATALOGUE_MONGODB_URI"),
		"address of the database under test; its databases bench_* are made and kept")
	flags.StringVar(&s.redisURL, "redis-url", a.firstOf("CATALOGUE_TEST_REDIS_URL", "CATALOGUE_REDIS_URL"),
		"address of the Redis that counts are kept in; without it cached totals are not measured")
	flags.StringVar(&s.binary, "binary", defaultBinary, "the built catalogue")
	flags.StringVar(&rows, "rows", defaultRows, "numbers of creatives to measure with, such as 10k,100k,1m")
	flags.StringVar(&chosen, "groups", "", "groups to run, separated by commas; all of them by default")
	flags.StringVar(&s.output, "output", defaultOutput, "folder of logs, of results as they come, and of the page unless --docs is given")
	flags.StringVar(&s.docs, "docs", "", "folder that takes the page of a whole run, with its charts and results in a folder below")
	flags.IntVar(&seconds, "seconds", defaultSeconds, "how long the most clients walk under load")
	hideAddresses(flags)
	command.RunE = func(c *cobra.Command, _ []string) (err error) {
		if s.rows, err = parseRows(rows); err != nil {
			return err
		}
		if s.groups, err = a.choose(chosen); err != nil {
			return err
		}
		switch {
		case s.uri == "":
			return errors.New("there is no database to measure: give --uri, or start one by make bench")
		case seconds < 1:
			return errors.New("--seconds: at least 1")
		case s.docs != "" && chosen != "":
			return errors.New("--docs takes the page of a whole run: leave --groups out, or look at bench page --help")
		}
		s.load = time.Duration(seconds) * time.Second
		s.command = a.repeat(flags)
		return a.run(c.Context(), s)
	}
	return command
}

// newPageCommand writes the page anew from results that are there, without measuring anything.
func (a *app) newPageCommand() *cobra.Command {
	var results, docs string
	command := &cobra.Command{
		Use:   "page",
		Short: "Write the page and its charts from the results of an earlier run",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			r, err := report.Read(results)
			if err != nil {
				return err
			}
			return a.publish(r, report.Folder{Path: docs, Charts: chartsFolder})
		},
	}
	command.Flags().StringVar(&results, "results", defaultOutput+"/results.json", "results of a run")
	command.Flags().StringVar(&docs, "docs", "docs", "folder that takes the page, with its charts and results in a folder below")
	return command
}

// firstOf is the first of variables that is set.
func (a *app) firstOf(names ...string) string {
	for _, name := range names {
		if value := a.getenv(name); value != "" {
			return value
		}
	}
	return ""
}

// hideAddresses keeps addresses, which may hold credentials, out of the text of --help.
func hideAddresses(flags *pflag.FlagSet) {
	for _, name := range []string{"uri", "redis-url"} {
		flags.Lookup(name).DefValue = ""
	}
}

// parseRows reads numbers of rows such as 10k,1m and returns them ascending, each once.
func parseRows(text string) ([]int, error) {
	var all []int
	for part := range strings.SplitSeq(text, ",") {
		digits, unit := strings.ToLower(strings.TrimSpace(part)), 1
		for suffix, factor := range map[string]int{"k": 1_000, "m": 1_000_000} {
			if rest, found := strings.CutSuffix(digits, suffix); found {
				digits, unit = rest, factor
				break
			}
		}
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 || n > maxRows/unit {
			return nil, fmt.Errorf("--rows: %q is no number of rows from 1 to %d, such as 10000, 10k or 1m", part, maxRows)
		}
		all = append(all, n*unit)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// choose returns the groups that text names, in their own order, or all.
func (a *app) choose(text string) ([]groups.Group, error) {
	if text == "" {
		return a.groups, nil
	}
	wanted := strings.Split(text, ",")
	for _, id := range wanted {
		if !slices.Contains(ids(a.groups), id) {
			return nil, fmt.Errorf("--groups: there is no group %q; there are %s", id, strings.Join(ids(a.groups), ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(a.groups), func(g groups.Group) bool { return !slices.Contains(wanted, g.ID) }), nil
}

func ids(all []groups.Group) []string {
	out := make([]string, len(all))
	for i, g := range all {
		out[i] = g.ID
	}
	return out
}

// repeat is the command that repeats a run, from a clone: what make gives the benchmarks is not told.
func (a *app) repeat(flags *pflag.FlagSet) string {
	command := "make bench"
	if engine := a.getenv("ENGINE"); engine != "" {
		command += " ENGINE=" + engine
	}
	var given []string
	flags.Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "uri", "redis-url", "binary", "output":
		default:
			given = append(given, "--"+f.Name+" "+f.Value.String())
		}
	})
	if len(given) > 0 {
		command += " BENCH_FLAGS='" + strings.Join(given, " ") + "'"
	}
	return command
}
