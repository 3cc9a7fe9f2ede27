package indexes

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"catalogue/internal/mongodb"
	"catalogue/internal/mongotest"
)

// recordsOf are the records in the database.
func recordsOf(t testing.TB, db *mongo.Database) records {
	t.Helper()
	recorded, err := ledger{db: db}.load(t.Context())
	require.NoError(t, err)
	return recorded
}

// monitored opens a database with a client of its own, whose commands are told to m.
func monitored(t testing.TB, db *mongo.Database, m *event.CommandMonitor) *mongo.Database {
	t.Helper()
	client, err := mongodb.Open(mongodb.Options{URI: mongotest.URI(t), Database: db.Name(), Monitor: m})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Disconnect(context.Background())) })
	return client.Database()
}

func TestBuildBuildsRecordsAndTells(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	explains := mongotest.Has(t, mongotest.ExplainPlans)
	before, err := mongodb.ServerTime(t.Context(), db)
	require.NoError(t, err)
	var begun []Progress
	var told []Outcome
	outcomes, err := Build(t.Context(), db, []Index{byName, unique, expiring}, BuildOptions{
		Progress: func(p Progress) { begun = append(begun, p) },
		Report:   func(o Outcome) { told = append(told, o) },
	})
	require.NoError(t, err)
	require.NoError(t, Failures(outcomes))
	require.Equal(t, outcomes, told)
	require.GreaterOrEqual(t, len(begun), 3)
	require.Equal(t, byName, begun[0].Finding.Index)
	require.Zero(t, begun[0].Elapsed)
	recorded := recordsOf(t, db)
	require.Len(t, recorded, 3)
	after, err := mongodb.ServerTime(t.Context(), db)
	require.NoError(t, err)
	for _, o := range outcomes {
		require.Equal(t, Missing, o.Before.Status)
		require.Equal(t, []Action{ActionBuild}, o.Done)
		require.Equal(t, Ready, o.After.Status)
		require.True(t, o.After.Ours)
		require.Equal(t, explains, o.Note == "", "an explain with the hint shows that it serves: %s", o.Note)
		r := recorded[recordID("rows", o.After.Name)]
		require.False(t, r.IntendedAt.Before(before), "by the database's clock")
		require.False(t, r.BuiltAt.Before(r.IntendedAt))
		require.False(t, r.BuiltAt.After(after))
		require.Nil(t, r.HiddenAt)
	}
	for _, o := range buildAll(t, db, byName, unique, expiring) {
		require.Empty(t, o.Done)
	}
	require.Equal(t, recorded, recordsOf(t, db))
}

func TestAUniqueIndexThatRowsBreakNamesThemAndTheOthersAreBuilt(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.DuplicatesNamed)
	db := mongotest.Database(t)
	source := bson.D{{Key: "system", Value: "a"}, {Key: "id", Value: "1"}}
	_, err := db.Collection("rows").InsertMany(t.Context(), []any{
		bson.D{{Key: "_id", Value: "one"}, {Key: "source", Value: source}}, bson.D{{Key: "_id", Value: "two"}, {Key: "source", Value: source}},
	})
	require.NoError(t, err)
	outcomes := buildAll(t, db, unique, byName)
	require.ErrorContains(t, outcomes[0].Err, `"one"`)
	require.ErrorContains(t, outcomes[0].Err, `"two"`)
	require.ErrorContains(t, Failures(outcomes), unique.String())
	require.Equal(t, []Action{ActionBuild}, outcomes[1].Done)
	require.Equal(t, []string{byName.Name()}, names(t, db))
	require.NotContains(t, recordsOf(t, db), recordID("rows", unique.Name()), "what was not built is not ours")
	require.Len(t, compare(t, db, unique, byName).Pending(), 1)

	_, err = db.Collection("rows").DeleteOne(t.Context(), bson.D{{Key: "_id", Value: "two"}})
	require.NoError(t, err)
	require.NoError(t, Failures(buildAll(t, db, unique, byName)))
	require.Empty(t, compare(t, db, unique, byName).Pending())
}

func TestAnIndexThatDoesNotServeIsToldOf(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.ExplainPlans)
	db := mongotest.Database(t)
	_, err := db.Collection("rows").InsertOne(t.Context(), bson.D{{Key: "name", Value: bson.A{"a", "b"}}})
	require.NoError(t, err)
	b := builder{db: db}
	out := buildAll(t, db, byName)[0]
	require.NoError(t, out.Err)
	plan, err := Explain(t.Context(), db, bson.D{
		{Key: "find", Value: "rows"}, {Key: "sort", Value: byName.Keys}, {Key: "hint", Value: byName.Name()},
	})
	require.NoError(t, err)
	require.Equal(t, plan.Blocks(), out.Note != "", "%s: %s", plan, out.Note)

	out.After.Name = "gone"
	require.Contains(t, b.note(t.Context(), out), "does not show")
}

