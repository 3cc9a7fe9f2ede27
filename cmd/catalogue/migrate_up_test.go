package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/mongotest"
	"catalogue/migrations"
)

func TestMigrateUpBuildsOnceAndSaysSo(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.SchemaTitles)
	d := newDeployment(t)
	d.plantOld(t, 50)
	first := d.up(t)
	n := len(declaredIndexes())
	require.Equal(t, n, strings.Count(first.stdout, "built  "))
	require.Contains(t, first.stdout, "applied   0001 stamps, 50 changes\n")
	require.Contains(t, first.stdout, "applied   0003 stray_types, 5 changes\n")
	require.Contains(t, first.stdout,
		fmt.Sprintf("%d of %d indexes are ready, %d of them built now; 3 data migrations ran\n", n, n, n))
	require.Empty(t, first.stderr)
	d.requireMigrated(t, 50)
	d.requireDeclared(t)

	second := d.up(t)
	require.Equal(t, fmt.Sprintf("%d of %d indexes are ready, 0 of them built now; 0 data migrations ran\n", n, n), second.stdout)
	d.requireMigrated(t, 50)
}

func TestMigrateUpQuietSaysWhatMatters(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.ExplainPlans, mongotest.SchemaTitles)
	d := newDeployment(t)
	plant(t, d.db, "tasks", bson.D{{Key: "priority", Value: "high"}})
	o := d.migrate(t.Context(), "up", "--quiet")
	require.Equal(t, exitOK, o.code, o.stderr)
	require.Equal(t, 2, strings.Count(o.stdout, "\n"), o.stdout)
	require.Contains(t, o.stdout, "note      0003 stray_types: left as it is: tasks ")
}

func TestMigrateUpDryRunChangesNothing(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	d.plantOld(t, 30)
	held := d.holdLock(t) // it needs no lock
	before := everything(t, d)
	o := d.migrate(t.Context(), "up", "--dry-run")
	require.Equal(t, exitOK, o.code, o.stderr)
	require.Regexp(t, `(?m)^tasks {title: 1, _id: 1} +missing +build`, o.stdout)
	require.Regexp(t, `(?m)^0001 stamps +pending +30 changes$`, o.stdout)
	require.Regexp(t, `(?m)^0003 stray_types +pending +3 changes$`, o.stdout)
	require.Equal(t, before, everything(t, d))
	require.NoError(t, held.Release(t.Context()))
}

// everything is what a database has: collections, indexes and the rows of plantOld.
func everything(t *testing.T, d deployment) string {
	t.Helper()
	names, err := d.db.ListCollectionNames(t.Context(), bson.D{})
	require.NoError(t, err)
	return fmt.Sprint(len(names), mongotest.Everything(t, d.db.Collection("tasks"), bson.D{}), d.names(t))
}

// Rows that break a unique index are named; the other indexes are built and the data is migrated.
func TestMigrateUpGoesOnAfterAnIndexThatCannotBeBuilt(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.DuplicatesNamed, mongotest.SchemaTitles)
	d := newDeployment(t)
	source := bson.D{{Key: "system", Value: "s"}, {Key: "id", Value: "1"}}
	a, b := bson.NewObjectID(), bson.NewObjectID()
	for _, id := range []bson.ObjectID{a, b} {
		plant(t, d.db, "creatives", bson.D{{Key: "_id", Value: id}, {Key: "source", Value: source}})
	}
	o := d.migrate(t.Context(), "up")
	require.Equal(t, exitFailure, o.code)
	require.Equal(t, 1, strings.Count(o.stdout, "failed "))
	require.Contains(t, o.stdout, a.Hex())
	require.Contains(t, o.stdout, b.Hex())
	n := len(declaredIndexes())
	require.Contains(t, o.stdout,
		fmt.Sprintf("%d of %d indexes are ready, %d of them built now; 3 data migrations ran\n", n-1, n, n-1))
	require.Contains(t, o.stderr, "1 index could not be made ready")

	_, err := d.db.Collection("creatives").DeleteOne(t.Context(), bson.D{{Key: "_id", Value: b}})
	require.NoError(t, err)
	d.up(t)
	d.requireDeclared(t)
}

