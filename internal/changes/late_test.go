package changes_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/changes"
	"catalogue/internal/mongodb"
	"catalogue/internal/mongotest"
)

// A database that hangs holds a write up until its time is over, and hardly longer.
func TestAWriteEndsWithItsTime(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions)
	const margin = 500 * time.Millisecond // of which cleaning up may take 100 ms
	db := database(t)
	for name, meanwhile := range map[string]func(ctx context.Context, db *mongo.Database) error{
		"in its middle": func(ctx context.Context, db *mongo.Database) error {
			_, err := db.Collection("others").InsertOne(ctx, bson.M{})
			return err
		},
		"at its commit": func(context.Context, *mongo.Database) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			created := newJob(t, db, job{Name: new("a")})
			uri, proxy := mongotest.NewProxy(t)
			client, err := mongodb.Connect(t.Context(), mongodb.Options{URI: uri, Database: db.Name()})
			require.NoError(t, err)
			defer func() { _ = client.Disconnect(t.Context()) }()
			defer proxy.Restore()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			end, _ := ctx.Deadline()
			var session bson.Raw
			_, err = jobWriter(client.Database()).Patch(ctx, changes.Change[job]{
				ID: created.ID, Apply: func(j *job) error { j.Name = new(name); return nil },
				Inside: func(ctx context.Context, _ changes.Saved[job]) error {
					session = mongo.SessionFromContext(ctx).ID()
					proxy.Stall()
					return meanwhile(ctx, client.Database())
				},
			})
			late := time.Since(end)
			// Nobody has told the server to end the transaction, which keeps the database from being dropped.
			kill := bson.D{{Key: "killSessions", Value: bson.A{session}}}
			require.NoError(t, db.Client().Database("admin").RunCommand(t.Context(), kill).Err())
			require.Error(t, err)
			require.Less(t, late, margin)
		})
	}
}