func TestRollingBackUnhidesWhatRetireHid(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	buildAll(t, db, byName, byScore)
	built := recordsOf(t, db)
	_, err := Retire(t.Context(), db, []Index{byScore}, RetireOptions{})
	require.NoError(t, err)
	hide(t, db, byScore.Name(), true)

	outcomes := buildAll(t, db, byName, byScore)
	require.Equal(t, []Action{ActionUnhide}, outcomes[0].Done)
	require.Empty(t, outcomes[1].Done, "a person hid it")
	require.True(t, outcomes[1].After.ForPerson())
	require.Equal(t, Ready, standing(t, db, byName).Status)
	require.Equal(t, Hidden, standing(t, db, byScore).Status)
	require.Equal(t, built, recordsOf(t, db))
}

func TestBuildCompletesTheRecordOfAKilledBuild(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	require.NoError(t, ledger{db: db}.intend(t.Context(), byName, byName.Name()))
	require.NoError(t, Apply(t.Context(), db, []Index{byName, byScore}, func(Standing) {})) // the server went on with it
	for _, o := range buildAll(t, db, byName, byScore) {
		require.Empty(t, o.Done)
	}
	require.NotNil(t, recordsOf(t, db)[recordID("rows", byName.Name())].BuiltAt)
	require.True(t, standing(t, db, byName).Ours)
	require.False(t, standing(t, db, byScore).Ours, "nothing said that it would be ours")
}

func TestAnIndexThatIsBuiltAnewHasANewRecord(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	buildAll(t, db, byName)
	retire(t, db)
	require.NoError(t, db.Collection("rows").Indexes().DropOne(t.Context(), byName.Name()))
	dropped, err := mongodb.ServerTime(t.Context(), db)
	require.NoError(t, err)
	buildAll(t, db, byName)
	r := recordsOf(t, db)[recordID("rows", byName.Name())]
	require.Nil(t, r.HiddenAt)
	require.False(t, r.BuiltAt.Before(dropped))
}

func TestARecordIsOfTheIndexAndNotOfItsName(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	buildAll(t, db, byName)
	require.NoError(t, db.Collection("rows").Indexes().DropOne(t.Context(), byName.Name()))
	create(t, db, bson.D{{Key: "other", Value: 1}}, options.Index().SetName(byName.Name()))
	require.False(t, compare(t, db).Extra[0].Ours)
	out, err := Retire(t.Context(), db, nil, RetireOptions{})
	require.NoError(t, err)
	require.Empty(t, out.Retired)
	require.Len(t, out.Foreign, 1)
}

func TestTheIntentIsRecordedBeforeTheBuild(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	var intents []record
	watched := monitored(t, db, &event.CommandMonitor{Started: func(ctx context.Context, e *event.CommandStartedEvent) {
		if e.CommandName == "createIndexes" {
			recorded, err := ledger{db: db}.load(ctx)
			require.NoError(t, err)
			intents = append(intents, recorded[recordID("rows", byName.Name())])
		}
	}})
	require.NoError(t, Failures(buildAll(t, watched, byName)))
	require.Len(t, intents, 1)
	require.Equal(t, keyText(byName.Keys), intents[0].Key)
	require.Nil(t, intents[0].BuiltAt)
}

// Between the look and the build, another program takes the name, or builds the same index under its own.
func TestBuildLooksAgainWhereAnotherWasQuicker(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys bson.D
		opts *options.IndexOptionsBuilder
		want string
		done []Action
	}{
		"the name":  {bson.D{{Key: "other", Value: 1}}, options.Index().SetName(byName.Name()), byName.Name() + "_2", []Action{ActionBuild}},
		"the index": {byName.Keys, options.Index().SetName("theirs"), "theirs", nil},
	} {
		db := mongotest.Database(t)
		var once sync.Once
		watched := monitored(t, db, &event.CommandMonitor{Started: func(ctx context.Context, e *event.CommandStartedEvent) {
			if e.CommandName == "createIndexes" {
				once.Do(func() {
					_, err := db.Collection("rows").Indexes().CreateOne(ctx, mongo.IndexModel{Keys: c.keys, Options: c.opts})
					require.NoError(t, err)
				})
			}
		}})
		out := buildAll(t, watched, byName)[0]
		require.NoError(t, out.Err, name)
		require.Equal(t, Ready, out.After.Status, name)
		require.Equal(t, c.want, out.After.Name, name)
		require.Equal(t, c.done, out.Done, name)
		require.Equal(t, c.done != nil, out.After.Ours, name)
	}
}

func TestBuildsAtOnceBuildOnce(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.BuildsAtOnce)
	db := mongotest.Database(t)
	var group sync.WaitGroup
	failures := make([]error, 10)
	for n := range failures {
		mine := monitored(t, db, nil) // a process of its own has a client of its own
		group.Go(func() {
			outcomes, err := Build(t.Context(), mine, []Index{byName, byScore, unique}, BuildOptions{})
			failures[n] = errors.Join(err, Failures(outcomes))
		})
	}
	group.Wait()
	require.NoError(t, errors.Join(failures...))
	require.ElementsMatch(t, []string{byName.Name(), byScore.Name(), unique.Name()}, names(t, db), "each once")
	c := compare(t, db, byName, byScore, unique)
	require.Empty(t, c.Pending())
	for _, f := range c.Declared {
		require.True(t, f.Ours, f.Key)
		require.NotNil(t, f.record.BuiltAt)
	}
}

