package migrations_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/mongodb"
	"catalogue/internal/mongotest"
	"catalogue/migrations"
)

// What a child is told through its environment.
const (
	childDatabase = "MIGRATIONS_TEST_DATABASE"
	childURI      = "MIGRATIONS_TEST_URI"
	childLease    = "MIGRATIONS_TEST_LEASE"
	childWork     = "MIGRATIONS_TEST_WORK"
)

// What a child says, a line each.
const (
	saidReady    = "ready" // it is about to take the lock
	saidTaken    = "taken"
	saidLost     = "lost" // its work has ended since it holds the lock no more
	saidReleased = "released"
	saidNothing  = "nothing released"
)

// workForEver is a migration that saves its position again and again; the other one is that of doubling.
const workForEver = "for ever"

// child runs the migrations as a deploy does.
func child(ctx context.Context, out io.Writer) int {
	lease, err := time.ParseDuration(os.Getenv(childLease))
	if err != nil {
		panic(err)
	}
	client, err := mongodb.Connect(ctx, mongodb.Options{URI: os.Getenv(childURI), Database: os.Getenv(childDatabase)})
	if err != nil {
		panic(err)
	}
	list := []migrations.Migration{doubling()}
	if os.Getenv(childWork) == workForEver {
		list = []migrations.Migration{savingForEver()}
	}
	say := func(text string) { _, _ = fmt.Fprintln(out, text) }
	say(saidReady)
	held, working, err := migrations.NewLock(client.Database(), migrations.Holder{Host: "child", Version: "1"}, lease).
		Take(ctx, time.Minute, func(migrations.Holding) {})
	if err != nil {
		panic(err)
	}
	say(saidTaken)
	runner, err := migrations.NewRunner(client.Database(), list)
	if err != nil {
		panic(err)
	}
	err = runner.Up(working, held, func(e migrations.Event) { say(string(e.Kind)) })
	if errors.Is(err, migrations.ErrLost) {
		say(saidLost)
	}
	if held.Release(ctx) == nil {
		say(saidReleased)
	} else {
		say(saidNothing)
	}
	return 0
}

// process is a child.
type process struct {
	command *exec.Cmd
	lines   chan string // closed when the child has ended
}

func start(t *testing.T, db *mongo.Database, lease time.Duration, work string) *process {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), program)
	command.Env = append(os.Environ(), childDatabase+"="+db.Name(), childURI+"="+mongotest.URI(t),
		childLease+"="+lease.String(), childWork+"="+work)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	p := &process{command: command, lines: make(chan string, 10_000)}
	go func() {
		defer close(p.lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			p.lines <- scanner.Text()
		}
	}()
	return p
}

// until reads what the child says up to a line, or all.
func (p *process) until(t *testing.T, line string) (said []string) {
	t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	for {
		select {
		case got, ok := <-p.lines:
			if !ok {
				return said
			}
			if said = append(said, got); got == line {
				return said
			}
		case <-deadline.C:
			require.Fail(t, "the child says nothing", line)
		}
	}
}

// end waits for the child, also for one that was killed.
func (p *process) end(t *testing.T) (said []string) {
	t.Helper()
	said = p.until(t, "")
	_ = p.command.Wait() // killed on purpose, or it has said what went wrong
	return said
}

// things is a collection of documents {_id, n} with n from 1 on.
func things(t *testing.T, db *mongo.Database, count int) {
	t.Helper()
	docs := make([]any, count)
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: i + 1}, {Key: "n", Value: i + 1}}
	}
	_, err := db.Collection("things").InsertMany(t.Context(), docs)
	require.NoError(t, err)
}

// batch is how many things a migration of the tests changes between two positions.
const batch = 5

// doubling doubles n of every thing, once, in batches.
func doubling() migrations.Migration {
	return migrations.Migration{
		Number: 1, Name: "double", Version: 1,
		Run: func(ctx context.Context, s *migrations.Step) error { return double(ctx, s, 0) },
		Count: func(ctx context.Context, db *mongo.Database) (int64, error) {
			return db.Collection("things").CountDocuments(ctx, notDoubled())
		},
	}
}

func notDoubled() bson.D {
	return bson.D{{Key: "doubled", Value: bson.D{{Key: "$exists", Value: false}}}}
}

var errBroken = errors.New("the migration meets a row that it cannot change")

// double fails at the thing with the number broken, unless that is 0.
func double(ctx context.Context, s *migrations.Step, broken int) error {
	var position struct {
		After int `bson:"after"`
	}
	if s.Position() != nil {
		if err := bson.Unmarshal(s.Position(), &position); err != nil {
			return err
		}
	}
	coll := s.Database().Collection("things")
	total, err := coll.EstimatedDocumentCount(ctx)
	if err != nil {
		return err
	}
	for after := position.After; after < int(total); after += batch {
		if after < broken && broken <= after+batch {
			return errBroken
		}
		result, err := coll.UpdateMany(ctx,
			append(bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: after}, {Key: "$lte", Value: after + batch}}}}, notDoubled()...),
			bson.D{{Key: "$mul", Value: bson.D{{Key: "n", Value: 2}}}, {Key: "$set", Value: bson.D{{Key: "doubled", Value: true}}}})
		if err != nil {
			return err
		}
		if err := s.Save(ctx, bson.D{{Key: "after", Value: after + batch}}, result.ModifiedCount); err != nil {
			return err
		}
	}
	return nil
}

// requireDoubled is the state that doubling declares.
func requireDoubled(t *testing.T, db *mongo.Database, count int) {
	t.Helper()
	docs := mongotest.Everything(t, db.Collection("things"), bson.D{})
	require.Len(t, docs, count)
	for _, doc := range docs {
		id, _ := doc.Lookup("_id").AsInt64OK()
		n, _ := doc.Lookup("n").AsInt64OK()
		require.Equal(t, 2*id, n)
	}
}

// savingForEver writes as one that does not notice that it lost the lock: only the database can refuse it.
func savingForEver() migrations.Migration {
	return migrations.Migration{
		Number: 1, Name: "for_ever", Version: 1,
		Run: func(ctx context.Context, s *migrations.Step) error {
			for n := 1; ; n++ {
				if err := s.Save(context.WithoutCancel(ctx), bson.D{{Key: "n", Value: n}}, 1); err != nil {
					return err
				}
			}
		},
		Count: nothing,
	}
}

func nothing(context.Context, *mongo.Database) (int64, error) { return 0, nil }
