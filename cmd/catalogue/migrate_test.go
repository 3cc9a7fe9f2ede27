package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"catalogue/indexes"
	"catalogue/internal/mongotest"
	"catalogue/migrations"
)

// deployment is a database that commands of migrate are run on.
type deployment struct {
	db      *mongo.Database
	environ []string
}

func newDeployment(t testing.TB) deployment {
	t.Helper()
	db := mongotest.Database(t)
	return deployment{db, importEnviron(db, mongotest.URI(t))}
}

// migrate runs a command of migrate.
func (d deployment) migrate(ctx context.Context, args ...string) outcome {
	return runProgram(ctx, d.environ, append([]string{"migrate"}, args...)...)
}

// up brings the database to the declared state.
func (d deployment) up(t testing.TB) outcome {
	t.Helper()
	o := d.migrate(t.Context(), "up")
	require.Equal(t, exitOK, o.code, "%s\n%s", o.stdout, o.stderr)
	return o
}

// requireDeclared requires the state that up makes: nothing left to do, and nobody who works.
func (d deployment) requireDeclared(t testing.TB) {
	t.Helper()
	o := d.migrate(t.Context(), "plan")
	require.Equal(t, exitOK, o.code, "%s\n%s", o.stdout, o.stderr)
	require.Contains(t, o.stdout, "catalogue migrate up would do nothing.\n")
	_, held, err := d.lock().Holding(t.Context())
	require.NoError(t, err)
	require.False(t, held)
}

// lock is that of another process.
func (d deployment) lock() *migrations.Lock {
	return migrations.NewLock(d.db, migrations.Holder{Host: "elsewhere", Version: "v0", ID: "7"}, time.Minute)
}

// holdLock takes the lock as another process does.
func (d deployment) holdLock(t testing.TB) *migrations.Held {
	t.Helper()
	held, _, err := d.lock().Take(t.Context(), 0, nil)
	require.NoError(t, err)
	return held
}

// create makes an index as somebody else does.
func (d deployment) create(t testing.TB, collection string, keys bson.D, more *options.IndexOptionsBuilder) {
	t.Helper()
	_, err := d.db.Collection(collection).Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: keys, Options: more})
	require.NoError(t, err)
}

// plantOld fills a list with n rows as they were before there were revs; each tenth has a date that is a text.
func (d deployment) plantOld(t testing.TB, n int) {
	t.Helper()
	rows := make([]bson.D, n)
	for i := range rows {
		var created any = bson.DateTime(i * 1000)
		if i%10 == 0 {
			created = time.UnixMilli(int64(i * 1000)).UTC().Format(time.RFC3339)
		}
		rows[i] = bson.D{
			{Key: "title", Value: fmt.Sprint("task ", i)},
			{Key: "status", Value: "open"},
			{Key: "priority", Value: int32(1)},
			{Key: "created_at", Value: created},
		}
	}
	plant(t, d.db, "tasks", rows...)
}

// requireMigrated requires that each row of plantOld was changed by each data migration, and once.
func (d deployment) requireMigrated(t testing.TB, n int) {
	t.Helper()
	rows := mongotest.Everything(t, d.db.Collection("tasks"), bson.D{})
	require.Len(t, rows, n)
	for _, row := range rows {
		created := row.Lookup("created_at")
		require.Equal(t, bson.TypeDateTime, created.Type)
		want := int64(1)
		if created.DateTime()%10_000 == 0 {
			want = 2 // its date was brought to the declared type
		}
		rev, _ := row.Lookup("rev").AsInt64OK()
		require.Equal(t, want, rev, row)
	}
}

