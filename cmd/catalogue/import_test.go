package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/mongotest"
)

// importInto runs the command on a database.
func importInto(ctx context.Context, db *mongo.Database, uri string, args ...string) outcome {
	return runProgram(ctx, importEnviron(db, uri), append([]string{"import"}, args...)...)
}

func importEnviron(db *mongo.Database, uri string) []string {
	return []string{"CATALOGUE_MONGODB_URI=" + uri, "CATALOGUE_MONGODB_DATABASE=" + db.Name()}
}

// file makes a file of the test.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func tasksMapping() string {
	return filepath.Join("..", "..", "examples", "mappings", "tasks.yaml")
}

const (
	goodTasks = `{"id":"1","title":"a","status":"open","priority":1,"created_at":"2026-01-01T00:00:00Z"}` + "\n" +
		`{"id":"2","title":"b","status":"done","priority":1,"created_at":"2026-01-02T00:00:00Z",` +
		`"closed_at":"2026-01-01T00:00:00Z"}` + "\n"
	badTask = `{"id":"3","title":"c","status":"lost","priority":1,"created_at":"2026-01-01T00:00:00Z"}` + "\n"
)

func TestImportCommand(t *testing.T) {
	t.Parallel()
	db, uri := mongotest.Database(t), mongotest.URI(t)
	rejects := filepath.Join(t.TempDir(), "rejects.jsonl")
	path := file(t, "tasks.jsonl", goodTasks+badTask)
	args := []string{"tasks", "--map", tasksMapping(), "--rejects", rejects, path}

	first := importInto(t.Context(), db, uri, args...)
	require.Equal(t, exitRejected, first.code, first.stderr)
	require.Contains(t, first.stdout, "inserted    2\n")
	require.Contains(t, first.stdout, "closed before created: line 2\n")
	require.Contains(t, first.stdout, "The rejected rows are in "+rejects+".\n")
	require.Contains(t, first.stderr, "built     tasks {source.system: 1, source.id: 1}")
	text, err := os.ReadFile(rejects)
	require.NoError(t, err)
	require.JSONEq(t, `{"line":3,"column":"status","reason":"status must be one of open, in_progress, blocked, done, `+
		`cancelled","row":"{\"id\":\"3\",\"title\":\"c\",\"status\":\"lost\",\"priority\":1,`+
		`\"created_at\":\"2026-01-01T00:00:00Z\"}"}`, string(text))

	require.NoError(t, os.WriteFile(path, []byte(goodTasks), 0o600))
	second := importInto(t.Context(), db, uri, args...)
	require.Equal(t, exitOK, second.code, second.stderr)
	require.Contains(t, second.stdout, "unchanged   2\n")
	require.Contains(t, second.stdout, "Nothing has changed.\n")
	require.Empty(t, second.stderr)
	require.NoFileExists(t, rejects)

	n, err := db.Collection("tasks").CountDocuments(t.Context(), bson.D{})
	require.NoError(t, err)
	require.Equal(t, int64(2), n)
}

func TestRejectsOfTheImportCommandAreInTheCurrentFolder(t *testing.T) {
	db, uri := mongotest.Database(t), mongotest.URI(t)
	mapping, err := filepath.Abs(tasksMapping())
	require.NoError(t, err)
	path := file(t, "tasks.jsonl", badTask)
	t.Chdir(t.TempDir())
	o := importInto(t.Context(), db, uri, "tasks", "--map", mapping, path)
	require.Equal(t, exitRejected, o.code)
	require.Contains(t, o.stdout, "The rejected rows are in tasks.jsonl.rejects.jsonl.\n")
	require.FileExists(t, "tasks.jsonl.rejects.jsonl")
}

// interrupting is a stderr at whose first line Ctrl-C comes: an import's first line is about the missing indexes.
type interrupting struct {
	strings.Builder
	interrupt func()
}

func (w *interrupting) Write(p []byte) (int, error) {
	w.interrupt()
	return w.Builder.Write(p)
}

func TestImportCommandIsInterrupted(t *testing.T) {
	t.Parallel()
	db, uri := mongotest.Database(t), mongotest.URI(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var stdout strings.Builder
	stderr := &interrupting{interrupt: interrupt}
	args := []string{"import", "tasks", "--map", tasksMapping(), file(t, "a.jsonl", goodTasks)}
	code := run(ctx, args, importEnviron(db, uri), &stdout, stderr)
	require.Equal(t, exitInterrupted, code, stderr.String())
	require.Contains(t, stderr.String(), "interrupted: the same command again completes the import")
	require.Contains(t, stdout.String(), "inserted    0\n")
}

func TestUseOfTheImportCommand(t *testing.T) {
	t.Parallel()
	db, uri := mongotest.Database(t), mongotest.URI(t)
	path := file(t, "a.jsonl", goodTasks)
	for name, c := range map[string]struct {
		args   []string
		code   int
		reason string
	}{
		"no file":            {[]string{"tasks", "--map", "m.yaml"}, exitUsage, "a target (comments, creatives, history, tasks) and one file are needed"},
		"an unknown target":  {[]string{"ads", "--map", "m.yaml", path}, exitUsage, `unknown target "ads"`},
		"no mapping":         {[]string{"tasks", path}, exitUsage, `required flag(s) "map" not set`},
		"no such mapping":    {[]string{"tasks", "--map", "none.yaml", path}, exitUsage, "none.yaml"},
		"a bad mapping":      {[]string{"tasks", "--map", file(t, "m.yaml", "colums: []"), path}, exitUsage, "there is no key colums"},
		"an endless mapping": {[]string{"tasks", "--map", "/dev/zero", path}, exitUsage, "it is longer than 1048576 bytes"},
		"another's mapping":  {[]string{"comments", "--map", tasksMapping(), path}, exitUsage, `target is "tasks"`},
		"no such file":       {[]string{"tasks", "--map", tasksMapping(), "none.jsonl"}, exitFailure, "none.jsonl"},
		"a refused file":     {[]string{"tasks", "--map", tasksMapping(), file(t, "b.jsonl", "a\rb")}, exitFailure, "CR only"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := importInto(t.Context(), db, uri, c.args...)
			require.Equal(t, c.code, o.code, o.stderr)
			require.Contains(t, o.stderr, c.reason)
		})
	}
}
