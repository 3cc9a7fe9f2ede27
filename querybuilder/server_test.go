package querybuilder

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/instant"
	"catalogue/internal/mongotest"
)

func TestMain(m *testing.M) { os.Exit(mongotest.Main(m)) }

// now is a Wednesday.
var now = instant.MustParse("2026-03-11T15:04:00Z").Time()

// format is one of the two front ends.
type format string

const (
	react  format = "react"
	jquery format = "jquery"
)

// insert puts documents into a fresh collection.
func insert(t testing.TB, docs ...bson.D) *mongo.Collection {
	t.Helper()
	coll := mongotest.Database(t).Collection("rows")
	_, err := coll.InsertMany(t.Context(), docs)
	require.NoError(t, err)
	return coll
}

// matches runs a rule document on the server and returns the values of a field of what it matches, in the order that
// the documents were put in.
func matches(t testing.TB, coll *mongo.Collection, schema Schema, field, document string) []string {
	t.Helper()
	filter, err := schema.Parse([]byte(document), time.UTC)
	require.NoError(t, err, document)
	return found(t, coll, field, filter.Compile(now))
}

func found(t require.TestingT, coll *mongo.Collection, field string, filter bson.D) []string {
	var out []string
	for _, doc := range mongotest.Everything(t, coll, filter) {
		out = append(out, doc.Lookup(field).StringValue())
	}
	return out
}

// wrong returns the mistakes of a document, as "path code".
func wrong(t testing.TB, schema Schema, document string) []string {
	t.Helper()
	_, err := schema.Parse([]byte(document), time.UTC)
	return faults(t, err)
}

func faults(t testing.TB, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var list Errors
	require.ErrorAs(t, err, &list)
	out := make([]string, 0, len(list))
	for _, f := range list {
		require.NotEmpty(t, f.Message)
		require.NotContains(t, f.Message, "%!")
		out = append(out, f.Path+" "+string(f.Code))
	}
	return out
}

func mustJSON(t require.TestingT, v any) string {
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}
