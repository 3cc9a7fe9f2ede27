package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/mongotest"
)

func TestSeedStoresNullsUnlessToldNotTo(t *testing.T) {
	t.Parallel()
	nulls := bson.D{{Key: "launched_at", Value: bson.D{{Key: "$type", Value: "null"}}}}
	for flag, stored := range map[string]bool{"--nulls=true": true, "--nulls=false": false} {
		db := mongotest.Database(t)
		environ := []string{"CATALOGUE_MONGODB_URI=" + mongotest.URI(t), "CATALOGUE_MONGODB_DATABASE=" + db.Name()}
		done := runProgram(t.Context(), environ, "seed", "--creatives", "50", "--tasks", "0", flag)
		require.Equal(t, 0, done.code, done.stderr)
		n, err := db.Collection("creatives").CountDocuments(t.Context(), nulls)
		require.NoError(t, err)
		require.Equal(t, stored, n > 0, flag)
	}
}
