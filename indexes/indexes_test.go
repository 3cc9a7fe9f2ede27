package indexes

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func stand(want Index, have []found) Standing { return standBy(want, have, found.sameOptions) }

func TestASortsIndexEndsWithItsFieldAndID(t *testing.T) {
	t.Parallel()
	equalities := make([]string, 2, 10)
	copy(equalities, []string{"entity_type", "entity_id"})
	i := ForSort("comments", equalities, "created_at", "why")
	ForSort("comments", equalities, "at", "why")
	require.Equal(t, bson.D{
		{Key: "entity_type", Value: int32(1)},
		{Key: "entity_id", Value: int32(1)},
		{Key: "created_at", Value: int32(1)},
		{Key: "_id", Value: int32(1)},
	}, i.Keys)
	require.Equal(t, "entity_type_1_entity_id_1_created_at_1__id_1", i.Name())
	require.Equal(t, "comments {entity_type: 1, entity_id: 1, created_at: 1, _id: 1}", i.String())
}

func TestNamesDoNotDependOnTheTypesOfNumbers(t *testing.T) {
	t.Parallel()
	for _, n := range []any{1, int32(1), int64(1), 1.0} {
		require.Equal(t, "a_1", Index{Keys: bson.D{{Key: "a", Value: n}}}.Name())
	}
	require.Equal(t, "a_-1_b_text", Index{Keys: bson.D{{Key: "a", Value: -1}, {Key: "b", Value: "text"}}}.Name())
}

func TestDistinctDropsNothingButTheSameIndex(t *testing.T) {
	t.Parallel()
	keys := bson.D{{Key: "a", Value: int32(1)}}
	plain := Index{Collection: "rows", Keys: keys}
	different := []Index{
		plain,
		{Collection: "others", Keys: keys},
		{Collection: "rows", Keys: bson.D{{Key: "a", Value: -1}}},
		{Collection: "rows", Keys: keys, Unique: true},
		{Collection: "rows", Keys: keys, Partial: bson.D{{Key: "a", Value: 1}}},
		{Collection: "rows", Keys: keys, Partial: bson.D{{Key: "a", Value: 2}}},
		{Collection: "rows", Keys: keys, ExpireAfter: time.Second},
		{Collection: "rows", Keys: keys, ExpireAfter: time.Minute},
	}
	same := Index{Collection: "rows", Keys: bson.D{{Key: "a", Value: 1.0}}, Partial: bson.D{}, Reason: "another"}
	require.Equal(t, different, Distinct(different, []Index{same, plain}, different))
	require.Empty(t, Distinct())
}

func raw(t require.TestingT, doc bson.D) bson.Raw {
	data, err := bson.Marshal(doc)
	require.NoError(t, err)
	return data
}

func TestAListedIndexThatIsNotFinishedIsNotReady(t *testing.T) {
	t.Parallel()
	spec := bson.D{{Key: "v", Value: 2}, {Key: "key", Value: bson.D{{Key: "name", Value: 1.0}, {Key: "_id", Value: int64(1)}}}, {Key: "name", Value: "x"}}
	for name, c := range map[string]struct {
		entry bson.D
		want  Status
	}{
		"finished":                {spec, Ready},
		"finished, the long form": {bson.D{{Key: "spec", Value: spec}}, Ready},
		"in the making":           {bson.D{{Key: "spec", Value: spec}, {Key: "buildUUID", Value: bson.Binary{Subtype: 4, Data: make([]byte, 16)}}}, Building},
		"hidden":                  {append(spec[:3:3], bson.E{Key: "hidden", Value: true}), Hidden},
		"unique by a number":      {append(spec[:3:3], bson.E{Key: "unique", Value: 1}), Conflict},
		"sparse":                  {append(spec[:3:3], bson.E{Key: "sparse", Value: true}), Conflict},
	} {
		f, err := readEntry(raw(t, c.entry))
		require.NoError(t, err, name)
		require.Equal(t, Standing{byName, c.want, "x"}, stand(byName, []found{f}), name)
	}
}

func TestTheRightIndexIsFoundBesideOneOfOtherOptions(t *testing.T) {
	t.Parallel()
	right := found{Name: "right", Keys: byName.Keys}
	wrong := found{Name: "wrong", Keys: byName.Keys, Sparse: true}
	building := found{Name: "building", Keys: byName.Keys, building: true}
	require.Equal(t, Standing{byName, Ready, "right"}, stand(byName, []found{wrong, right}))
	require.Equal(t, Standing{byName, Ready, "right"}, stand(byName, []found{right, wrong}))
	require.Equal(t, Standing{byName, Building, "building"}, stand(byName, []found{wrong, building}))
	require.Equal(t, Standing{byName, Conflict, "wrong"}, stand(byName, []found{wrong}))
}

