package migrations_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"catalogue/internal/mongotest"
	"catalogue/migrations"
)

func lock(db *mongo.Database, host string) *migrations.Lock {
	return migrations.NewLock(db, migrations.Holder{Host: host, Version: "test", ID: "1"}, migrations.DefaultLease)
}

// tryUp runs migrations as a deploy does.
func tryUp(ctx context.Context, db *mongo.Database, host string, list ...migrations.Migration) (events []migrations.Event, err error) {
	held, working, err := lock(db, host).Take(ctx, time.Minute, func(migrations.Holding) {})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, held.Release(ctx)) }()
	runner, err := migrations.NewRunner(db, list)
	if err != nil {
		return nil, err
	}
	return events, runner.Up(working, held, func(e migrations.Event) { events = append(events, e) })
}

func up(t *testing.T, db *mongo.Database, host string, list ...migrations.Migration) []migrations.Event {
	t.Helper()
	events, err := tryUp(t.Context(), db, host, list...)
	require.NoError(t, err)
	return events
}

// status is how the first of the migrations stands.
func status(t *testing.T, db *mongo.Database, list ...migrations.Migration) migrations.Standing {
	t.Helper()
	runner, err := migrations.NewRunner(db, list)
	require.NoError(t, err)
	all, err := runner.Status(t.Context())
	require.NoError(t, err)
	return all[0]
}

func saveOnce(ctx context.Context, s *migrations.Step) error { return s.Save(ctx, bson.D{}, 1) }

// adding counts how often it was run, in the document of its number.
func adding(number int) migrations.Migration {
	return migrations.Migration{
		Number: number, Name: "add", Version: 1, Count: nothing,
		Run: func(ctx context.Context, s *migrations.Step) error {
			_, err := s.Database().Collection("counts").UpdateOne(ctx, bson.D{{Key: "_id", Value: number}},
				bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: int64(1)}}}}, options.UpdateOne().SetUpsert(true))
			return err
		},
	}
}

func TestManyAtOnceRunEachMigrationOnce(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 10} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			db := mongotest.Database(t)
			list := []migrations.Migration{adding(1), adding(2), adding(7)}
			var group sync.WaitGroup
			failed := make([]error, n)
			for i := range n {
				group.Go(func() { _, failed[i] = tryUp(t.Context(), db, strconv.Itoa(i), list...) })
			}
			group.Wait()
			require.NoError(t, errors.Join(failed...))
			counts := mongotest.Everything(t, db.Collection("counts"), bson.D{})
			require.Len(t, counts, len(list))
			for _, doc := range counts {
				require.Equal(t, int64(1), doc.Lookup("n").Int64(), doc)
			}
			runner, err := migrations.NewRunner(db, list)
			require.NoError(t, err)
			open, err := runner.Plan(t.Context())
			require.NoError(t, err)
			require.Empty(t, open)
		})
	}
}

func TestAMigrationThatFailsIsFixedAndGoesOn(t *testing.T) {
	t.Parallel()
	const documents = 50
	db := mongotest.Database(t)
	things(t, db, documents)
	broken := doubling()
	broken.Run = func(ctx context.Context, s *migrations.Step) error { return double(ctx, s, 23) }

	events, err := tryUp(t.Context(), db, "one", broken, adding(2))
	require.ErrorIs(t, err, errBroken)
	require.Equal(t, migrations.Broken, events[len(events)-1].Kind)
	require.Empty(t, mongotest.Everything(t, db.Collection("counts"), bson.D{}), "none runs after one that has failed")
	s := status(t, db, broken)
	require.Equal(t, migrations.Failed, s.State)
	require.Equal(t, errBroken.Error(), s.Record.Error)
	require.EqualValues(t, 20, s.Record.Done)
	after, _ := s.Record.Position.Lookup("after").AsInt64OK()
	require.EqualValues(t, 20, after)
	begun := s.Record.StartedAt

	fixed := doubling()
	events = up(t, db, "two", fixed, adding(2))
	require.Equal(t, migrations.Resumed, events[0].Kind)
	require.EqualValues(t, 20, events[0].Done)
	require.EqualValues(t, 25, events[1].Done, "it goes on behind its position")
	requireDoubled(t, db, documents)
	s = status(t, db, fixed)
	require.Equal(t, migrations.Applied, s.State)
	require.Equal(t, begun, s.Record.StartedAt)
	require.False(t, s.Record.EndedAt.Before(begun))
	require.Empty(t, s.Record.Error)
	require.Empty(t, s.Record.Position)
	require.EqualValues(t, documents, s.Record.Done)
	require.Equal(t, "two", s.Record.Host)
	require.Equal(t, "test", s.Record.Version)
}

// A position means something to the declaration that saved it alone.
func TestAMigrationThatIsDeclaredAnewBeginsAnew(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	things(t, db, 20)
	broken := doubling()
	broken.Run = func(ctx context.Context, s *migrations.Step) error { return double(ctx, s, 13) }
	_, err := tryUp(t.Context(), db, "one", broken)
	require.ErrorIs(t, err, errBroken)
	other := doubling()
	other.Version = 2
	events := up(t, db, "two", other)
	require.Equal(t, migrations.Started, events[0].Kind)
	require.EqualValues(t, 0, events[1].Done, "the first batch is looked at again, and changed no more")
	requireDoubled(t, db, 20)
}

