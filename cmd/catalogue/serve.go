package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"golang.org/x/sync/errgroup"

	"catalogue/feed"
	"catalogue/indexes"
	"catalogue/internal/config"
	"catalogue/internal/editing"
	"catalogue/internal/httpserver"
	"catalogue/internal/idempotency"
	"catalogue/internal/listing"
	"catalogue/internal/mongodb"
	"catalogue/pagination"
)

// claimMargin is how much longer than a request a claim on an idempotency key is held: what holds it then is dead.
const claimMargin = 5 * time.Second

// gcPercent is how much garbage may pile up beside what is in use, in hundredths of that. A server keeps some megabytes
// and makes a tenth of one for each page: at Go's own 100 it would collect after every few dozen pages, which took a
// tenth of each page's time.
const gcPercent = 400

func newServeCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Serve lists, writes and the feed over HTTP",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return a.serve(c.Context()) },
	}
}

// serve runs the server until ctx is done.
func (a *app) serve(ctx context.Context) error {
	c, err := config.Load(a.environ)
	if err != nil {
		return err
	}
	log := a.logger(c.Base)
	log.InfoContext(ctx, "configuration", slog.Any("config", c))
	if c.CursorKeyIsRandom {
		log.WarnContext(ctx, "cursors end with this process: CATALOGUE_CURSOR_KEY is not set")
	}
	if os.Getenv("GOGC") == "" { // whoever sets it knows better
		debug.SetGCPercent(gcPercent)
	}
	listener, err := listen(ctx, c.HTTPAddr)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // closed already where the server ran
	return a.serveOn(ctx, c, log, listener)
}

// serveOn opens the clients of the database, and closes them when the last request has ended.
func (a *app) serveOn(ctx context.Context, c config.Config, log *slog.Logger, listener net.Listener) (err error) {
	client, err := mongodb.Open(databaseOptions(c.Base))
	if err != nil {
		return err
	}
	probe, err := openProbe(c.Base)
	if err != nil {
		return errors.Join(err, client.Disconnect(ctx))
	}
	defer func() { err = errors.Join(err, disconnect(ctx, client, probe)) }()

	state := indexes.NewState(probe.Database(), declaredIndexes(), a.now)
	ready := readiness{probe: probe, state: state}
	shut := newGate()
	counts, closeCounts, err := openCounts(c, log, a.now) //nolint:contextcheck // connections are made when they are needed
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeCounts()) }()
	server, err := a.newServer(c, log, client, ready, state, shut, counts) //nolint:contextcheck // handlers have their requests' contexts
	if err != nil {
		return err
	}
	log.InfoContext(ctx, "listening", slog.String("url", "http://"+reachable(listener.Addr().String())))
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return server.Run(ctx, listener) })
	group.Go(func() error {
		prepareIndexes(ctx, c.Indexes, client.Database(), state, log)
		return nil
	})
	group.Go(func() error {
		shut.probe(ctx, client.Database(), log)
		return nil
	})
	group.Go(func() error {
		watchIndexes(ctx, state, log)
		return nil
	})
	return group.Wait()
}

// disconnect closes both clients at once: each may take a while where the database hangs.
func disconnect(ctx context.Context, clients ...*mongodb.Client) error {
	var group errgroup.Group
	for _, client := range clients {
		group.Go(func() error { return client.Disconnect(ctx) })
	}
	return group.Wait()
}

// newServer makes the server with every route.
func (a *app) newServer(
	c config.Config, log *slog.Logger, client *mongodb.Client, ready httpserver.Readiness, state *indexes.State,
	shut *gate, counts listing.Counter,
) (*httpserver.Server, error) {
	keys := make([]string, len(c.CursorKeys))
	for i, key := range c.CursorKeys {
		keys[i] = key.Reveal()
	}
	keyring, err := pagination.NewKeyring(keys...)
	if err != nil {
		return nil, fmt.Errorf("the cursor keys: %w", err)
	}
	server, err := httpserver.New(httpserver.Options{
		Logger: log, Readiness: ready, TrustedProxies: c.TrustedProxies,
		RequestTimeout: c.RequestTimeout, ShutdownGrace: c.ShutdownGrace, ShutdownDrain: c.ShutdownDrain,
		Foreign: httpserver.Foreign{Prefix: feed.Prefix + "/", Fail: feed.Fail},
	})
	if err != nil {
		return nil, err
	}
	db := client.Database()
	err = catalogue{
		db: db, state: state, log: log, gate: shut,
		lists: listing.Services{Keys: keyring, Counter: counts, Hints: state, Now: a.now, PublicURL: c.PublicURL},
		writes: editing.Services{
			TrustUser: c.TrustUserHeader, Keys: idempotency.NewStore(db, c.RequestTimeout+claimMargin),
			PublicURL: c.PublicURL, Log: log,
		},
		feed: feed.Services{
			Ordering: feedOrdering(c, db), Limiter: feed.NewLimiter(c.FeedRate, a.now), PublicURL: c.PublicURL, Logger: log,
		},
	}.register(server.Routes())
	if err != nil {
		return nil, err
	}
	return server, nil
}

func feedOrdering(c config.Config, db *mongo.Database) feed.Ordering {
	if c.FeedOrdering == config.OrderingNone {
		return feed.None{}
	}
	return feed.NewWatermark(feed.DatabaseClock(db), c.FeedDelay)
}

func listen(ctx context.Context, addr string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use by another program; set CATALOGUE_HTTP_ADDR to a free address", addr)
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return listener, nil
}
