package counting_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/counting"
	"catalogue/internal/rediscache"
	"catalogue/internal/redistest"
	"catalogue/pagination"
)

func TestACountIsKept(t *testing.T) {
	t.Parallel()
	s := start(t, redistest.URL(t))
	s.db.plant(t, "creatives", "active", 3)
	counted := s.clock.Now()

	require.Equal(t, pagination.ExactTotal(3), s.count(t, s.request("active")))
	key := s.settle(t)
	s.db.plant(t, "creatives", "active", 4)
	s.clock.set(counted.Add(5 * time.Second))
	require.Equal(t, pagination.CachedTotal(3, counted), s.count(t, s.request("active")))
	require.Equal(t, int64(1), s.db.counts.Load())

	require.LessOrEqual(t, len(key), rediscache.MaxKey)
	left, err := s.redis.PTTL(t.Context(), key).Result()
	require.NoError(t, err)
	require.Positive(t, left)
	require.LessOrEqual(t, left, ttl)
	require.Zero(t, s.cache.Failures())
}

func TestACountExpires(t *testing.T) {
	t.Parallel()
	s := start(t, redistest.URL(t))
	s.db.plant(t, "creatives", "active", 3)
	s.count(t, s.request("active"))
	key := s.settle(t)
	s.db.plant(t, "creatives", "active", 4)

	require.NoError(t, s.redis.PExpireAt(t.Context(), key, time.Now().Add(-time.Second)).Err())
	require.Equal(t, pagination.ExactTotal(7), s.count(t, s.request("active")))
	s.settle(t)
}

func TestCountsThatMeanTheSameShareOneKeyAndOthersDoNot(t *testing.T) {
	t.Parallel()
	s := start(t, redistest.URL(t))
	other := startWith(t, newDatabase(t), redistest.URL(t), timeout)
	base := counting.Request{
		Collection: s.db.Collection("creatives"), Fixed: bson.D{{Key: "kind", Value: "a"}},
		Filter: bson.D{{Key: "status", Value: "active"}}, Digest: "x", Now: at("2026-03-01T12:00:00Z"),
	}
	different := map[string]counting.Request{"the same": base}
	for name, change := range map[string]func(r *counting.Request){
		"another database":   func(r *counting.Request) { r.Collection = other.db.Collection("creatives") },
		"another collection": func(r *counting.Request) { r.Collection = s.db.Collection("tasks") },
		"another parent":     func(r *counting.Request) { r.Fixed = bson.D{{Key: "kind", Value: "b"}} },
		"no parent":          func(r *counting.Request) { r.Fixed = nil },
		"another filter":     func(r *counting.Request) { r.Digest = "y" },
		"a longer digest":    func(r *counting.Request) { r.Digest = strings.Repeat("x", 100_000) },
		"another minute":     func(r *counting.Request) { r.Now = at("2026-03-01T12:01:00Z") },
		"no moment":          func(r *counting.Request) { r.Now = time.Time{} },
	} {
		r := base
		change(&r)
		different[name] = r
	}
	for name, r := range different {
		require.Equal(t, pagination.TotalExact, s.count(t, r).Kind, "%s: counted for itself", name)
	}
	s.Settle()
	require.Len(t, s.keys(t), len(different)-1)
	require.Len(t, other.keys(t), 1)
	for name, r := range different {
		require.Equal(t, pagination.TotalCached, s.count(t, r).Kind, name)
	}

	// Another list of the collection compiles the same meaning in another order: the digest says that it is one.
	r := base
	r.Filter = bson.D{{Key: "$and", Value: bson.A{r.Filter}}}
	require.Equal(t, pagination.TotalCached, s.count(t, r).Kind)
	for _, key := range append(s.keys(t), other.keys(t)...) {
		require.LessOrEqual(t, len(key), rediscache.MaxKey)
	}
}

func TestLongNamesAreBoundedAndStayApart(t *testing.T) {
	t.Parallel()
	s := start(t, redistest.URL(t))
	long := strings.Repeat("c", 150)
	s.db.plant(t, long+"1", "active", 1)
	s.db.plant(t, long+"2", "active", 2)
	for i, name := range []string{long + "1", long + "2"} {
		r := s.request("active")
		r.Collection = s.db.Collection(name)
		require.Equal(t, pagination.ExactTotal(int64(i+1)), s.count(t, r))
	}
	s.Settle()
	require.Len(t, s.keys(t), 2)
	for _, key := range s.keys(t) {
		require.Less(t, len(key), 220)
	}
}