// writes are the commands that change something, but for the probe of hidden indexes.
func writes(e *event.CommandStartedEvent) bool {
	switch e.CommandName {
	case "insert", "update", "delete", "findAndModify", "createIndexes", "collMod", "dropIndexes", "drop":
		target, _ := e.Command.Lookup(e.CommandName).StringValueOK()
		return target != hidingProbe
	default:
		return false
	}
}

// A lost lock: whichever write it is lost before, that one and all behind it are not done.
func TestEveryWriteIsGuarded(t *testing.T) {
	t.Parallel()
	longer := expiring
	longer.ExpireAfter = 2 * time.Hour
	lost := errors.New("lost")
	for at := 1; ; at++ {
		db := mongotest.Database(t)
		var asked, wrote, late int
		watched := monitored(t, db, &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
			if writes(e) {
				if wrote++; wrote > asked || asked >= at {
					late++
				}
			}
		}})
		guard := func(context.Context) error {
			if asked++; asked >= at {
				return lost
			}
			return nil
		}
		err := errors.Join(
			func() error {
				_, err := Build(t.Context(), watched, []Index{byName, byScore, expiring}, BuildOptions{Guard: guard})
				return err
			}(),
			func() error {
				_, err := Retire(t.Context(), watched, []Index{expiring}, RetireOptions{Guard: guard})
				return err
			}(),
			func() error { _, err := Unhide(t.Context(), watched, byName.Name(), "", guard); return err }(),
			func() error { _, err := Prune(t.Context(), watched, []Index{byName}, 0, guard); return err }(),
			func() error {
				_, err := Build(t.Context(), watched, []Index{longer}, BuildOptions{Guard: guard})
				return err
			}(),
		)
		require.Zero(t, late, "at %d", at)
		if asked < at {
			require.NoError(t, err)
			require.Equal(t, asked, wrote)
			require.Greater(t, asked, 16)
			return
		}
		require.ErrorIs(t, err, lost)
		require.Equal(t, at-1, wrote)
	}
}

func TestBuildEndsWithItsContextAndSaysWhy(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	reason := errors.New("another took the lock")
	ctx, cancel := context.WithCancelCause(t.Context())
	outcomes, err := Build(ctx, db, []Index{byName, byScore}, BuildOptions{Report: func(Outcome) { cancel(reason) }})
	require.ErrorIs(t, err, reason)
	require.Len(t, outcomes, 1)
	require.Equal(t, []string{byName.Name()}, names(t, db))
}

func TestABuildThatTakesLongTellsOfItself(t *testing.T) {
	t.Parallel()
	var told []Progress
	second := make(chan struct{})
	b := builder{db: mongotest.Database(t), progress: func(p Progress) {
		if told = append(told, p); len(told) == 2 {
			close(second)
		}
	}}
	failed := errors.New("failed")
	err := b.watch(t.Context(), Finding{Index: byName, Collection: "rows"}, func(context.Context) error { <-second; return failed })
	require.ErrorIs(t, err, failed)
	require.Zero(t, told[0].Elapsed)
	require.GreaterOrEqual(t, told[1].Elapsed, progressInterval)
	require.Equal(t, byName, told[1].Finding.Index)
	require.False(t, b.blind, "the server lets itself be asked")
}

func TestTheProgressOfABuildIsFoundAmongTheOperations(t *testing.T) {
	t.Parallel()
	op := func(namespace, collection string, done, total any) bson.Raw {
		return raw(t, bson.D{
			{Key: "ns", Value: namespace},
			{Key: "command", Value: bson.D{{Key: "createIndexes", Value: collection}}},
			{Key: "msg", Value: "Index Build: scanning collection"},
			{Key: "progress", Value: bson.D{{Key: "done", Value: done}, {Key: "total", Value: total}}},
		})
	}
	waiting := raw(t, bson.D{{Key: "ns", Value: "db.$cmd"}, {Key: "command", Value: bson.D{{Key: "createIndexes", Value: "rows"}}}})
	idle := raw(t, bson.D{{Key: "ns", Value: "admin.$cmd"}})
	want := Progress{Phase: "Index Build: scanning collection", Done: 5, Total: 10}
	require.Equal(t, want, progressOf([]bson.Raw{idle, waiting, op("db.rows", "rows", int32(5), 10.0)}, "db", "rows"))
	require.Equal(t, want, progressOf([]bson.Raw{op("db.$cmd", "rows", int64(9), 10), op("db.$cmd", "rows", 5, 10)}, "db", "rows"))
	require.Equal(t, Progress{}, progressOf([]bson.Raw{
		idle, waiting, op("db.others", "others", 5, 10), op("another.rows", "rows", 5, 10), op("db.rows", "rows", 0, 0),
	}, "db", "rows"))
}