func TestMigratePlanShowsEachKindOfDifference(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.HiddenIndexes, mongotest.SchemaTitles)
	d := newDeployment(t)
	one := func(fields ...string) bson.D {
		keys := bson.D{}
		for _, f := range fields {
			keys = append(keys, bson.E{Key: f, Value: 1})
		}
		return keys
	}
	d.create(t, "tasks", one("priority", "_id"), options.Index().SetUnique(true))
	d.create(t, "tasks", one("due_at", "_id"), options.Index().SetName("by_due_date"))
	d.create(t, "tasks", one("closed_at", "_id"), options.Index().SetHidden(true))
	d.create(t, "tasks", one("theirs"), options.Index().SetName("title_1__id_1"))
	d.create(t, "idempotency_keys", one("expires_at"), options.Index().SetExpireAfterSeconds(5))

	before := d.migrate(t.Context(), "plan")
	require.Equal(t, exitPending, before.code, before.stderr)
	require.Empty(t, before.stderr)
	for _, row := range []string{
		`tasks {priority: 1, _id: 1} +conflict +nothing +0 documents, 0 B +priority_1__id_1 has its key, but differs in unique: look at it`,
		`tasks {due_at: 1, _id: 1} +ready +nothing +0 documents, 0 B +it is there as by_due_date, which is as good`,
		`tasks {closed_at: 1, _id: 1} +hidden +nothing +0 documents, 0 B +a person hid closed_at_1__id_1: catalogue migrate unhide closed_at_1__id_1 --collection tasks`,
		`tasks {title: 1, _id: 1} +missing +build +0 documents, 0 B +sort title of /tasks; another index is called title_1__id_1, so it gets the name title_1__id_1_2`,
		`tasks {theirs: 1} +extra +nothing +0 documents, 0 B +title_1__id_1 is not of up's making, and stays`,
		`idempotency_keys {expires_at: 1} +ready +expire +0 documents, 0 B +rows expire at another time than declared`,
		`creatives {name: 1, _id: 1} +missing +build +0 documents, 0 B +sort name of /creatives`,
		`0001 stamps +pending`,
	} {
		require.Regexp(t, `(?m)^`+row, before.stdout)
	}
	require.Contains(t, before.stdout, "run 3 data migrations. 2 indexes are left for a person.\n")

	up := d.migrate(t.Context(), "up")
	require.Equal(t, exitForPerson, up.code, up.stderr)
	require.Contains(t, up.stderr, "2 indexes are left for a person")
	require.Equal(t, 2, strings.Count(up.stdout, "left   "))
	require.Contains(t, up.stdout, "changed   idempotency_keys {expires_at: 1}")

	after := d.migrate(t.Context(), "plan")
	require.Equal(t, exitForPerson, after.code, after.stdout)
	require.Contains(t, after.stdout, "catalogue migrate up would do nothing. 2 indexes are left for a person.\n")
	require.NotContains(t, after.stdout, "missing")

	back := d.migrate(t.Context(), "unhide", "closed_at_1__id_1", "--collection", "tasks")
	require.Equal(t, outcome{exitOK, "unhidden  tasks closed_at_1__id_1 {closed_at: 1, _id: 1}\n", ""}, back)
	require.NoError(t, d.db.Collection("tasks").Indexes().DropOne(t.Context(), "priority_1__id_1"))
	d.up(t)
	d.requireDeclared(t)
}

func TestMigratePlanForPipelines(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.SchemaTitles)
	d := newDeployment(t)
	var plan migratePlan
	o := d.migrate(t.Context(), "plan", "--format", "json")
	require.Equal(t, exitPending, o.code, o.stderr)
	require.NoError(t, json.Unmarshal([]byte(o.stdout), &plan))
	require.True(t, plan.Pending)
	require.Len(t, plan.Indexes.Pending(), len(declaredIndexes()))
	require.Len(t, plan.Migrations, 3)
	require.Equal(t, migrations.Pending, plan.Migrations[0].State)

	d.up(t)
	o = d.migrate(t.Context(), "plan", "--format", "json")
	require.Equal(t, exitOK, o.code, o.stderr)
	plan = migratePlan{}
	require.NoError(t, json.Unmarshal([]byte(o.stdout), &plan))
	require.False(t, plan.Pending)
	require.Empty(t, plan.Indexes.Pending())
	require.NotNil(t, plan.Migrations, "a list, also where it is empty")
	require.Empty(t, plan.Migrations)

	o = d.migrate(t.Context(), "plan", "--format", "yaml")
	require.Equal(t, exitUsage, o.code)
	require.Contains(t, o.stderr, "format must be table or json")
}

func TestMigrateStatus(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.SchemaTitles)
	d := newDeployment(t)
	o := d.migrate(t.Context(), "status")
	require.Equal(t, exitOK, o.code, o.stderr)
	require.Regexp(t, `(?m)^0001 stamps +pending +[0-9a-f]{12} +- +- +- +- +-$`, o.stdout)
	require.Contains(t, o.stdout, "Nobody works on the database.\n")

	d.plantOld(t, 20)
	d.up(t)
	held := d.holdLock(t)
	o = d.migrate(t.Context(), "status")
	require.NoError(t, held.Release(t.Context()))
	require.Equal(t, exitOK, o.code, o.stderr)
	require.Regexp(t, `(?m)^0001 stamps +applied +[0-9a-f]{12} +\S+ \S+Z +\S+ \S+Z +20 changes +\S+ +\S+$`, o.stdout)
	require.Contains(t, o.stdout, "Version v0 on elsewhere (process 7) has worked on the database since ")
}