func TestTheExpiryOfAnIndexIsComparedAsANumberOfSeconds(t *testing.T) {
	t.Parallel()
	keep := Index{Collection: "rows", Keys: bson.D{{Key: "at", Value: int32(1)}}}
	expire := keep
	expire.ExpireAfter = time.Hour
	entry := bson.D{{Key: "key", Value: keep.Keys}, {Key: "name", Value: "x"}}
	for name, c := range map[string]struct {
		seconds      any // nil where the rows do not expire
		keep, expire Status
	}{
		"none":          {nil, Ready, Conflict},
		"int32":         {int32(3600), Conflict, Ready},
		"int64":         {int64(3600), Conflict, Ready},
		"double":        {3600.0, Conflict, Ready},
		"another":       {int32(3601), Conflict, Conflict},
		"at the moment": {int32(0), Conflict, Conflict},
	} {
		doc := entry[:2:2]
		if c.seconds != nil {
			doc = append(doc, bson.E{Key: "expireAfterSeconds", Value: c.seconds})
		}
		f, err := readEntry(raw(t, doc))
		require.NoError(t, err, name)
		require.Equal(t, c.keep, stand(keep, []found{f}).Status, name)
		require.Equal(t, c.expire, stand(expire, []found{f}).Status, name)
	}
}

func TestPlansOfEveryFormAreRead(t *testing.T) {
	t.Parallel()
	leaf := bson.D{{Key: "stage", Value: "IXSCAN"}, {Key: "indexName", Value: "a_1"}}
	fetch := bson.D{{Key: "stage", Value: "FETCH"}, {Key: "inputStage", Value: leaf}}
	for name, c := range map[string]struct {
		planner bson.D
		want    Explanation
		blocks  bool
	}{
		"classic":    {bson.D{{Key: "winningPlan", Value: fetch}}, Explanation{[]string{"FETCH", "IXSCAN"}, []string{"a_1"}}, false},
		"slot-based": {bson.D{{Key: "winningPlan", Value: bson.D{{Key: "queryPlan", Value: fetch}, {Key: "slotBasedPlan", Value: bson.D{}}}}}, Explanation{[]string{"FETCH", "IXSCAN"}, []string{"a_1"}}, false},
		"merge": {
			bson.D{{Key: "winningPlan", Value: bson.D{{Key: "stage", Value: "SORT_MERGE"}, {Key: "inputStages", Value: bson.A{leaf, leaf}}}}},
			Explanation{[]string{"SORT_MERGE", "IXSCAN", "IXSCAN"}, []string{"a_1", "a_1"}},
			true,
		},
		"sort below": {
			bson.D{{Key: "winningPlan", Value: bson.D{{Key: "stage", Value: "LIMIT"}, {Key: "inputStage", Value: bson.D{{Key: "stage", Value: "SORT"}}}}}},
			Explanation{[]string{"LIMIT", "SORT"}, nil},
			true,
		},
		"shards": {
			bson.D{{Key: "winningPlan", Value: bson.D{{Key: "stage", Value: "SHARD_MERGE_SORT"}, {Key: "shards", Value: bson.A{
				bson.D{{Key: "winningPlan", Value: fetch}},
				bson.D{{Key: "winningPlan", Value: bson.D{{Key: "queryPlan", Value: bson.D{{Key: "stage", Value: "COLLSCAN"}}}}}},
			}}}}},
			Explanation{[]string{"SHARD_MERGE_SORT", "FETCH", "IXSCAN", "COLLSCAN"}, []string{"a_1"}},
			true,
		},
		"none": {bson.D{}, Explanation{}, false},
	} {
		got := explanation(raw(t, bson.D{{Key: "queryPlanner", Value: c.planner}}))
		require.Equal(t, c.want, got, name)
		require.Equal(t, c.blocks, got.Blocks(), name)
	}
	require.Empty(t, explanation(raw(t, bson.D{{Key: "ok", Value: 1}})))
}

func TestAnIndexSaysWhatNeedsIt(t *testing.T) {
	t.Parallel()
	require.False(t, strings.HasSuffix(UniqueSource("rows").Reason, "."))
	require.NotEmpty(t, UniqueSource("rows").Reason)
}
