// Package mongodb connects to MongoDB and turns the driver's errors into what clients may see.
package mongodb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

// The settings of every client that Options leave open.
const (
	DefaultMaxPoolSize            = 100
	DefaultServerSelectionTimeout = 5 * time.Second

	// connectTimeout bounds one handshake. The driver's own 30 s would keep a place in the queue of new
	// connections for long after the requests that asked for it have ended.
	connectTimeout = 5 * time.Second
	// maxConnecting lets a burst after a quiet hour open its connections faster than two at a time.
	maxConnecting = 8
	// maxConnIdleTime is shorter than what firewalls and load balancers allow a silent connection.
	maxConnIdleTime = 5 * time.Minute
	// firstPingTimeout bounds Connect, also where a server lets itself be connected to and then hangs.
	firstPingTimeout = 10 * time.Second
	// disconnectTimeout bounds Disconnect: the driver waits without end for connections that are in use.
	disconnectTimeout = 5 * time.Second
)

// Options say where the database is and how much of it one client may use.
type Options struct {
	URI      string
	Database string
	AppName  string // shown in the server's log and in currentOp

	MaxPoolSize            uint64                // zero means DefaultMaxPoolSize
	ServerSelectionTimeout time.Duration         // zero means DefaultServerSelectionTimeout
	Monitor                *event.CommandMonitor // told of every command; may be nil
}

// Client is a pool of connections to one database.
type Client struct {
	client   *mongo.Client
	database *mongo.Database
}

// Open makes a client without waiting for the server: it fails only where the options are wrong. Its connections
// are made when they are needed, and again after an outage.
func Open(o Options) (*Client, error) {
	settings, err := clientOptions(o)
	if err != nil {
		return nil, err
	}
	client, err := mongo.Connect(settings)
	if err != nil {
		return nil, uriError(o.URI, err)
	}
	return &Client{client: client, database: client.Database(o.Database)}, nil
}

// Connect is Open followed by Ping, for programs that can do nothing without the server.
func Connect(ctx context.Context, o Options) (*Client, error) {
	c, err := Open(o)
	if err != nil {
		return nil, err
	}
	pinging, cancel := context.WithTimeout(ctx, firstPingTimeout)
	defer cancel()
	if err := c.Ping(pinging); err != nil {
		return nil, errors.Join(err, c.Disconnect(ctx))
	}
	return c, nil
}

// Database returns the handle of the database named in the options.
func (c *Client) Database() *mongo.Database { return c.database }

// Ping asks the primary for a sign of life. Its errors are converted.
func (c *Client) Ping(ctx context.Context) error {
	return Convert(c.client.Ping(ctx, readpref.Primary()))
}

// Disconnect closes the client. Operations that still run get a moment to end, also where ctx is over already;
// after it their connections are closed under them.
func (c *Client) Disconnect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), disconnectTimeout)
	defer cancel()
	if err := c.client.Disconnect(ctx); err != nil {
		return fmt.Errorf("disconnect from the database: %w", err)
	}
	return nil
}

func clientOptions(o Options) (*options.ClientOptions, error) {
	if o.Database == "" {
		return nil, errors.New("the name of the database is missing")
	}
	settings := options.Client().ApplyURI(o.URI)
	if err := settings.Validate(); err != nil {
		return nil, uriError(o.URI, err)
	}
	// A timeoutMS in the URI would end each command by itself, whatever the deadline of its request.
	settings.Timeout = nil
	// Pages go on from where the last one ended, so all are read where the writes are; a preference or concern in the
	// URI would hold for counts and not for commands built by hand.
	settings.SetReadPreference(readpref.Primary()).SetReadConcern(readconcern.Local())
	// A write that was acknowledged survives a failover, whatever the URI asks for.
	settings.SetWriteConcern(writeconcern.Majority())
	return settings.
		SetAppName(o.AppName).
		SetMaxPoolSize(orDefault(o.MaxPoolSize, DefaultMaxPoolSize)).
		SetMaxConnecting(maxConnecting).
		SetMaxConnIdleTime(maxConnIdleTime).
		SetConnectTimeout(connectTimeout).
		SetServerSelectionTimeout(orDefault(o.ServerSelectionTimeout, DefaultServerSelectionTimeout)).
		SetMonitor(o.Monitor).
		SetBSONOptions(bsonOptions()), nil
}

// bsonOptions are spelled out although they are the driver's defaults, since stored data depends on them: names come
// from bson tags alone, dates are UTC whatever TZ says, no fraction is dropped, and what is left out is what a tag
// leaves out.
func bsonOptions() *options.BSONOptions {
	return &options.BSONOptions{
		UseJSONStructTags:      false,
		UseLocalTimeZone:       false,
		AllowTruncatingDoubles: false,
		IntMinSize:             false,
		OmitEmpty:              false,
		ObjectIDAsHexString:    false,
	}
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

// CheckURI reports what is wrong with a URI, without a look at any server: the seed list that a mongodb+srv URI names
// in DNS is first asked for by Open.
func CheckURI(uri string) error {
	if strings.HasPrefix(uri, "mongodb+srv://") {
		return nil
	}
	if err := options.Client().ApplyURI(uri).Validate(); err != nil {
		return uriError(uri, err)
	}
	return nil
}

// uriError keeps the driver's words only where the URI has no credentials that they could repeat.
func uriError(uri string, err error) error {
	if strings.Contains(uri, "@") {
		return errors.New("the MongoDB URI is not valid (what is wrong is not shown, since it holds credentials)")
	}
	return fmt.Errorf("the MongoDB URI is not valid: %w", err)
}