func TestMigrateUpLeavesWhereAnotherWorksTooLong(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.SchemaTitles)
	d := newDeployment(t)
	held := d.holdLock(t)
	for _, args := range [][]string{
		{"up", "--wait", "50ms"}, {"retire", "--wait", "50ms"}, {"unhide", "x", "--wait", "0s"}, {"enforce", "--wait", "0s"},
	} {
		o := d.migrate(t.Context(), args...)
		require.Equal(t, exitLocked, o.code, "%v: %s", args, o.stderr)
		require.Contains(t, o.stderr, "version v0 on elsewhere (7) has held the lock since ")
		require.Contains(t, o.stderr, "nothing was done; try again when that has ended, or wait longer with --wait")
		require.Empty(t, o.stdout)
	}
	require.NoError(t, held.Release(t.Context()))
	d.up(t)
}

func TestMigrateUpWaitsForAnother(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.SchemaTitles)
	d := newDeployment(t)
	held := d.holdLock(t)
	stderr, ended := &syncBuffer{}, make(chan int)
	go func() { ended <- run(t.Context(), []string{"migrate", "up"}, d.environ, io.Discard, stderr) }()
	require.Eventually(t, func() bool { return strings.Contains(stderr.String(), "\n") }, patience, time.Millisecond)
	require.Contains(t, stderr.String(), "waiting for version v0 on elsewhere (process 7), which has worked on the database since ")
	require.Contains(t, d.migrate(t.Context(), "plan").stdout, "0 of 36 ")
	require.NoError(t, held.Release(t.Context()))
	require.Equal(t, exitOK, <-ended)
	d.requireDeclared(t)
}

// acting is an output at whose first line something happens.
type acting struct {
	bytes.Buffer
	once sync.Once
	act  func()
}

func (w *acting) Write(p []byte) (int, error) {
	w.once.Do(w.act)
	return w.Buffer.Write(p)
}

func TestMigrateUpIsInterrupted(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.SchemaTitles)
	d := newDeployment(t)
	ctx, interrupt := context.WithCancel(t.Context())
	var stderr bytes.Buffer
	stdout := &acting{act: interrupt}
	code := run(ctx, []string{"migrate", "up"}, d.environ, stdout, &stderr)
	require.Equal(t, exitInterrupted, code, stderr.String())
	require.Equal(t, "catalogue: interrupted: the same command again goes on from here\n", stderr.String())
	require.Less(t, strings.Count(stdout.String(), "built  "), len(declaredIndexes()))
	_, held, err := d.lock().Holding(t.Context())
	require.NoError(t, err)
	require.False(t, held, "the lock is free at once")
	d.up(t)
	d.requireDeclared(t)
}

// The lease ends under its holder, as it does for one that was paused: another one has the lock, and the first ends.
func TestMigrateUpEndsWhereItLosesTheLock(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.SchemaTitles)
	d := newDeployment(t)
	var stderr bytes.Buffer
	var other *migrations.Held
	stdout := &acting{act: func() {
		_, err := d.db.Collection(migrations.Collection).UpdateOne(t.Context(), bson.D{},
			bson.D{{Key: "$set", Value: bson.D{{Key: "until", Value: bson.DateTime(0)}}}})
		require.NoError(t, err)
		other = d.holdLock(t)
	}}
	code := run(t.Context(), []string{"migrate", "up"}, d.environ, stdout, &stderr)
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr.String(), "the lock was lost")
	require.Contains(t, stderr.String(), "run the same command again")
	require.Equal(t, 1, strings.Count(stdout.String(), "built  "), "nothing is built any more")
	require.NoError(t, other.Release(t.Context()), "what it held is left alone")
	d.up(t)
	d.requireDeclared(t)
}

func TestProgressOfMigrateIsALineNowAndThen(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.Unix(0, 0)
	p := newMigrateProgress(&out, func() time.Time { return now })
	for range 25 {
		now = now.Add(time.Second)
		p.show(workStep{work: "build a {b: 1}", detail: "3s scanning", done: 1, total: 4})
	}
	now = now.Add(time.Minute)
	p.show(workStep{work: "migrate 0001 stamps", detail: "5 changes"})
	require.Equal(t, strings.Repeat("build a {b: 1}: 3s scanning 25 %\n", 2)+"migrate 0001 stamps: 5 changes\n", out.String())
}

func TestProgressOfMigrateIsABarOnATerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := newMigrateProgress(&out, time.Now)
	p.terminal = true
	p.show(workStep{work: "build a {b: 1}", detail: "0s"})
	p.show(workStep{work: "build a {b: 1}", detail: "1s scanning", done: 1, total: 4})
	require.Contains(t, out.String(), "build a {b: 1} 1s scanning")
	require.Contains(t, out.String(), "25%")
	p.clear()
	require.Nil(t, p.bar)
}
