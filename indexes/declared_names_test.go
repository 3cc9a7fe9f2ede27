package indexes_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"catalogue/comments"  //nolint:depguard // this test knows every domain, the package none
	"catalogue/creatives" //nolint:depguard // as above
	"catalogue/history"   //nolint:depguard // as above
	"catalogue/indexes"
	"catalogue/tasks" //nolint:depguard // as above
)

// nameLimit is that of the oldest servers and of other engines, less room for the numbers behind a taken name.
const nameLimit = 100

func TestDeclaredIndexesHaveShortNamesOfTheirOwnAndAReason(t *testing.T) {
	t.Parallel()
	for collection, declared := range map[string][]indexes.Index{
		creatives.Collection: creatives.Indexes(),
		tasks.Collection:     tasks.Indexes(),
		comments.Collection:  comments.Indexes(),
		history.Collection:   history.Indexes(),
	} {
		require.NotEmpty(t, declared, collection)
		seen := map[string]bool{}
		for _, i := range declared {
			require.Equal(t, collection, i.Collection, i)
			require.Less(t, len(i.Name()), nameLimit, i)
			require.NotEmpty(t, i.Reason, i)
			require.False(t, seen[i.Name()], "%s: two indexes of one name", i)
			seen[i.Name()] = true
		}
		require.Less(t, len(declared), 63, "a collection holds 64 indexes, that of _id among them")
		require.True(t, slices.ContainsFunc(declared, func(i indexes.Index) bool { return i.Unique }),
			"%s: an imported object is stored once", collection)
	}
}

func TestEveryDeclaredIndexThatSortsEndsWithID(t *testing.T) {
	t.Parallel()
	for _, i := range slices.Concat(creatives.Indexes(), tasks.Indexes(), comments.Indexes(), history.Indexes()) {
		if !i.Unique {
			require.Equal(t, "_id", i.Keys[len(i.Keys)-1].Key, i)
		}
	}
}
