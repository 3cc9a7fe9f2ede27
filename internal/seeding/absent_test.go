package seeding_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/mongotest"
	"catalogue/internal/seeding"
)

// meaning is a document without nulls and empty parents: what a list shows of it.
func meaning(doc bson.D) bson.D {
	out := bson.D{}
	for _, e := range doc {
		parent, nested := e.Value.(bson.D)
		if nested {
			e.Value = meaning(parent)
		}
		if e.Value == nil || nested && len(meaning(parent)) == 0 {
			continue
		}
		out = append(out, e)
	}
	return out
}

func TestAbsentValuesAreLeftOutAndNothingElseChanges(t *testing.T) {
	t.Parallel()
	with, without := mongotest.Database(t), mongotest.Database(t)
	o := seeding.Options{Creatives: 1200, Tasks: 150, Seed: 7}
	seed(t, with, o)
	o.OmitAbsent = true
	seed(t, without, o)
	changed := 0
	for _, name := range collections {
		full, bare := withoutStamps(t, contents(t, with, name)), withoutStamps(t, contents(t, without, name))
		require.Len(t, bare, len(full), name)
		for i, doc := range bare {
			require.Equal(t, meaning(full[i]), doc, "%s: nothing is null or empty, and the rest is there", name)
			if len(doc) < len(full[i]) {
				changed++
			}
		}
	}
	require.Greater(t, changed, 300, "the same seed has many absent values")
}

func TestSeveralSeedersMakeOneSet(t *testing.T) {
	t.Parallel()
	whole, parts := mongotest.Database(t), mongotest.Database(t)
	seed(t, whole, seeding.Options{Creatives: 250, Seed: 3})
	for _, first := range []int{100, 0, 200} {
		seed(t, parts, seeding.Options{FirstCreative: first, Creatives: min(100, 250-first), Seed: 3})
	}
	require.Equal(t, withoutStamps(t, contents(t, whole, "creatives")), withoutStamps(t, contents(t, parts, "creatives")))

	for _, first := range []int{-1, seeding.MaxDocuments} {
		_, err := seeding.New(whole, seeding.Options{FirstCreative: first, Creatives: 1}, nil)
		require.ErrorContains(t, err, "from 0 to")
	}
}
