package indexes

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"pgregory.net/rapid"

	"catalogue/internal/mongotest"
	"catalogue/internal/testenv"
)

// start is an index that may be there before a build.
type start struct {
	name string
	keys bson.D
	opts func() *options.IndexOptionsBuilder
}

func starts() []start {
	named := func(o *options.IndexOptionsBuilder) func() *options.IndexOptionsBuilder {
		return func() *options.IndexOptionsBuilder { return o }
	}
	var out []start
	for _, declared := range []Index{byName, byScore, unique, expiring} {
		for n, name := range []string{declared.Name(), declared.Name() + "_2", "by hand " + declared.Name()} {
			source := options.Index().SetUnique(declared.Unique)
			if declared.Partial != nil {
				source.SetPartialFilterExpression(declared.Partial)
			}
			out = append(out,
				start{name, declared.Keys, named(source)},
				start{name, bson.D{{Key: fmt.Sprint("other", n), Value: -1}}, options.Index},
				start{name, declared.Keys, named(options.Index().SetSparse(true))},
				start{name, declared.Keys, named(options.Index().SetCollation(&options.Collation{Locale: "uk"}))},
				start{name, declared.Keys, named(options.Index().SetUnique(!declared.Unique))})
		}
	}
	return append(out,
		start{"at_1", expiring.Keys, named(options.Index().SetExpireAfterSeconds(3600))},
		start{"at", expiring.Keys, named(options.Index().SetExpireAfterSeconds(60))})
}

// drawStart makes a database as any history may have left it: indexes of any kind, hidden or not where the server
// hides any, recorded or not.
func drawStart(t *rapid.T, ctx context.Context, db *mongo.Database, hides bool) {
	require.NoError(t, db.Collection("rows").Drop(ctx))
	require.NoError(t, db.Collection(RecordsCollection).Drop(ctx))
	l := ledger{db: db}
	for _, s := range rapid.SliceOfN(rapid.SampledFrom(starts()), 0, 6).Draw(t, "indexes") {
		_, err := db.Collection("rows").Indexes().CreateOne(ctx, mongo.IndexModel{Keys: s.keys, Options: s.opts().SetName(s.name)})
		if err != nil { // it stands beside no other of its kind
			continue
		}
		if rapid.Bool().Draw(t, "hidden") && hides {
			require.NoError(t, setHidden(ctx, db, "rows", s.name, true))
		}
		recorded := Index{Collection: "rows", Keys: s.keys}
		if s.name == unique.Name() {
			recorded.Unique, recorded.Partial = true, unique.Partial
		}
		switch rapid.IntRange(0, 3).Draw(t, "record") {
		case 0:
			require.NoError(t, l.intend(ctx, recorded, s.name))
		case 1:
			require.NoError(t, l.built(ctx, recorded, s.name))
		case 2:
			require.NoError(t, l.built(ctx, recorded, s.name))
			require.NoError(t, l.hidden(ctx, "rows", s.name))
		}
	}
}

const (
	startSets     = 100
	startSetsSoak = 3000
)

func TestAComparisonAfterABuildHasNothingLeftForIt(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), mongotest.Database(t)
	declared := []Index{byName, byScore, unique, expiring}
	hides := mongotest.Has(t, mongotest.HiddenIndexes)
	for range max(1, testenv.Draws(t, startSets, startSetsSoak)/100) { // rapid draws 100 a call
		rapid.Check(t, func(t *rapid.T) {
			drawStart(t, ctx, db, hides)
			before, err := listIndexes(ctx, db, "rows")
			require.NoError(t, err)
			outcomes, err := Build(ctx, db, declared, BuildOptions{})
			require.NoError(t, err)
			require.NoError(t, Failures(outcomes))

			c, err := Compare(ctx, db, declared)
			require.NoError(t, err)
			require.Empty(t, c.Pending())
			for _, f := range c.Declared {
				require.True(t, f.Status == Ready || f.ForPerson(), "%s is %s", f.Key, f.Status)
			}
			after, err := listIndexes(ctx, db, "rows")
			require.NoError(t, err)
			for _, old := range before {
				var still *found
				for n := range after {
					if after[n].Name == old.Name {
						still = &after[n]
					}
				}
				require.NotNil(t, still, "%s was dropped", old.Name)
				require.Equal(t, old.Keys, still.Keys)
				require.True(t, old.Hidden || !still.Hidden, "%s was hidden", old.Name)
			}
		})
	}
}
