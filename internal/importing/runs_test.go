package importing_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
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

func TestRowOfAnUnknownTaskIsRejected(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	tasks := write(t, "tasks.jsonl",
		`{"id":"t-1","title":"a","status":"open","priority":2,"created_at":"2026-01-01T00:00:00Z"}`)
	path := write(t, "comments.jsonl", strings.Join([]string{
		`{"task_id":"t-1","author":"x","body":"one","created_at":"2026-01-01T00:00:00Z"}`,
		`{"task_id":"t-2","author":"x","body":"two","created_at":"2026-01-01T00:00:00Z"}`,
		`{"task_id":" t-1 ","author":"x","body":"three"}`,
		`{"author":"x","body":"four"}`,
	}, "\n"))

	s := im.run("comments", shipped(t, "task-comments.yaml"), path)
	require.Equal(t, int64(4), s.Rejected)

	im.run("tasks", shipped(t, "tasks.yaml"), tasks)
	s = im.run("comments", shipped(t, "task-comments.yaml"), path)
	require.Equal(t, int64(2), s.Inserted)
	require.Equal(t, int64(1), s.Warnings[importing.WarnNoCreationDate])
	got := rejects(t, s)
	require.Equal(t, `tasks have no object "t-2" of "beads"`, got[0].Reason)
	require.Equal(t, new("task_id"), got[0].Column)
	require.Equal(t, "entity_id is required", got[1].Reason)
	task := im.stored("tasks")[0]["_id"]
	require.Equal(t, []any{task, task}, im.field("comments", "entity_id"))
}

// A task that was removed and imported again has another id. What refers to it follows.
func TestReferenceFollowsATaskThatIsImportedAgain(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	task := write(t, "t.jsonl", `{"id":"t-1","title":"a","status":"open","priority":2}`)
	comment := write(t, "c.jsonl", `{"task_id":"t-1","author":"x","body":"one"}`)
	im.run("tasks", shipped(t, "tasks.yaml"), task)
	im.run("comments", shipped(t, "task-comments.yaml"), comment)
	_, err := im.db.Collection("tasks").DeleteMany(t.Context(), bson.D{})
	require.NoError(t, err)
	im.run("tasks", shipped(t, "tasks.yaml"), task)
	require.Equal(t, int64(1), im.run("comments", shipped(t, "task-comments.yaml"), comment).Updated)
	require.Equal(t, []any{im.stored("tasks")[0]["_id"]}, im.field("comments", "entity_id"))
}

// The last good line counts, also where only the database knows that a later one is bad.
func TestUnknownReferenceDoesNotSupersedeAGoodLine(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	im.run("tasks", shipped(t, "tasks.yaml"), write(t, "t.jsonl", `{"id":"t-1","title":"a","status":"open","priority":2}`))
	keyed := strings.Replace(shipped(t, "task-comments.yaml"), "key: []", "key: [id]", 1)
	s := im.run("comments", keyed, write(t, "c.jsonl",
		`{"id":1,"task_id":"t-1","author":"x","body":"one"}`+"\n"+`{"id":1,"task_id":"t-2","author":"x","body":"two"}`))
	require.Equal(t, int64(1), s.Inserted)
	require.Equal(t, int64(1), s.Rejected)
	require.Equal(t, []any{"one"}, im.field("comments", "body"))
}

func TestEachRejectIsOneLineOfJSON(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	rows := sheetHeader + "1,\"two\nlines\",,x,EUR,\n2,<&>\u2028,,x,EUR,y\n3,\"" + strings.Repeat("ä", 50_000) + "\",,x,EUR,\n"
	got := rejects(t, im.run("creatives", sheet, write(t, "a.csv", rows)))
	require.Equal(t, []int64{2, 4, 5}, []int64{got[0].Line, got[1].Line, got[2].Line}) // where each record starts
	require.Equal(t, "1,\"two\nlines\",,x,EUR,", got[0].Row)
	require.Equal(t, "2,<&>\u2028,,x,EUR,y", got[1].Row)
	require.Equal(t, new("spend"), got[1].Column)
	require.Equal(t, `spend: "x" is no plain decimal number; made: "y" is no time of the layout "2006-01-02 15:04"`,
		got[1].Reason)
	require.True(t, strings.HasSuffix(got[2].Row, "ä… (34477 bytes more)"), got[2].Row[len(got[2].Row)-40:])
}