// What was applied is declared otherwise now: that is told with both checksums, and the indexes are built all the same.
func TestAChangedMigrationIsAnErrorThatNamesBothChecksums(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.SchemaTitles)
	d := newDeployment(t)
	d.up(t)
	other := strings.Repeat("0123", 16)
	_, err := d.db.Collection(migrations.Collection).UpdateOne(t.Context(), bson.D{},
		bson.D{{Key: "$set", Value: bson.D{{Key: "records.m0001.checksum", Value: other}}}})
	require.NoError(t, err)
	require.NoError(t, d.db.Collection("tasks").Indexes().DropOne(t.Context(), "title_1__id_1"))
	for _, command := range []string{"status", "plan", "up"} {
		o := d.migrate(t.Context(), command)
		require.Equal(t, exitFailure, o.code, command)
		require.Regexp(t, `0001 stamps ran with checksum `+other+` and has [0-9a-f]{64} now`, o.stderr, command)
	}
	require.Contains(t, d.migrate(t.Context(), "plan").stdout, "36 of 36 declared indexes are ready.")
}

func TestMigrateCheckAndEnforce(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.SchemaTitles)
	d := newDeployment(t)
	d.up(t)
	id := bson.NewObjectID()
	plant(t, d.db, "tasks", bson.D{{Key: "_id", Value: id}, {Key: "priority", Value: "high"}})

	o := d.migrate(t.Context(), "check")
	require.Equal(t, exitFailure, o.code)
	require.Equal(t, "tasks "+id.Hex()+": priority: stray type: string \"high\"\n", o.stdout)
	require.Contains(t, o.stderr, "1 value would be served strangely")
	o = d.migrate(t.Context(), "enforce")
	require.Equal(t, exitFailure, o.code)
	require.Contains(t, o.stderr, id.Hex())
	require.Contains(t, o.stderr, "nothing was changed: catalogue migrate check lists them all")
	plant(t, d.db, "tasks", bson.D{{Key: "priority", Value: "low"}}) // it only warns

	_, err := d.db.Collection("tasks").DeleteMany(t.Context(), bson.D{})
	require.NoError(t, err)
	o = d.migrate(t.Context(), "check")
	require.Equal(t, outcome{exitOK, "Every document is as it should be.\n", ""}, o)
	o = d.migrate(t.Context(), "enforce")
	require.Equal(t, outcome{exitOK, "The database refuses writes that do not fit.\n", ""}, o)
	_, err = d.db.Collection("tasks").InsertOne(t.Context(), bson.D{{Key: "priority", Value: "high"}})
	require.ErrorContains(t, err, "validation")
	d.requireDeclared(t)
}

func TestMigrateExplain(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.ExplainPlans, mongotest.SchemaTitles)
	d := newDeployment(t)
	o := d.migrate(t.Context(), "explain")
	require.Equal(t, exitFailure, o.code)
	require.Contains(t, o.stderr, "run catalogue migrate up first")

	d.up(t)
	d.plantOld(t, 20)
	o = d.migrate(t.Context(), "explain")
	require.Equal(t, exitOK, o.code, "%s\n%s", o.stdout, o.stderr)
	for _, row := range []string{
		`/creatives/gallery +- +metrics.spend +desc +ties +ok .*IXSCAN +metrics.spend_1__id_1`,
		`/tasks +status +due_at +asc +values +ok .*IXSCAN +status_1_due_at_1__id_1`,
		`/tasks/:id/history +- +at +desc +nulls +ok .*IXSCAN +entity_type_1_entity_id_1_action_1_at_1__id_1`,
		`/api/v1/comments +- +public_modified +asc +ties +ok .*IXSCAN +feed_1_public_modified_1__id_1`,
	} {
		require.Regexp(t, `(?m)^`+row, o.stdout)
	}
	require.Regexp(t, `\n\d{3} reads: none sorts rows or scans a collection.\n$`, o.stdout)
}

func TestMigrateExplainFailsWhereAPlanBlocks(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	a := &app{stdout: &out}
	require.NoError(t, a.showExplained([]indexes.ExplainedRead{{Plan: "FETCH < IXSCAN"}}))
	err := a.showExplained([]indexes.ExplainedRead{{Plan: "SORT < COLLSCAN", Blocks: true}, {}})
	require.EqualError(t, err, "1 of 2 reads sort rows or scan a collection")
	require.Contains(t, out.String(), "BLOCKS")
}

func TestUseOfTheMigrateCommands(t *testing.T) {
	t.Parallel()
	for args, reason := range map[string]string{
		"up now": "unknown command", "unhide": "the name of one index is needed", "unhide a b": "the name of one index is needed",
		"prune --older-than -1h": "must not be negative", "up --wait soon": "invalid argument",
	} {
		o := runProgram(t.Context(), nil, append([]string{"migrate"}, strings.Fields(args)...)...)
		require.Equal(t, exitUsage, o.code, args)
		require.Contains(t, o.stderr, reason, args)
	}
}

func TestBytesText(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1 kB", 1234: "1.2 kB", 5_600_000: "5.6 MB", 7e12: "7.0 TB",
	} {
		require.Equal(t, want, bytesText(n))
	}
}
