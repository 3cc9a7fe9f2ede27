package importing_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/creatives"
	"catalogue/internal/changes"
	"catalogue/internal/mongotest"
	"catalogue/tasks"
)

// Tasks about creatives, and what stands below them.
const (
	creativesFile = `{"id":"c-1","name":"n","status":"active","format":"image"}`
	tasksAbout    = `target: tasks
format: jsonl
system: beads
key: [id]
columns:
  - {from: title, to: title}
  - {constant: open, to: status}
  - {constant: 1, to: priority}
  - {constant: live, to: mode}
  - {from: creative, to: creative_id, reference: {collection: creatives, system: test}}
`
	taskFile    = `{"id":"t-1","title":"a","creative":"c-1"}`
	commentFile = `{"task_id":"t-1","author":"x","body":"one","created_at":"2026-01-01T00:00:00Z"}`
	historyFile = `{"task_id":"t-1","from":null,"to":"open","at":"2026-01-01T00:00:00Z"}`
)

// id is that of the only object of a collection.
func (im imports) id(collection string) bson.ObjectID {
	im.t.Helper()
	stored := im.stored(collection)
	require.Len(im.t, stored, 1)
	id, ok := stored[0]["_id"].(bson.ObjectID)
	require.True(im.t, ok)
	return id
}

func (im imports) deleteTask() {
	im.t.Helper()
	w := changes.NewWriter(im.db, tasks.Kind(nil), bson.NewObjectID)
	require.NoError(im.t, w.Delete(im.t.Context(), changes.Removal[tasks.Task]{ID: im.id("tasks")}))
}

func (im imports) deleteCreative() {
	im.t.Helper()
	w := changes.NewWriter(im.db, creatives.Kind(), bson.NewObjectID)
	require.NoError(im.t, w.Delete(im.t.Context(), changes.Removal[creatives.Creative]{ID: im.id("creatives")}))
}

// The files of what was deleted are imported again, and nothing comes back.
func TestFilesOfADeletedTaskAreImportedAgain(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions) // of the deletion
	im := newImports(t)
	files := []struct{ target, mapping, path string }{
		{"tasks", shipped(t, "tasks.yaml"), write(t, "t.jsonl", `{"id":"t-1","title":"a","status":"open","priority":2}`)},
		{"comments", shipped(t, "task-comments.yaml"), write(t, "c.jsonl", commentFile)},
		{"history", shipped(t, "task-history.yaml"), write(t, "h.jsonl", historyFile)},
	}
	for _, f := range files {
		require.Equal(t, int64(1), im.run(f.target, f.mapping, f.path).Inserted, f.target)
	}
	im.deleteTask()
	for _, f := range files {
		s := im.run(f.target, f.mapping, f.path)
		require.Equal(t, []int64{1, 0}, []int64{s.Unchanged, s.Rejected}, f.target)
		require.Empty(t, im.stored(f.target))
	}

	s := im.run("comments", files[1].mapping, write(t, "more.jsonl", commentFile+"\n"+`{"task_id":"t-1","author":"x","body":"two"}`))
	require.Equal(t, int64(1), s.Unchanged)
	require.Equal(t, rejected{
		Line: 2, Column: new("task_id"), Reason: `the object "t-1" of "beads" in tasks has been deleted`,
		Row: `{"task_id":"t-1","author":"x","body":"two"}`,
	}, rejects(t, s)[0])
}

// Tasks keep the id of a creative that was deleted, and new ones may have it.
func TestTasksOfADeletedCreativeAreImportedAgain(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions) // of the deletion
	im := newImports(t)
	path := write(t, "t.jsonl", taskFile)
	im.run("creatives", lines, write(t, "c.jsonl", creativesFile))
	creative := im.id("creatives")
	require.Equal(t, int64(1), im.run("tasks", tasksAbout, path).Inserted)
	before := im.stored("tasks")
	im.deleteCreative()

	require.Equal(t, int64(1), im.run("tasks", tasksAbout, path).Unchanged)
	require.Equal(t, before, im.stored("tasks"))
	s := im.run("tasks", tasksAbout, write(t, "more.jsonl",
		`{"id":"t-1","title":"b","creative":"c-1"}`+"\n"+`{"id":"t-2","title":"c","creative":"c-1"}`))
	require.Equal(t, []int64{1, 1}, []int64{s.Updated, s.Inserted})
	require.Equal(t, []any{creative, creative}, im.field("tasks", "creative_id"))
	s = im.run("tasks", tasksAbout, write(t, "unknown.jsonl", `{"id":"t-3","title":"d","creative":"c-9"}`))
	require.Equal(t, `creatives have no object "c-9" of "test"`, rejects(t, s)[0].Reason)
}

// A task that the file brings back is another object, and its comments stand below that one.
func TestCommentsFollowATaskThatCameBack(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions) // of the deletion
	im := newImports(t)
	comments := write(t, "c.jsonl", commentFile)
	im.run("tasks", shipped(t, "tasks.yaml"), write(t, "t.jsonl", `{"id":"t-1","title":"a","status":"open","priority":2}`))
	im.run("comments", shipped(t, "task-comments.yaml"), comments)
	im.deleteTask()
	im.run("tasks", shipped(t, "tasks.yaml"), write(t, "t.jsonl", `{"id":"t-1","title":"b","status":"open","priority":2}`))
	require.Equal(t, int64(1), im.run("comments", shipped(t, "task-comments.yaml"), comments).Inserted)
	require.Equal(t, []any{im.id("tasks")}, im.field("comments", "entity_id"))
}
