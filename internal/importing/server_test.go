package importing_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"catalogue/comments"
	"catalogue/creatives"
	"catalogue/history"
	"catalogue/indexes"
	"catalogue/internal/changes"
	"catalogue/internal/importing"
	"catalogue/internal/mongotest"
	"catalogue/tasks"
)

// patience is what a test gives a batch to be written in: many others may run on the machine.
const patience = 5 * time.Minute

func TestMain(m *testing.M) { os.Exit(mongotest.Main(m)) }

// targets are those of the command.
var targets = map[string]func() importing.Target{
	creatives.Collection: creatives.ImportTarget,
	tasks.Collection:     tasks.ImportTarget,
	comments.Collection:  comments.ImportTarget,
	history.Collection:   history.ImportTarget,
}

// imports is a database with what an import into it needs.
type imports struct {
	t  *testing.T
	db *mongo.Database
}

func newImports(t *testing.T) imports {
	t.Helper()
	return imports{t: t, db: mongotest.Database(t)}
}

// options are those of a run that is not disturbed.
func (im imports) options(target, mapping, path string) importing.Options {
	im.t.Helper()
	plan, err := importing.ParseMapping([]byte(mapping), targets[target]())
	require.NoError(im.t, err)
	return importing.Options{
		Path:    path,
		Plan:    plan,
		Rejects: filepath.Join(im.t.TempDir(), "rejects.jsonl"),
		Store:   importer(im.t, im.db),
		Resolvers: map[string]importing.Resolver{
			tasks.Collection:     changes.NewReferences(im.db, tasks.Kind(nil).Imported()),
			creatives.Collection: changes.NewReferences(im.db, creatives.Kind().Imported()),
		},
		EnsureIndexes: func(ctx context.Context) error {
			unique := []indexes.Index{indexes.UniqueSource(target)}
			return indexes.Apply(ctx, im.db, unique, func(indexes.Standing) {})
		},
		WriteTimeout: patience,
		Progress:     func(importing.Progress) {},
		Now:          time.Now,
	}
}

// importer writes what the targets import, in transactions where the server has them.
func importer(t testing.TB, db *mongo.Database) *changes.Importer {
	t.Helper()
	return changes.NewImporter(db, changes.ImporterOptions{
		NewID: bson.NewObjectID, Transactions: mongotest.Has(t, mongotest.Transactions),
		Kinds: []changes.Imported{
			{Entity: "creative", Collection: creatives.Collection, Stamped: true},
			{Entity: tasks.Entity, Collection: tasks.Collection, Stamped: true},
			{Entity: "comment", Collection: comments.Collection, Stamped: true, Parent: tasks.Collection},
			{Collection: history.Collection, Parent: tasks.Collection},
		},
	})
}

// run imports a file and expects no error.
func (im imports) run(target, mapping, path string) importing.Summary {
	im.t.Helper()
	s, err := importing.Run(im.t.Context(), im.options(target, mapping, path))
	require.NoError(im.t, err)
	require.Equal(im.t, s.Read, s.Inserted+s.Updated+s.Unchanged+s.Duplicates+s.Superseded+s.Rejected)
	return s
}

// stored reads a collection in the order of source.id.
func (im imports) stored(collection string) []bson.M {
	im.t.Helper()
	cursor, err := im.db.Collection(collection).Aggregate(im.t.Context(), bson.A{
		bson.M{"$sort": bson.D{{Key: "source.system", Value: 1}, {Key: "source.id", Value: 1}}},
	})
	require.NoError(im.t, err)
	out := []bson.M{}
	require.NoError(im.t, cursor.All(im.t.Context(), &out))
	return out
}

// shipped reads a mapping of examples/mappings.
func shipped(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "mappings", name))
	require.NoError(t, err)
	return string(text)
}

// write makes a file of the test.
func write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// rejected is a record of a rejects file.
type rejected struct {
	Line   int64   `json:"line"`
	Column *string `json:"column"`
	Reason string  `json:"reason"`
	Row    string  `json:"row"`
}

// rejects reads the rejects of a run, one line each.
func rejects(t testing.TB, s importing.Summary) []rejected {
	t.Helper()
	require.NotEmpty(t, s.Rejects, "nothing was rejected")
	text, err := os.ReadFile(s.Rejects)
	require.NoError(t, err)
	var out []rejected
	for line := range strings.Lines(string(text)) {
		var one rejected
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		require.NoError(t, dec.Decode(&one), line)
		out = append(out, one)
	}
	require.Len(t, out, int(s.Rejected))
	return out
}

// field reads one field of all stored objects, in the order of source.id.
func (im imports) field(collection, path string) []any {
	im.t.Helper()
	var out []any
	for _, doc := range im.stored(collection) {
		var value any = doc
		for part := range strings.SplitSeq(path, ".") {
			m, ok := value.(bson.D)
			if !ok {
				top, _ := value.(bson.M)
				value = top[part]
				continue
			}
			value = nil
			for _, e := range m {
				if e.Key == part {
					value = e.Value
				}
			}
		}
		out = append(out, value)
	}
	return out
}

// importedCreatives reads all creatives, in the order of source.id.
func importedCreatives(t testing.TB, im imports) []creatives.Creative {
	t.Helper()
	cursor, err := im.db.Collection(creatives.Collection).Find(t.Context(), bson.D{},
		options.Find().SetSort(bson.D{{Key: "source.id", Value: 1}}))
	require.NoError(t, err)
	var out []creatives.Creative
	require.NoError(t, cursor.All(t.Context(), &out))
	return out
}

func texts(values []any) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i], _ = v.(string)
	}
	return out
}

func quoteJSON(s string) string {
	out, _ := json.Marshal(s) // a string always encodes
	return string(out)
}
