package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"catalogue/indexes"
	"catalogue/internal/mongotest"
	"catalogue/migrations"
)

// serving is a server of a deployment that looks at indexes only, with two tasks for the lists below tasks.
func (d deployment) serving(t *testing.T) (s *served, lists []listCase) {
	t.Helper()
	a, b := twoTasks(t, &api{db: d.db})
	s = startServe(t, append(databaseEnviron(t, mongotest.URI(t)), append(d.environ, "CATALOGUE_INDEXES=check")...))
	return s, everyList(a, b)
}

// requireEveryListAnswers asks every list for every sort.
func requireEveryListAnswers(t *testing.T, s *served, lists []listCase) {
	t.Helper()
	for _, list := range lists {
		for _, path := range list.paths {
			for _, order := range list.sorts.Allowed() {
				status, body := s.get(path + "?limit=2&sort=" + order)
				require.Equal(t, 200, status, "%s %s: %s", path, order, body)
				if list.name == "comments" || list.name == "history" {
					require.Equal(t, 2, strings.Count(body, `"id":`), "%s %s: %s", path, order, body)
				}
			}
		}
	}
	if !mongotest.Has(t, mongotest.Transactions) {
		return // then no feed is served
	}
	for _, feed := range []string{"creatives", "tasks", "comments"} {
		status, body := s.get("/api/v1/" + feed)
		require.Equal(t, 200, status, body)
	}
}

// The version before declared fewer indexes: the new one serves on them, and tells on /readyz what it waits for.
func TestTheNewVersionServesOnTheIndexesOfTheOldOne(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.SchemaTitles)
	d := newDeployment(t)
	added := declaredIndexes()[3:9]
	old := slices.DeleteFunc(declaredIndexes(), func(i indexes.Index) bool {
		return slices.ContainsFunc(added, func(a indexes.Index) bool { return a.String() == i.String() })
	})
	outcomes, err := indexes.Build(t.Context(), d.db, old, indexes.BuildOptions{})
	require.NoError(t, err)
	require.NoError(t, indexes.Failures(outcomes))

	s, lists := d.serving(t)
	requireEveryListAnswers(t, s, lists)
	status, body := s.get("/readyz")
	require.Equal(t, 503, status)
	for _, i := range added {
		require.Contains(t, body, i.String()+" is missing")
	}
	require.Equal(t, len(added), strings.Count(body, "is missing"))
	d.up(t)
	s.awaitOK("/readyz")
	requireEveryListAnswers(t, s, lists)
}

// The version that comes declares more; the one before goes on beside it, also when it is told to retire too early.
func TestTheOldVersionServesOnTheIndexesOfTheNewOne(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.HiddenIndexes, mongotest.SchemaTitles)
	d := newDeployment(t)
	more := []indexes.Index{
		indexes.ForSort("creatives", nil, "new_field", "a sort of the version that comes"),
		indexes.ForSort("tasks", []string{"mode"}, "created_at", "a pair of the version that comes"),
	}
	d.buildVersionWith(t, more...)
	s, lists := d.serving(t)
	s.awaitOK("/readyz")
	requireEveryListAnswers(t, s, lists)

	gone := []string{"created_at", "name", "title"} // sorts that the version that comes has not
	declared := slices.Concat(more, slices.DeleteFunc(declaredIndexes(), func(i indexes.Index) bool {
		return slices.ContainsFunc(gone, func(sort string) bool { return strings.HasSuffix(i.Name(), sort+"_1__id_1") })
	}))
	retired, err := indexes.Retire(t.Context(), d.db, declared, indexes.RetireOptions{})
	require.NoError(t, err)
	require.Greater(t, len(retired.Retired), len(gone))
	requireEveryListAnswers(t, s, lists)
	require.Eventually(t, func() bool { // /readyz looks at most once a second
		status, body, err := fetch(t.Context(), s.url+"/readyz")
		return err == nil && status == 503 && strings.Count(body, "is hidden") == len(retired.Retired)
	}, patience, 50*time.Millisecond)
	requireEveryListAnswers(t, s, lists)

	rollback := d.up(t)
	require.Equal(t, len(retired.Retired), strings.Count(rollback.stdout, "unhidden  "))
	s.awaitOK("/readyz")
}

// Two replicas that build at their start do so once, and answer meanwhile.
func TestReplicasThatStartAtOnceBuildOnce(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	environ := append(databaseEnviron(t, mongotest.URI(t)), append(d.environ, "CATALOGUE_INDEXES=create")...)
	held := d.holdLock(t)
	a, b := startServe(t, environ), startServe(t, environ)
	for _, s := range []*served{a, b} {
		require.Eventually(t, func() bool {
			return len(logLines(t, s.log.String(), "another process prepares the database")) > 0
		}, patience, time.Millisecond, s.log)
		status, body := s.get("/tasks?sort=title")
		require.Equal(t, 200, status, body)
		status, body = s.get("/readyz")
		require.Equal(t, 503, status)
		require.Contains(t, body, "tasks {title: 1, _id: 1} is missing")
	}
	waits := logLines(t, a.log.String(), "another process prepares the database")
	require.Equal(t, "elsewhere", waits[0]["holder_host"])
	require.NoError(t, held.Release(t.Context()))
	a.awaitOK("/readyz")
	b.awaitOK("/readyz")
	require.Eventually(t, func() bool { // the second has looked, too
		_, locked, err := d.lock().Holding(t.Context())
		return err == nil && !locked
	}, patience, time.Millisecond)

	built := map[string]int{}
	for _, line := range append(logLines(t, a.log.String(), "index"), logLines(t, b.log.String(), "index")...) {
		built[fmt.Sprint(line["index"])]++
	}
	for _, i := range declaredIndexes() {
		require.Equal(t, 1, built[i.String()], "%s: %v", i, built)
	}
	compared, err := indexes.Compare(t.Context(), d.db, nil)
	require.NoError(t, err)
	for _, e := range compared.Extra {
		require.True(t, e.Ours, "%s is retired one day", e)
	}
}

// A replica that finds everything built writes nothing, and so needs no rights to.
func TestAReplicaThatFindsEverythingBuiltTakesNoLock(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	d.buildVersionWith(t)
	environ := append(databaseEnviron(t, mongotest.URI(t)), append(d.environ, "CATALOGUE_INDEXES=create")...)
	startServe(t, environ).awaitOK("/readyz")
	names, err := d.db.ListCollectionNames(t.Context(), map[string]string{"name": migrations.Collection})
	require.NoError(t, err)
	require.Empty(t, names)
}
