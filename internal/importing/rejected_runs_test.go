package importing_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/errgroup"

	"catalogue/internal/changes"
	"catalogue/internal/importing"
)

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

// A task may go after the file was checked, and even after a row's reference was resolved: the row is rejected then, as
// one whose task is not known.
func TestRowWhoseTaskIsDeletedMeanwhileIsRejected(t *testing.T) {
	t.Parallel()
	im := newImports(t)
	im.run("tasks", shipped(t, "tasks.yaml"), write(t, "t.jsonl",
		`{"id":"t-1","title":"a","status":"open","priority":2}`+"\n"+`{"id":"t-2","title":"b","status":"open","priority":2}`))
	o := im.options("comments", shipped(t, "task-comments.yaml"), write(t, "c.jsonl",
		`{"task_id":"t-1","author":"x","body":"one"}`+"\n"+`{"task_id":"t-2","author":"x","body":"two"}`))
	o.Store = deleting{Store: o.Store, im: im}
	s, err := importing.Run(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, int64(1), s.Inserted)
	require.Equal(t, int64(1), s.Warnings[importing.WarnNoCreationDate], "of the row that is in the database")
	require.Equal(t, []int64{2}, s.WarningLines[importing.WarnNoCreationDate])
	got := rejects(t, s)
	require.Equal(t, rejected{
		Line: 1, Column: new("task_id"), Reason: `the object "t-1" of "beads" in tasks has been deleted`,
		Row: `{"task_id":"t-1","author":"x","body":"one"}`,
	}, got[0])
	require.Equal(t, []any{"two"}, im.field("comments", "body"))
	require.Equal(t, s.Read, s.Inserted+s.Rejected)
}

// deleting is a store before whose batch the first task goes.
type deleting struct {
	importing.Store
	im imports
}

func (d deleting) Apply(ctx context.Context, collection string, items []changes.Item) ([]changes.Outcome, error) {
	if _, err := d.im.db.Collection("tasks").DeleteOne(ctx, bson.M{"source.system": "beads", "source.id": "t-1"}); err != nil {
		return nil, err
	}
	return d.Store.Apply(ctx, collection, items)
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
