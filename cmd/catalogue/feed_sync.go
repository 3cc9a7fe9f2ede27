package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/spf13/cobra"

	"catalogue/comments"
	"catalogue/creatives"
	follower "catalogue/feed/sync"
	"catalogue/internal/config"
	"catalogue/tasks"
)

const (
	syncLimit    = 100
	syncInterval = 15 * time.Second // what crawlers of this feed sleep
	// syncGiveUp is how long a run that has an end waits for a server that does not answer.
	syncGiveUp = 2 * time.Minute
	// syncShownIDs is how many of the objects that are gone are named.
	syncShownIDs = 10
)

// syncFields are the fields of each feed, as its objects have them.
func syncFields() map[string][]string {
	return map[string][]string{
		creatives.Collection: jsonNames[creatives.Creative](),
		tasks.Collection:     jsonNames[tasks.Task](),
		comments.Collection:  jsonNames[comments.Comment](),
	}
}

// jsonNames returns the names of T's fields in JSON.
func jsonNames[T any]() []string {
	var out []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" {
			out = append(out, name)
		}
	}
	return out
}

// syncJob is what the command line asks for.
type syncJob struct {
	options   follower.Options
	optFields string
	verify    bool
}

func newFeedSyncCommand(a *app) *cobra.Command {
	var job syncJob
	command := &cobra.Command{
		Use:   "sync --dir FOLDER",
		Short: "Keep a copy of a feed in a folder",
		Long: `Keep a copy of a feed as FOLDER/copy.jsonl, one object a line; of several lines with one id the last counts.

It follows the feed until it is stopped, and goes on where it stopped, also after a crash. The feed does not tell of
objects that were deleted or became drafts: --verify finds them, so run it now and then. Its exit code is 1 where copy
and feed still differ.

A copy of which a part was lost is refused; --verify brings it again.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.completeSync(&job, c.Flags().Changed); err != nil {
				return &exitError{code: exitUsage, err: err}
			}
			return a.syncFeed(c.Context(), job)
		},
	}
	flags, o := command.Flags(), &job.options
	flags.StringVar(&o.Dir, "dir", "", "the `folder` of the copy, of this feed alone")
	flags.StringVar(&o.Resource, "resource", creatives.Collection, "the `feed`: creatives, tasks or comments")
	flags.StringVar(&o.URL, "url", "",
		"the server's `address` (default CATALOGUE_PUBLIC_URL, else http:// and CATALOGUE_HTTP_ADDR)")
	flags.StringVar(&o.Mode, "mode", "", "`which` objects: test, _all_, else those that are no tests")
	flags.StringVar(&job.optFields, "opt-fields", "", "`fields` of the copy, separated by commas (default all of them)")
	flags.IntVar(&o.Limit, "limit", syncLimit,
		fmt.Sprintf("`rows` a page, %d to %d", follower.LeastLimit, follower.MostLimit))
	flags.BoolVar(&o.Once, "once", false, "end when the copy has caught up")
	flags.DurationVar(&o.Interval, "interval", syncInterval, "`time` between two looks when the copy has caught up")
	flags.DurationVar(&o.GiveUp, "give-up", 0,
		fmt.Sprintf("longest `time` without an answer; 0 is for ever (default %s with --once or --verify)", syncGiveUp))
	flags.BoolVar(&o.Restart, "restart", false, "drop what is in the folder and start anew")
	flags.BoolVar(&o.Moved, "moved", false, "go on with a copy of the same feed that was made from another --url")
	flags.BoolVar(&job.verify, "verify", false, "walk the whole feed once, repair the copy, compare the two, and end")
	if err := command.MarkFlagRequired("dir"); err != nil {
		panic(err) // the flag stands some lines above
	}
	return command
}

// completeSync fills in what depends on other flags and on the environment.
func (a *app) completeSync(job *syncJob, given func(flag string) bool) error {
	known := syncFields()
	all, there := known[job.options.Resource]
	if !there {
		return fmt.Errorf("unknown resource %q: it must be one of %s",
			job.options.Resource, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	job.options.Fields = all
	if given("opt-fields") {
		job.options.Fields = strings.FieldsFunc(job.optFields, func(r rune) bool { return r == ',' || r == ' ' })
	}
	job.options.Mend = job.verify
	if !given("give-up") && (job.options.Once || job.verify) {
		job.options.GiveUp = syncGiveUp
	}
	if job.options.URL == "" {
		job.options.URL = env.ToMap(a.environ)["CATALOGUE_PUBLIC_URL"]
	}
	if job.options.URL == "" {
		address, err := config.LoadAddress(a.environ)
		if err != nil {
			return err
		}
		job.options.URL = "http://" + reachable(address.HTTPAddr)
	}
	return job.options.Check()
}

func (a *app) syncFeed(ctx context.Context, job syncJob) (err error) {
	progress := newSyncProgress(a.stderr, job.options.Resource, a.now)
	job.options.Progress, job.options.Note = progress.show, progress.note
	f, err := follower.Open(job.options)
	if err != nil {
		return syncAdvice(err)
	}
	defer func() {
		if closeErr := f.Close(); closeErr != nil {
			err = errors.Join(err, fmt.Errorf("close the copy: %w", closeErr))
		}
	}()
	if job.verify {
		progress.expect(f.Entries())
		found, err := f.Verify(ctx)
		progress.done()
		if err != nil {
			return syncAdvice(err)
		}
		return a.reportVerify(found)
	}
	err = f.Follow(ctx)
	progress.done()
	if _, printErr := fmt.Fprintf(a.stdout, "%d objects in the copy\n", f.Entries()); printErr != nil {
		err = errors.Join(err, printErr)
	}
	return syncAdvice(err)
}

// syncAdvice adds what to do.
func syncAdvice(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return &exitError{code: exitInterrupted, err: errors.New("interrupted: the same command goes on from here")}
	case errors.Is(err, follower.ErrShort):
		return fmt.Errorf("%w: --verify brings again what is lost, --restart drops the copy and starts anew", err)
	case errors.Is(err, follower.ErrMoved):
		return fmt.Errorf("%w: where that is the same feed, go on with --moved; otherwise start anew with --restart, "+
			"which drops the copy", err)
	case errors.Is(err, follower.ErrOffset), errors.Is(err, follower.ErrDamaged), errors.Is(err, follower.ErrOther):
		return fmt.Errorf("%w: start anew with --restart, which drops the copy", err)
	default:
		return err
	}
}

func (a *app) reportVerify(found follower.Report) error {
	var text strings.Builder
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(&text, format+"\n", args...) } // it cannot fail
	line("walked     %d", found.Walked)
	line("added      %d", found.Added)
	line("refreshed  %d", found.Refreshed)
	gone := fmt.Sprintf("gone       %d", len(found.Gone))
	if len(found.Gone) > 0 {
		gone += ": " + strings.Join(found.Gone[:min(len(found.Gone), syncShownIDs)], ", ")
	}
	if len(found.Gone) > syncShownIDs {
		gone += " …"
	}
	line("%s", gone)
	if found.Unshown > 0 {
		line("held back  %d, which exist and were not shown", found.Unshown)
	}
	line("copy       %d objects, digest %s", found.Copy.Count, found.Copy.Digest)
	line("feed       %d objects, digest %s", found.Feed.Count, found.Feed.Digest)
	if found.Equal() {
		line("copy and feed are equal")
	}
	if _, err := io.WriteString(a.stdout, text.String()); err != nil {
		return err
	}
	if !found.Equal() {
		return errors.New("copy and feed differ")
	}
	return nil
}
