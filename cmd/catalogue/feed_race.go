package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/creatives"
	"catalogue/feed"
	"catalogue/feed/race"
	"catalogue/indexes"
	"catalogue/internal/changes"
	"catalogue/internal/config"
	"catalogue/internal/httpserver"
	"catalogue/internal/mongodb"
	"catalogue/internal/strictbson"
)

const (
	// maxDatabaseName is MongoDB's own limit, in bytes.
	maxDatabaseName = 63
	// racePrepareTimeout and raceDropTimeout bound what Ctrl-C does not cut short: what is left alone half done would make
	// the database anew after it was dropped.
	racePrepareTimeout = time.Minute
	raceDropTimeout    = 30 * time.Second
	// raceRequestTimeout is that of a request to the feed.
	raceRequestTimeout = 10 * time.Second

	// A race's database is named after the catalogue's, with this and some random bytes in hexadecimal behind it.
	raceInfix   = "_race_"
	raceIDBytes = 6

	formatTable = "table"
	formatJSON  = "json"
)

// raceJob is what the command line asks for.
type raceJob struct {
	plan   race.Plan
	format string
	out    string // the folder of the picture; empty for one in the system's temp
}

func newFeedRaceCommand(a *app) *cobra.Command {
	var job raceJob
	command := &cobra.Command{
		Use:   "race",
		Short: "Show which rows the feed loses under each ordering, and which it does not",
		Long: `Show which rows the feed loses under each ordering, and which it does not.

Writers write creatives into a database of their own beside the catalogue's, which is dropped at the end; for each
ordering a follower reads the feed over HTTP meanwhile. What was written is then compared with what each has seen.

A part of the writes hold their transaction open for a while, as a slow commit does. A write that was acknowledged
within the delay is safe under the watermark; one that took longer may be lost, and is counted apart. The exit code is
1 where an ordering that promises to lose nothing lost a row within the delay.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.feedRace(c.Context(), job) },
	}
	flags := command.Flags()
	flags.DurationVar(&job.plan.Duration, "duration", 20*time.Second, "how `long` is written")
	flags.IntVar(&job.plan.Writers, "writers", 8, "`number` of writers")
	flags.Float64Var(&job.plan.SlowShare, "slow-share", 0.02, "`share` of the writes that are held open, 0 to 1")
	flags.DurationVar(&job.plan.SlowTime, "slow-time", 600*time.Millisecond, "how `long` they are")
	flags.DurationVar(&job.plan.Delay, "delay", time.Second, "how `long` the watermark holds rows back")
	flags.StringVar(&job.format, "format", formatTable, "`form` of the result: table or json")
	flags.StringVar(&job.out, "out", "", "the `folder` for the picture (default a new one for temporary files)")
	return command
}

func (j raceJob) check() error {
	wrong := j.plan.Check()
	if j.format != formatTable && j.format != formatJSON {
		wrong = errors.Join(wrong, fmt.Errorf("format must be %s or %s", formatTable, formatJSON))
	}
	return wrong
}

// feedRace runs a race and shows what came of it.
func (a *app) feedRace(ctx context.Context, job raceJob) error {
	if err := job.check(); err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	if err := checkRacePicture(job.out); err != nil {
		return err
	}
	return a.withDatabase(ctx, func(ctx context.Context, base config.Base, client *mongodb.Client) error {
		result, err := a.raceApart(ctx, base, client.Database(), job.plan)
		if err != nil {
			return err
		}
		return errors.Join(a.showRace(result, job), result.Broken())
	})
}

// showRace prints the result, also where its picture cannot be drawn.
func (a *app) showRace(result race.Result, job raceJob) error {
	picture, err := drawRace(result, job.out)
	report := result.Report(picture)
	if job.format == formatJSON {
		return errors.Join(report.JSON(a.stdout), err)
	}
	return errors.Join(report.Table(a.stdout), err)
}

// raceApart makes a database for the race and drops it again, whatever happens.
func (a *app) raceApart(
	ctx context.Context, base config.Base, own *mongo.Database, plan race.Plan,
) (result race.Result, err error) {
	if err := a.nameRacesLeft(ctx, own); err != nil {
		return race.Result{}, err
	}
	id := make([]byte, raceIDBytes)
	_, _ = rand.Read(id) // never fails, by its documentation
	name, err := raceDatabase(own.Name(), hex.EncodeToString(id))
	if err != nil {
		return race.Result{}, err
	}
	db := own.Client().Database(name)
	if err := mustBeEmpty(ctx, db); err != nil {
		return race.Result{}, err
	}
	defer func() { err = errors.Join(err, dropRace(ctx, db)) }()
	if _, err := fmt.Fprintf(a.stderr, "writing for %s into the database %s, which is dropped at the end\n",
		plan.Duration, name); err != nil {
		return race.Result{}, err
	}
	base.LogLevel = max(base.LogLevel, slog.LevelWarn) // not a line for every page
	result, err = runRace(ctx, db, plan, a.logger(base))
	if err != nil && ctx.Err() != nil {
		return result, &exitError{code: exitInterrupted, err: errors.New("interrupted: nothing is compared")}
	}
	return result, mongodb.Convert(err)
}

// raceDatabase is the name of a race's database. It is never the catalogue's own, since it is dropped.
func raceDatabase(own, id string) (string, error) {
	name := own + raceInfix + id
	if own == "" || id == "" || name == own {
		return "", errors.New("a race needs a database of its own")
	}
	if len(name) > maxDatabaseName {
		return "", fmt.Errorf("the name of the race's database, %s, is longer than %d bytes: use a database with a shorter name",
			name, maxDatabaseName)
	}
	return name, nil
}

// nameRacesLeft tells of the databases of races that were killed. Of a race that is running this knows nothing, so that
// it drops none.
func (a *app) nameRacesLeft(ctx context.Context, own *mongo.Database) error {
	pattern := fmt.Sprintf("^%s[0-9a-f]{%d}$", regexp.QuoteMeta(own.Name()+raceInfix), hex.EncodedLen(raceIDBytes))
	left, err := own.Client().ListDatabaseNames(ctx, bson.D{{Key: "name", Value: bson.Regex{Pattern: pattern}}})
	if err != nil {
		return fmt.Errorf("look for the databases of earlier races: %w", err)
	}
	if len(left) == 0 {
		return nil
	}
	var text strings.Builder
	text.WriteString("databases of other races are there. If none is running, drop what was left behind:\n")
	for _, name := range left {
		fmt.Fprintf(&text, "  mongosh \"$CATALOGUE_MONGODB_URI\" --eval 'db.getSiblingDB(%q).dropDatabase()'\n", name)
	}
	_, err = io.WriteString(a.stderr, text.String())
	return err
}

// mustBeEmpty refuses a database that somebody else has made: it would be dropped.
func mustBeEmpty(ctx context.Context, db *mongo.Database) error {
	names, err := db.ListCollectionNames(ctx, bson.D{})
	if err != nil {
		return fmt.Errorf("look at the race's database: %w", err)
	}
	if len(names) > 0 {
		return fmt.Errorf("the database %s exists already: it is left as it is", db.Name())
	}
	return nil
}

// dropRace drops the database also where ctx is over.
func dropRace(ctx context.Context, db *mongo.Database) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), raceDropTimeout)
	defer cancel()
	if err := db.Drop(ctx); err != nil {
		return fmt.Errorf("drop the database %s, which is not needed any more: %w", db.Name(), err)
	}
	return nil
}

// runRace races the orderings on an empty database.
func runRace(ctx context.Context, db *mongo.Database, plan race.Plan, log *slog.Logger) (race.Result, error) {
	if err := prepareRace(ctx, db); err != nil {
		return race.Result{}, err
	}
	clock := feed.DatabaseClock(db)
	none, err := raceServer(db, feed.None{}, log) //nolint:contextcheck // handlers have their requests' contexts
	if err != nil {
		return race.Result{}, err
	}
	watermark, err := raceServer(db, feed.NewWatermark(clock, plan.Delay), log) //nolint:contextcheck // the same
	if err != nil {
		return race.Result{}, err
	}
	writer := race.NewCreativeWriter(changes.NewWriter(db, creatives.Kind(), bson.NewObjectID))
	return race.Run(ctx, plan, writer, race.Clock(clock),
		race.Ordering{Name: config.OrderingNone, Handler: none},
		race.Ordering{Name: config.OrderingWatermark, Lossless: true, Handler: watermark},
	)
}

// prepareRace builds the indexes of the product, so that writes take as long as they do there.
func prepareRace(ctx context.Context, db *mongo.Database) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), racePrepareTimeout)
	defer cancel()
	can, err := mongodb.Probe(ctx, db)
	if err != nil {
		return err
	}
	if !can.Transactions {
		return errors.New("a race holds transactions open, and the database has none")
	}
	declared := indexes.Distinct(creatives.Indexes(), feed.Indexes(creatives.Collection))
	return indexes.Apply(ctx, db, declared, func(indexes.Standing) {})
}

// raceServer is the server with the feed of creatives, without a rate limit.
func raceServer(db *mongo.Database, ordering feed.Ordering, log *slog.Logger) (http.Handler, error) {
	server, err := httpserver.New(httpserver.Options{
		Logger: log, RequestTimeout: raceRequestTimeout, Foreign: httpserver.Foreign{Prefix: feed.Prefix + "/", Fail: feed.Fail},
	})
	if err != nil {
		return nil, err
	}
	index := feed.Index(creatives.Collection).Name() // just built, under its own name
	store := feed.NewStore(db.Collection(creatives.Collection), func() string { return index }, nil)
	feed.Register(server.Routes(), feed.Services{Ordering: ordering, Logger: log}, feed.Resource[creatives.Creative]{
		Path: "creatives", Collection: creatives.Collection, Decoder: strictbson.New[creatives.Creative](),
	}, store)
	return server.Handler(), nil
}
