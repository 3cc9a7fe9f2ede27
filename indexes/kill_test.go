package indexes

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/mongodb"
	"catalogue/internal/mongotest"
)

// childVariable names the database that a child process builds in.
const childVariable = "CATALOGUE_TEST_INDEXES_CHILD"

// killWithin is about as long as a build of the child takes.
const killWithin = 300 * time.Millisecond

// TestBuildInAChild is the child process of the test below, and nothing by itself.
func TestBuildInAChild(t *testing.T) {
	t.Parallel()
	name := os.Getenv(childVariable)
	if name == "" {
		t.Skip("it is run by TestABuildThatIsKilledIsDoneByTheNext")
	}
	client, err := mongodb.Open(mongodb.Options{URI: mongotest.URI(t), Database: name})
	require.NoError(t, err)
	outcomes, err := Build(t.Context(), client.Database(), []Index{byName, byScore, unique}, BuildOptions{})
	require.NoError(t, err)
	require.NoError(t, Failures(outcomes))
	require.NoError(t, client.Disconnect(t.Context()))
}

func TestABuildThatIsKilledIsDoneByTheNext(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), mongotest.Database(t)
	rows := make([]any, 20_000)
	for n := range rows {
		rows[n] = bson.D{{Key: "name", Value: n}, {Key: "kind", Value: n % 10}, {Key: "source", Value: bson.D{{Key: "system", Value: "shop"}, {Key: "id", Value: n}}}}
	}
	_, err := db.Collection("rows").InsertMany(ctx, rows)
	require.NoError(t, err)
	binary, err := os.Executable()
	require.NoError(t, err)
	for _, nth := range []int{1, 2, 3, 1, 2} { // the index that is being built, more or less, when the child dies
		child := exec.CommandContext(ctx, binary, "-test.run", "^TestBuildInAChild$")
		child.Env = append(os.Environ(), childVariable+"="+db.Name(), mongotest.Variable+"="+mongotest.URI(t))
		require.NoError(t, child.Start())
		require.Eventually(t, func() bool { return len(recordsOf(t, db)) >= nth }, 20*time.Second, time.Millisecond)
		select {
		case <-time.After(rand.N(killWithin)):
		case <-ctx.Done():
		}
		if err := child.Process.Kill(); err != nil {
			require.ErrorIs(t, err, os.ErrProcessDone)
		}
		_ = child.Wait() // killed, or ended before
		t.Logf("killed with %v", names(t, db))

		require.NoError(t, Failures(buildAll(t, db, byName, byScore, unique)))
		c := compare(t, db, byName, byScore, unique)
		require.Empty(t, c.Pending())
		require.Empty(t, c.Extra)
		for _, f := range c.Declared {
			require.Equal(t, Ready, f.Status, f.Key)
			require.True(t, f.Ours, f.Key)
			require.NotNil(t, f.record.BuiltAt, f.Key)
		}
		require.NoError(t, db.Collection("rows").Indexes().DropAll(ctx))
		require.NoError(t, db.Collection(RecordsCollection).Drop(ctx))
	}
}
