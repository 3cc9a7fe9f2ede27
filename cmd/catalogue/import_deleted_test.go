package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/mongotest"
)

// What was deleted through the API stays deleted when its files are imported again, and spoils no run.
func TestFilesAreImportedAgainAfterADeletion(t *testing.T) {
	t.Parallel()
	a, uri := editable(t), mongotest.URI(t)
	mappings := filepath.Join("..", "..", "examples", "mappings")
	files := map[string][]string{}
	for target, f := range map[string][2]string{
		"tasks":    {"tasks.yaml", goodTasks},
		"comments": {"task-comments.yaml", `{"task_id":"1","author":"x","body":"one","created_at":"2026-01-01T00:00:00Z"}`},
		"history":  {"task-history.yaml", `{"task_id":"1","from":null,"to":"open","at":"2026-01-01T00:00:00Z"}`},
	} {
		files[target] = []string{target, "--map", filepath.Join(mappings, f[0]), file(t, target+".jsonl", f[1])}
	}
	imports := func(figures map[string]string) {
		for _, target := range []string{"tasks", "comments", "history"} {
			o := importInto(t.Context(), a.db, uri, files[target]...)
			require.Equal(t, exitOK, o.code, "%s: %s%s", target, o.stdout, o.stderr)
			require.Contains(t, o.stdout, figures[target], target)
		}
	}
	imports(map[string]string{"tasks": "inserted    2\n", "comments": "inserted    1\n", "history": "inserted    1\n"})
	var task struct {
		ID bson.ObjectID `bson:"_id"`
	}
	require.NoError(t, a.db.Collection("tasks").FindOne(t.Context(), bson.D{{Key: "title", Value: "a"}}).Decode(&task))
	require.Equal(t, 204, a.write(t, "DELETE", "/tasks/"+task.ID.Hex(), "").status)
	imports(map[string]string{"tasks": "unchanged   2\n", "comments": "unchanged   1\n", "history": "unchanged   1\n"})
	require.Equal(t, 1, a.count(t, "tasks", bson.D{}))
	require.Zero(t, a.count(t, "comments", bson.D{}))
	require.Zero(t, a.count(t, "history", bson.D{}))
}

// A creative that the API has made in the place of a deleted one keeps what the API has given it; figures find the live one.
func TestReimportLeavesACreativeInThePlaceOfADeletedOne(t *testing.T) {
	t.Parallel()
	a, uri := editable(t), mongotest.URI(t)
	mapping := file(t, "m.yaml", `target: creatives
format: jsonl
system: s
key: [id]
columns:
  - {from: name, to: name}
  - {constant: active, to: status}
  - {constant: image, to: format}
  - {constant: live, to: mode}
`)
	args := []string{"creatives", "--map", mapping, file(t, "c.jsonl", `{"id":"1","name":"of the file"}`)}
	require.Equal(t, exitOK, importInto(t.Context(), a.db, uri, args...).code)
	var first struct {
		ID bson.ObjectID `bson:"_id"`
	}
	require.NoError(t, a.db.Collection("creatives").FindOne(t.Context(), bson.D{}).Decode(&first))
	require.Equal(t, 204, a.write(t, "DELETE", "/creatives/"+first.ID.Hex(), "").status)
	figures := `{"items": [{"source": {"system": "s", "id": "1"}, "metrics": {"clicks": 1}}]}`
	require.Contains(t, string(a.write(t, "POST", "/creatives/metrics", figures, headers{"Idempotency-Key": "1"}).body), `"status":404`)

	made := a.create(t, "/creatives", `{"name": "of the API", "status": "active", "format": "image", "source": {"system": "s", "id": "1"}}`)
	before := a.stored(t, "creatives", made)
	o := importInto(t.Context(), a.db, uri, args...)
	require.Equal(t, exitOK, o.code, o.stderr)
	require.Contains(t, o.stdout, "unchanged   1\n")
	require.Equal(t, before, a.stored(t, "creatives", made))
}
