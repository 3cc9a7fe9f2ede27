package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/mongotest"
	"catalogue/internal/seeding"
)

// seed makes data. It leaves absent values out where the server keeps null and missing apart.
func seed(t testing.TB, db *mongo.Database, o seeding.Options) {
	t.Helper()
	o.OmitAbsent = !mongotest.Has(t, mongotest.NullsAsMissing)
	seeder, err := seeding.New(db, o, func(int) {})
	require.NoError(t, err)
	_, err = seeder.Run(t.Context())
	require.NoError(t, err)
}

func TestSeedFillsAnEmptyDatabaseOnce(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	environ := []string{"CATALOGUE_MONGODB_URI=" + mongotest.URI(t), "CATALOGUE_MONGODB_DATABASE=" + db.Name()}

	first := runProgram(t.Context(), environ, "seed", "--creatives", "30", "--tasks", "5", "--seed", "9", "--if-empty")
	require.Equal(t, 0, first.code, first.stderr)
	require.Contains(t, first.stdout, "creatives  30\n")
	require.Contains(t, first.stdout, " a second, ")

	second := runProgram(t.Context(), environ, "seed", "--creatives", "99", "--if-empty")
	require.Equal(t, 0, second.code, second.stderr)
	require.Contains(t, second.stdout, "nothing is seeded")
	n, err := db.Collection("creatives").CountDocuments(t.Context(), bson.D{})
	require.NoError(t, err)
	require.Equal(t, int64(30), n)

	wrong := runProgram(t.Context(), environ, "seed", "--creatives", "-1")
	require.Equal(t, 2, wrong.code)
	require.Contains(t, wrong.stderr, "from 0 to 10000000")
}
