package importing_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/errgroup"

	"catalogue/internal/changes"
	"catalogue/internal/importing"
)

// jsonRows makes n good rows for lines, with names that end in suffix.
func jsonRows(n int, suffix string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"%06d","name":"row %d%s"}`+"\n", i, i, suffix)
	}
	return b.String()
}

func TestSecondRunChangesNothing(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	path := write(t, "a.jsonl", jsonRows(1200, ""))
	require.Equal(t, int64(1200), im.run("creatives", lines, path).Inserted)
	before := im.stored("creatives")
	second := im.run("creatives", lines, path)
	require.False(t, second.Changed())
	require.Equal(t, int64(1200), second.Unchanged)
	require.Equal(t, before, im.stored("creatives"))
}

func TestEditStaysUntilTheRowOfTheFileChanges(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	row := func(name string) string {
		return write(t, "a.jsonl", `{"id":"1","name":"`+name+`","note":"n","clicks":1,"impressions":4}`+"\n")
	}
	im.run("creatives", lines, row("file"))
	edit, err := im.db.Collection("creatives").UpdateOne(t.Context(), bson.M{"source.system": "test", "source.id": "1"},
		bson.M{"$set": bson.M{"name": "edited", "tags": bson.A{"mine"}, "attributes.mine": "x", "metrics.spend": 5.0}})
	require.NoError(t, err)
	require.Equal(t, int64(1), edit.ModifiedCount)

	require.Equal(t, int64(1), im.run("creatives", lines, row("file")).Unchanged)
	require.Equal(t, []any{"edited"}, im.field("creatives", "name"))

	require.Equal(t, int64(1), im.run("creatives", lines, row("file again")).Updated)
	require.Equal(t, []any{"file again"}, im.field("creatives", "name"))
	// What the mapping does not name is left alone.
	require.Equal(t, []any{bson.A{"mine"}}, im.field("creatives", "tags"))
	require.Equal(t, []any{"x"}, im.field("creatives", "attributes.mine"))
	require.Equal(t, []any{5.0}, im.field("creatives", "metrics.spend"))
	require.Equal(t, []any{0.25}, im.field("creatives", "metrics.ctr"))
}

func TestValuesThatLeaveTheFileLeaveTheObject(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	im.run("creatives", lines, write(t, "a.jsonl", `{"id":"1","name":"a","note":"n","clicks":1,"impressions":4}`))
	s := im.run("creatives", lines, write(t, "a.jsonl", `{"id":"1"}`))
	require.Equal(t, int64(1), s.Updated)
	doc := im.stored("creatives")[0]
	require.Equal(t, "1", doc["name"])
	require.NotContains(t, doc, "metrics") // an empty parent is left out
	require.NotContains(t, doc, "attributes")
}

func TestCorrectedMappingUpdatesRowsWithoutAKey(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	keyless := strings.Replace(lines, "key: [id]", "key: []", 1)
	path := write(t, "a.jsonl", jsonRows(3, ""))
	require.Equal(t, int64(3), im.run("creatives", keyless, path).Inserted)
	corrected := strings.Replace(keyless, "constant: active", "constant: paused", 1)
	require.Equal(t, int64(3), im.run("creatives", corrected, path).Updated)
	require.Equal(t, []any{"paused", "paused", "paused"}, im.field("creatives", "status"))
}

func TestTwoImportsAtOnce(t *testing.T) {
	t.Parallel()
	const rows = 1200
	im := newImports(t)
	path, other := write(t, "a.jsonl", jsonRows(rows, "")), write(t, "b.jsonl", jsonRows(rows, " b"))
	require.NoError(t, im.options("creatives", lines, path).EnsureIndexes(t.Context()))
	for range 2 { // inserting, then updating
		summaries := make([]importing.Summary, 4)
		all, ctx := errgroup.WithContext(t.Context())
		for i := range summaries {
			o := im.options("creatives", lines, []string{path, path, other, other}[i])
			all.Go(func() (err error) {
				summaries[i], err = importing.Run(ctx, o)
				return err
			})
		}
		require.NoError(t, all.Wait())
		require.Len(t, im.stored("creatives"), rows)
		for _, s := range summaries {
			require.Equal(t, int64(rows), s.Inserted+s.Updated+s.Unchanged)
		}
	}
}

// mortal is a store that dies: it writes a part of a batch and gives an error, as a process that is killed.
type mortal struct {
	importing.Store
	left *atomic.Int64 // rows until it dies
}

var errKilled = errors.New("killed")

func (m mortal) Apply(ctx context.Context, collection string, items []changes.Item) ([]changes.Outcome, error) {
	left := m.left.Add(-int64(len(items)))
	if left >= 0 {
		return m.Store.Apply(ctx, collection, items)
	}
	if part := items[:max(0, left+int64(len(items)))]; len(part) > 0 {
		if _, err := m.Store.Apply(ctx, collection, part); err != nil {
			return nil, err
		}
	}
	return nil, errKilled
}

// disturbed runs an import that is killed inside a batch or interrupted between two, wherever rng says.
func disturbed(t *testing.T, o importing.Options, rng *rand.Rand, rows int64) error {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	left := &atomic.Int64{}
	left.Store(rng.Int64N(2 * rows))
	o.Store = mortal{Store: o.Store, left: left}
	stopAt := rng.Int64N(4 * rows)
	o.Progress = func(p importing.Progress) {
		if p.Rows >= stopAt {
			interrupt()
		}
	}
	_, err := importing.Run(ctx, o)
	return err
}

func TestKilledAnywhereAgainAndAgainEachGoodRowOnce(t *testing.T) {
	t.Parallel()
	const rows, seed = 2500, 7
	im := newImports(t)
	rng := rand.New(rand.NewPCG(seed, seed))
	bad := `{"id":"bad","clicks":"?"}` + "\n"
	path := write(t, "a.jsonl", jsonRows(rows/2, " old")+bad+jsonRows(rows, "")+bad)
	died := 0
	for range 12 {
		err := disturbed(t, im.options("creatives", lines, path), rng, rows)
		if errors.Is(err, errKilled) || errors.Is(err, context.Canceled) {
			died++
			continue
		}
		requireComplete(t, err)
	}
	require.Greater(t, died, 3)
	s := completed(t, im.options("creatives", lines, path))
	require.Equal(t, int64(rows), s.Inserted+s.Unchanged)
	require.Equal(t, int64(2), s.Rejected)
	names := im.field("creatives", "name")
	require.Len(t, names, rows)
	for i, name := range names {
		require.Equal(t, fmt.Sprintf("row %d", i), name)
	}
	require.False(t, im.run("creatives", lines, path).Changed())
}

// requireComplete expects a run to be whole, or to have lost its database on a loaded machine and to say what helps.
func requireComplete(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		require.ErrorContains(t, err, "another run completes it")
	}
}

// completed runs an import until it is whole, a few times at most.
func completed(t *testing.T, o importing.Options) importing.Summary {
	t.Helper()
	const attempts = 5
	for range attempts {
		s, err := importing.Run(t.Context(), o)
		if err == nil {
			return s
		}
		requireComplete(t, err)
	}
	require.FailNow(t, "no run was complete", "%d attempts", attempts)
	return importing.Summary{}
}

func TestInterruptionEndsTheBatchAndTellsWhatWasDone(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	o := im.options("creatives", lines, write(t, "a.jsonl", jsonRows(2000, "")))
	o.Store = interrupted{Store: o.Store, interrupt: interrupt}
	s, err := importing.Run(ctx, o)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, int64(500), s.Inserted) // Ctrl-C came while the first batch was written
	require.Len(t, im.stored("creatives"), 500)
}

// interrupted is a store in whose first batch Ctrl-C comes.
type interrupted struct {
	importing.Store
	interrupt func()
}

func (i interrupted) Apply(ctx context.Context, collection string, items []changes.Item) ([]changes.Outcome, error) {
	i.interrupt()
	return i.Store.Apply(ctx, collection, items)
}

// stuck is a store that writes nothing until its time is over.
type stuck struct{}

func (stuck) Apply(ctx context.Context, _ string, _ []changes.Item) ([]changes.Outcome, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestBatchHasItsTimeToBeWrittenIn(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	o := im.options("creatives", lines, write(t, "a.jsonl", jsonRows(3, "")))
	o.Store, o.WriteTimeout = stuck{}, time.Millisecond
	_, err := importing.Run(t.Context(), o)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "another run completes it")
}