func TestRejectsOfAFormerRunAreGone(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	o := im.options("creatives", lines, write(t, "a.jsonl", `{"id":""}`))
	s, err := importing.Run(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, o.Rejects, s.Rejects)
	require.FileExists(t, o.Rejects)

	o.Path = write(t, "a.jsonl", `{"id":"1"}`)
	whole, err := os.ReadFile(o.Rejects)
	require.NoError(t, err)
	for _, left := range []string{string(whole), ""} {
		require.NoError(t, os.WriteFile(o.Rejects, []byte(left), 0o600))
		s, err = importing.Run(t.Context(), o)
		require.NoError(t, err)
		require.Empty(t, s.Rejects)
		require.NoFileExists(t, o.Rejects)
	}
}

func TestRejectsNeverOverwriteAnotherFile(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	o := im.options("creatives", lines, write(t, "a.jsonl", `{"id":""}`))
	mapping := write(t, "m.yaml", "{}")
	o.Inputs = []string{mapping}
	folder := t.TempDir()
	former := write(t, "former", `{"line":2,"column":null,"reason":"x","row":"y"}`+"\n")
	pipe := filepath.Join(folder, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	links := map[string]string{"file": o.Path, "former": former, "pipe": pipe, "nothing": filepath.Join(folder, "none")}
	for name, to := range links {
		require.NoError(t, os.Symlink(to, filepath.Join(folder, "link to "+name)))
	}
	for path, reason := range map[string]string{
		o.Path:                                   "is read by this import",
		mapping:                                  "is read by this import",
		folder:                                   "is no regular file, but a folder",
		pipe:                                     "is no regular file, but a device, pipe or socket",
		filepath.Join(folder, "link to file"):    "is no regular file, but a symbolic link",
		filepath.Join(folder, "link to former"):  "is no regular file, but a symbolic link",
		filepath.Join(folder, "link to pipe"):    "is no regular file, but a symbolic link",
		filepath.Join(folder, "link to nothing"): "is no regular file, but a symbolic link",
		write(t, "b.jsonl", `{"id":"1"}`):        "holds no rejects",
		write(t, "c.jsonl", `{"line":1,"col`):    "holds no rejects",
		write(t, "d.jsonl", `{"line":1,"column":"x"}`): "holds no rejects",
		write(t, "e.txt", "\n"):                        "holds no rejects",
		filepath.Join(folder, "none", "rejects.jsonl"): "no such file or directory",
	} {
		o.Rejects = path
		before := standing(path)
		_, err := importing.Run(t.Context(), o)
		require.ErrorContains(t, err, reason)
		require.Equal(t, before, standing(path), path)
	}
	require.Empty(t, im.stored("creatives"))
}

// standing tells what is at a path, without following a link.
func standing(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return "nothing"
	}
	return fmt.Sprint(info.Mode(), info.Size(), info.ModTime())
}

func TestRejectsPathThatCannotBeWrittenStopsTheRunBeforeTheFirstWrite(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	o := im.options("creatives", lines, write(t, "a.jsonl", jsonRows(3, "")+`{"id":""}`))
	o.Rejects = filepath.Join(o.Path, "rejects.jsonl") // a file is no folder
	o.EnsureIndexes = func(context.Context) error { return errKilled }
	_, err := importing.Run(t.Context(), o)
	require.ErrorContains(t, err, "rejects file: ")
	require.NotErrorIs(t, err, errKilled)
}

// Runs with one rejects file do not disturb each other: what is left is that of the last one, whole.
func TestRunsAtOnceWithOneRejectsFile(t *testing.T) {
	t.Parallel()
	const rows = 2000
	im := newImports(t)
	bad := strings.Repeat(`{"id":""}`+"\n", rows)
	rejectsPath := filepath.Join(t.TempDir(), "rejects.jsonl")
	require.NoError(t, im.options("creatives", lines, rejectsPath).EnsureIndexes(t.Context()))
	all, ctx := errgroup.WithContext(t.Context())
	for range 4 {
		o := im.options("creatives", lines, write(t, "a.jsonl", bad))
		o.Rejects = rejectsPath
		all.Go(func() error {
			_, err := importing.Run(ctx, o)
			return err
		})
	}
	require.NoError(t, all.Wait())
	require.Len(t, rejects(t, importing.Summary{Rejects: rejectsPath, Rejected: rows}), rows)
	require.Equal(t, []string{"rejects.jsonl"}, namesIn(t, filepath.Dir(rejectsPath)))
}

func namesIn(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

func TestInterruptedRunLeavesItsRejects(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	o := im.options("creatives", lines, write(t, "a.jsonl", `{"id":""}`+"\n"+jsonRows(2000, "")))
	o.Store = interrupted{Store: o.Store, interrupt: interrupt}
	s, err := importing.Run(ctx, o)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, int64(1), rejects(t, s)[0].Line)
	require.Equal(t, []string{filepath.Base(o.Rejects)}, namesIn(t, filepath.Dir(o.Rejects)))
}