func TestAChangedChecksumOfAnAppliedMigrationIsAnError(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	up(t, db, "one", adding(1))
	other := adding(1)
	other.Parameters = map[string]int{"b": 1, "a": 2}
	before, err := adding(1).Checksum()
	require.NoError(t, err)
	after, err := other.Checksum()
	require.NoError(t, err)

	_, err = tryUp(t.Context(), db, "two", other, adding(2))
	changed, ok := errors.AsType[*migrations.ChangedError](err)
	require.True(t, ok, err)
	require.Contains(t, changed.Error(), before)
	require.Contains(t, changed.Error(), after)
	require.Contains(t, changed.Error(), "0001 add")
	require.Equal(t, migrations.Changed, status(t, db, other).State)
	require.Len(t, mongotest.Everything(t, db.Collection("counts"), bson.D{}), 1, "nothing runs")

	repeatable := adding(3)
	repeatable.Repeatable = true
	up(t, db, "three", adding(1), repeatable)
	require.Empty(t, up(t, db, "three", adding(1), repeatable))
	repeatable.Parameters = "another sort"
	require.NotEmpty(t, up(t, db, "three", adding(1), repeatable))
	require.Empty(t, up(t, db, "three", adding(1), repeatable))
}

func TestChecksumsAreOfWhatIsDeclared(t *testing.T) {
	t.Parallel()
	sums := map[string]bool{}
	base := migrations.Migration{Number: 1, Name: "a", Version: 1}
	for _, change := range []func(m *migrations.Migration){
		func(*migrations.Migration) {},
		func(m *migrations.Migration) { m.Number = 2 },
		func(m *migrations.Migration) { m.Name = "b" },
		func(m *migrations.Migration) { m.Version = 2 },
		func(m *migrations.Migration) { m.Parameters = []string{"a", "b"} },
		func(m *migrations.Migration) { m.Parameters = []string{"b", "a"} },
	} {
		m := base
		change(&m)
		sum, err := m.Checksum()
		require.NoError(t, err)
		require.False(t, sums[sum])
		sums[sum] = true
		m.Run = saveOnce
		again, err := m.Checksum()
		require.NoError(t, err)
		require.Equal(t, sum, again, "the code is not part of it")
	}
	base.Parameters = func() {}
	_, err := base.Checksum()
	require.Error(t, err)
}

func TestADryRunCountsAndWritesNothing(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	things(t, db, 12)
	runner, err := migrations.NewRunner(db, []migrations.Migration{doubling(), adding(2)})
	require.NoError(t, err)
	forecast, err := runner.DryRun(t.Context())
	require.NoError(t, err)
	require.Len(t, forecast, 2)
	require.EqualValues(t, 12, forecast[0].Changes)
	require.Empty(t, mongotest.Everything(t, db.Collection(migrations.Collection), bson.D{}))
	require.Len(t, mongotest.Everything(t, db.Collection("things"), notDoubled()), 12)
}

// After a rollback the database knows migrations that the program does not.
func TestMigrationsOfANewerVersionAreShownAndLeftAlone(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	up(t, db, "new", adding(1), adding(2))
	require.Empty(t, up(t, db, "old", adding(1)))
	runner, err := migrations.NewRunner(db, []migrations.Migration{adding(1)})
	require.NoError(t, err)
	all, err := runner.Status(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, migrations.Applied, all[0].State)
	require.Equal(t, migrations.Unknown, all[1].State)
	require.Equal(t, "0002 add", all[1].String())
}

// Ctrl-C: the lock is free at once, and the next run goes on.
func TestWorkThatIsStoppedLetsGo(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	ctx, stop := context.WithCancel(t.Context())
	stopped := savingForEver()
	stopped.Run = func(ctx context.Context, s *migrations.Step) error {
		defer stop()
		return s.Save(ctx, bson.D{{Key: "n", Value: 1}}, 1)
	}
	_, err := tryUp(ctx, db, "one", stopped)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, migrations.Interrupted, status(t, db, stopped).State)
	_, locked, err := lock(db, "anyone").Holding(t.Context())
	require.NoError(t, err)
	require.False(t, locked)
	stopped.Run = saveOnce
	require.Equal(t, migrations.Resumed, up(t, db, "two", stopped)[0].Kind)
}

func TestListsOfMigrationsAreChecked(t *testing.T) {
	t.Parallel()
	nameless := adding(2)
	nameless.Name = ""
	uncounted := adding(2)
	uncounted.Count = nil
	unknown := adding(2)
	unknown.Parameters = make(chan int)
	for _, list := range [][]migrations.Migration{
		{adding(2), adding(1)}, {adding(1), adding(1)}, {adding(0)}, {nameless}, {uncounted}, {unknown},
	} {
		_, err := migrations.NewRunner(nil, list)
		require.Error(t, err)
	}
}

// What is stored of migrations is data: no text in it is taken for a path or an operator.
func TestTextsWithDollarSignsAreKept(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	m := migrations.Migration{
		Number: 1, Name: "$until", Version: 1, Count: nothing,
		Run: func(ctx context.Context, s *migrations.Step) error {
			if err := s.Save(ctx, bson.D{{Key: "id", Value: bson.D{{Key: "$a", Value: "$$NOW"}}}}, 0); err != nil {
				return err
			}
			return errors.New("$holder" + strings.Repeat("ж", 1000))
		},
	}
	_, err := tryUp(t.Context(), db, "$token", m)
	require.Error(t, err)
	s := status(t, db, m)
	require.Equal(t, "$until", s.Name)
	require.Equal(t, "$token", s.Record.Host)
	require.True(t, strings.HasPrefix(s.Record.Error, "$holderж"))
	require.Equal(t, "$$NOW", s.Record.Position.Lookup("id", "$a").StringValue())
}
