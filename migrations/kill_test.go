package migrations_test

import (
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/mongotest"
	"catalogue/migrations"
)

// Ended anywhere, again and again, the migrations come to the declared state, and the lock is free when the last lease
// has ended.
func TestKilledAnywhereTheNextOneGoesOn(t *testing.T) {
	t.Parallel()
	const kills, lease, documents = 20, 400 * time.Millisecond, 1500
	db := mongotest.Database(t)
	things(t, db, documents)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	resumed := false
	for i := range kills {
		p := start(t, db, lease, "")
		if i%2 == 0 { // anywhere, most often while it waits for the lease of the one before
			p.until(t, saidReady)
		} else {
			p.until(t, saidTaken)
		}
		<-time.After(time.Duration(random.Int64N(int64(lease / 3))))
		require.NoError(t, p.command.Process.Kill())
		resumed = slices.Contains(p.end(t), string(migrations.Resumed)) || resumed
	}
	events := up(t, db, "last", doubling())
	resumed = resumed || len(events) > 0 && events[0].Kind == migrations.Resumed
	require.True(t, resumed, "one went on from where another was stopped")
	requireDoubled(t, db, documents)
	_, locked, err := lock(db, "anyone").Holding(t.Context())
	require.NoError(t, err)
	require.False(t, locked)
	require.Equal(t, migrations.Applied, status(t, db, doubling()).State)
}

// One that was paused for longer than its lease writes nothing when it wakes up: no record, position or release. Its
// migration does not look at its context, so that it is the database that refuses.
func TestOneWhoWakesUpAfterItsLeaseWritesNothing(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.ReplacesByItself)
	for name, takenOver := range map[string]bool{"nobody has the lock": false, "another has worked": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const lease = 600 * time.Millisecond
			db := mongotest.Database(t)
			p := start(t, db, lease, workForEver)
			for range 3 {
				p.until(t, string(migrations.Progress))
			}
			require.NoError(t, p.command.Process.Signal(syscall.SIGSTOP))
			require.Eventually(t, func() bool {
				_, locked, err := lock(db, "anyone").Holding(t.Context())
				return err == nil && !locked
			}, time.Minute, 20*time.Millisecond)
			require.Equal(t, migrations.Interrupted, status(t, db, savingForEver()).State)
			if takenOver {
				once := savingForEver()
				once.Run = saveOnce
				up(t, db, "another", once)
			}
			before := everything(t, db)
			require.NoError(t, p.command.Process.Signal(syscall.SIGCONT))
			said := p.end(t)
			require.Equal(t, []string{saidLost, saidNothing}, said[len(said)-2:])
			require.Equal(t, before, everything(t, db))
		})
	}
}

// The one that waits outlives a holder that is dead, and status says so at every moment.
func TestOneWhoWaitsTakesOverFromADeadOne(t *testing.T) {
	t.Parallel()
	const lease = 2 * time.Second
	db := mongotest.Database(t)
	require.Equal(t, migrations.Pending, status(t, db, savingForEver()).State)
	p := start(t, db, lease, workForEver)
	p.until(t, string(migrations.Progress))
	require.Equal(t, migrations.Running, status(t, db, savingForEver()).State)
	require.NoError(t, p.command.Process.Kill())
	p.end(t)

	var told []migrations.Holding
	held, ctx, err := lock(db, "waiter").Take(t.Context(), time.Minute, func(h migrations.Holding) { told = append(told, h) })
	require.NoError(t, err)
	require.NotEmpty(t, told)
	require.Equal(t, "child", told[0].Host)
	require.Equal(t, migrations.Interrupted, status(t, db, savingForEver()).State, "whoever holds the lock now does not run it")

	once := savingForEver()
	once.Run = saveOnce
	runner, err := migrations.NewRunner(db, []migrations.Migration{once})
	require.NoError(t, err)
	require.NoError(t, runner.Up(ctx, held, func(migrations.Event) {}))
	require.NoError(t, held.Release(t.Context()))
	s := status(t, db, once)
	require.Equal(t, migrations.Applied, s.State)
	require.Equal(t, "waiter", s.Record.Host)
}

// everything is all that the lock's collection has, byte by byte.
func everything(t *testing.T, db *mongo.Database) string {
	t.Helper()
	docs := mongotest.Everything(t, db.Collection(migrations.Collection), bson.D{})
	require.Len(t, docs, 1)
	return docs[0].String()
}