// appearing is a resolver that finds what it is asked for from the second question on.
type appearing struct {
	importing.Resolver
	asked *atomic.Int64
}

func (a appearing) IDsBySource(ctx context.Context, system string, ids []string) (map[string]bson.ObjectID, error) {
	if a.asked.Add(1) == 1 {
		return map[string]bson.ObjectID{}, nil
	}
	return a.Resolver.IDsBySource(ctx, system, ids)
}

// A task that is imported between the two passes neither ends the run nor makes a row win that was not checked.
func TestReferenceThatAppearsBetweenThePassesIsRejected(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"by key": "key: [id]", "without a key": "key: []"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			im := newImports(t)
			im.run("tasks", shipped(t, "tasks.yaml"), write(t, "t.jsonl", `{"id":"t-1","title":"a","status":"open","priority":2}`))
			keyed := strings.Replace(shipped(t, "task-comments.yaml"), "key: []", key, 1)
			o := im.options("comments", keyed, write(t, "c.jsonl", `{"id":1,"task_id":"t-1","author":"x","body":"one"}`))
			o.Resolvers["tasks"] = appearing{Resolver: o.Resolvers["tasks"], asked: &atomic.Int64{}}
			s, err := importing.Run(t.Context(), o)
			require.NoError(t, err)
			got := rejects(t, s)
			require.Equal(t, new("task_id"), got[0].Column)
			require.Equal(t, `tasks had no object "t-1" of "beads" when the file was checked: import again`, got[0].Reason)
			require.Empty(t, im.stored("comments"))
			require.Equal(t, int64(1), completed(t, im.options("comments", keyed, o.Path)).Inserted)
		})
	}
}

// halfKnown is a resolver that knows t-2 only from the second question on.
type halfKnown struct{ appearing }

func (h halfKnown) IDsBySource(ctx context.Context, system string, ids []string) (map[string]bson.ObjectID, error) {
	found, err := h.Resolver.IDsBySource(ctx, system, ids)
	if h.asked.Add(1) == 1 {
		delete(found, "t-2")
	}
	return found, err
}

func TestLineThatWasNotCheckedNeverSupersedes(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	im.run("tasks", shipped(t, "tasks.yaml"), write(t, "t.jsonl",
		`{"id":"t-1","title":"a","status":"open","priority":2}`+"\n"+`{"id":"t-2","title":"b","status":"open","priority":2}`))
	keyed := strings.Replace(shipped(t, "task-comments.yaml"), "key: []", "key: [id]", 1)
	o := im.options("comments", keyed, write(t, "c.jsonl",
		`{"id":1,"task_id":"t-1","author":"x","body":"one"}`+"\n"+`{"id":1,"task_id":"t-2","author":"x","body":"two"}`))
	o.Resolvers["tasks"] = halfKnown{appearing{Resolver: o.Resolvers["tasks"], asked: &atomic.Int64{}}}
	s, err := importing.Run(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, int64(1), s.Inserted)
	require.Zero(t, s.Superseded)
	require.Equal(t, int64(2), rejects(t, s)[0].Line)
	require.Equal(t, []any{"one"}, im.field("comments", "body"))
}

func TestPipesAreRefused(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	_, err := importing.Run(t.Context(), im.options("creatives", lines, pipe))
	require.ErrorContains(t, err, "is no regular file")
	_, err = importing.Run(t.Context(), im.options("creatives", lines, filepath.Join(t.TempDir(), "none")))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestFileThatChangesWhileItIsReadStopsTheRun(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	o := im.options("creatives", lines, write(t, "a.jsonl", jsonRows(1200, "")))
	o.Progress = func(p importing.Progress) {
		if p.Phase == importing.PhaseWrite && p.Rows == 500 {
			file, err := os.OpenFile(o.Path, os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = file.WriteString(`{"id":"new"}`)
			require.NoError(t, errors.Join(err, file.Close()))
		}
	}
	s, err := importing.Run(t.Context(), o)
	require.ErrorIs(t, err, importing.ErrFileChanged)
	require.Equal(t, int64(500), s.Inserted)
}

func TestNothingIsWrittenWithoutTheIndexes(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	o := im.options("creatives", lines, write(t, "a.jsonl", jsonRows(3, "")))
	o.EnsureIndexes = func(context.Context) error { return errKilled }
	_, err := importing.Run(t.Context(), o)
	require.ErrorIs(t, err, errKilled)
	require.Empty(t, im.stored("creatives"))
}
