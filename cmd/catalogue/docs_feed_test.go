package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/mongotest"
	"catalogue/internal/seeding"
)

// The crawler of docs/feed.md is a whole program, and gets the whole feed.
func TestTheCrawlerOfTheDocumentation(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions)
	text, err := os.ReadFile("../../docs/feed.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "```go\n")
	require.True(t, found)
	program, _, found := strings.Cut(rest, "```")
	require.True(t, found)
	_, body, found := strings.Cut(program, "func main()")
	require.True(t, found)
	require.LessOrEqual(t, strings.Count(body, "\n"), 30, "an example of 30 lines")

	db := mongotest.Database(t)
	seed(t, db, seeding.Options{Creatives: 2500, Seed: 3})
	a := serveDatabase(t, db)

	dir := t.TempDir()
	source, binary := filepath.Join(dir, "crawler.go"), filepath.Join(dir, "crawler")
	require.NoError(t, os.WriteFile(source, []byte(program), 0o600))
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, source).CombinedOutput()
	require.NoError(t, err, "%s", out)

	crawler := exec.CommandContext(t.Context(), binary, a.url+"/api/v1/creatives") // killed with the test
	copied, err := crawler.StdoutPipe()
	require.NoError(t, err)
	said, err := crawler.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, crawler.Start())
	ids := make(chan map[string]bool, 1)
	go func() {
		got := map[string]bool{}
		for lines := bufio.NewScanner(copied); lines.Scan(); {
			var item struct {
				ID string `json:"id"`
			}
			if json.Unmarshal(lines.Bytes(), &item) == nil {
				got[item.ID] = true
			}
		}
		ids <- got
	}()
	line, err := bufio.NewReader(said).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "in step at ")
	require.NoError(t, crawler.Process.Kill())
	got := <-ids
	_ = crawler.Wait() // it was killed

	want := map[string]bool{}
	for _, doc := range mongotest.Everything(t, db.Collection("creatives"), bson.D{{Key: "status", Value: bson.D{{Key: "$ne", Value: "draft"}}}}) {
		want[doc.Lookup("_id").ObjectID().Hex()] = true
	}
	require.Equal(t, want, got)
}