func TestRelativeFiltersHitWithinTheirMinute(t *testing.T) {
	t.Parallel()
	s := start(t, redistest.URL(t))
	s.db.plant(t, "creatives", "active", 2)
	r := s.request("active")
	for _, step := range []struct {
		now  string
		kind pagination.TotalKind
	}{
		{"2026-03-01T12:00:00Z", pagination.TotalExact},
		{"2026-03-01T12:00:59.999999999Z", pagination.TotalCached},
		{"2026-03-01T13:00:30+01:00", pagination.TotalCached},
		{"2026-03-01T12:01:00Z", pagination.TotalExact},
		{"2026-03-01T12:01:59Z", pagination.TotalCached},
		{"2026-03-01T11:59:59.999Z", pagination.TotalExact},
	} {
		r.Now = at(step.now)
		require.Equal(t, step.kind, s.count(t, r).Kind, step.now)
		s.Settle()
	}
	require.Equal(t, int64(3), s.db.counts.Load())
	require.Len(t, s.keys(t), 3)
}

func TestWithoutAFilterNothingIsCountedOrKept(t *testing.T) {
	t.Parallel()
	s := start(t, redistest.URL(t))
	s.db.plant(t, "creatives", "active", 3)
	for _, digest := range []string{"", "of an empty rule"} {
		total := s.count(t, counting.Request{Collection: s.db.Collection("creatives"), Digest: digest})
		require.Equal(t, pagination.TotalEstimated, total.Kind)
		require.Equal(t, int64(3), *total.Count)
	}
	require.Zero(t, s.db.counts.Load())

	r := s.request("active")
	r.Digest, r.Fixed = "", bson.D{{Key: "status", Value: "active"}}
	for range 2 {
		require.Equal(t, pagination.ExactTotal(3), s.count(t, r), "without a digest nothing is shared")
	}
	require.Equal(t, int64(2), s.db.counts.Load())
	require.Empty(t, s.keys(t))
}

func TestFixedAndFilterBothHold(t *testing.T) {
	t.Parallel()
	s := start(t, "")
	s.db.plant(t, "creatives", "active", 3)
	s.db.plant(t, "creatives", "paused", 2)
	r := s.request("active")
	r.Fixed = bson.D{{Key: "status", Value: "paused"}}
	require.Equal(t, pagination.ExactTotal(0), s.count(t, r))
	r.Digest = "another"
	r.Fixed = bson.D{{Key: "status", Value: bson.D{{Key: "$exists", Value: true}}}}
	require.Equal(t, pagination.ExactTotal(3), s.count(t, r))
}

func TestStoredNonsenseIsAMissAndOverwritten(t *testing.T) {
	t.Parallel()
	s := start(t, redistest.URL(t))
	s.db.plant(t, "creatives", "active", 3)
	s.count(t, s.request("active"))
	key, client := s.settle(t), s.redis
	good, err := client.Get(t.Context(), key).Result()
	require.NoError(t, err)
	count, moment, _ := strings.Cut(good, " ")
	require.Equal(t, "3", count)
	future := s.clock.Now().Add(2 * time.Minute).UnixMilli()
	old := s.clock.Now().Add(-ttl - 2*time.Minute).UnixMilli()

	for name, value := range map[string]any{
		"nothing": " ", "a word": "three " + moment, "no moment": "3", "a negative count": "-3 " + moment,
		"an absurd count": "9223372036854775807 " + moment, "above an integer": "9223372036854775808 " + moment,
		"a fraction": "3.0 " + moment, "a sign": "+3 " + moment, "leading zeros": "03 " + moment,
		"more": good + " 1", "a line's end": good + "\n", "space": " " + good, "JSON": `{"count":3}`,
		"from the future": []byte("3 " + itoa(future)), "long ago": "3 " + itoa(old), "before time": "3 -1",
		"long": strings.Repeat("3", 100_000), "bytes": []byte{0xff, 0, 0x80}, "other digits": "٣ " + moment,
	} {
		before, failures := s.db.counts.Load(), s.cache.Failures()
		require.NoError(t, client.Set(t.Context(), key, value, 0).Err()) // without an end, as others may store it
		require.Equal(t, pagination.ExactTotal(3), s.count(t, s.request("active")), name)
		require.Equal(t, before+1, s.db.counts.Load(), name)
		require.Equal(t, failures+1, s.cache.Failures(), name)
		requireOverwritten(t, s, key, good)
	}
	before := s.db.counts.Load()
	require.NoError(t, client.Del(t.Context(), key).Err())
	require.NoError(t, client.RPush(t.Context(), key, good).Err())
	require.Equal(t, pagination.ExactTotal(3), s.count(t, s.request("active")))
	require.Equal(t, before+1, s.db.counts.Load())
	requireOverwritten(t, s, key, good)
	require.Equal(t, pagination.TotalCached, s.count(t, s.request("active")).Kind)
}

func requireOverwritten(t *testing.T, s suite, key, good string) {
	t.Helper()
	require.Equal(t, key, s.settle(t))
	value, err := s.redis.Get(t.Context(), key).Result()
	require.NoError(t, err)
	require.Equal(t, good, value)
	require.Positive(t, s.redis.PTTL(t.Context(), key).Val(), "it has an end again")
}
