package changes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/errgroup"

	"catalogue/internal/changes"
	"catalogue/internal/mongotest"
	"catalogue/internal/problem"
)

// Fifty at once move one job: each success raised rev by one, and each move has exactly one entry.
func TestFiftyPatchesOfOneObjectAtOnce(t *testing.T) {
	t.Parallel()
	const clients = 50
	db := database(t)
	created := newJob(t, db, job{Status: new("0")})
	writer := jobWriter(db)
	var mu sync.Mutex
	var revs []int64
	calls, ctx := errgroup.WithContext(soon(t))
	for i := range clients {
		calls.Go(func() error {
			saved, err := writer.Patch(ctx, changes.Change[job]{
				ID: created.ID, By: strconv.Itoa(i), Apply: func(j *job) error { j.Status = new(strconv.Itoa(1 + i)); return nil },
			})
			mu.Lock()
			defer mu.Unlock()
			revs = append(revs, saved.Rev)
			return err
		})
	}
	require.NoError(t, calls.Wait())
	slices.Sort(revs)
	for i, rev := range revs {
		require.Equal(t, int64(2+i), rev)
	}
	require.Equal(t, int64(1+clients), raw(t, db, collection, created.ID)["rev"])
	entries := rowsOf(t, db, "history", bson.M{"action": "moved"})
	require.Len(t, entries, clients)
	next := map[any]bson.M{}
	for _, e := range entries {
		next[e["from"]] = e
	}
	last, moments := any("0"), map[any]bool{} // the moves are one chain, and no two are of one moment
	for range clients {
		require.Contains(t, next, last)
		last, moments[next[last]["at"]] = next[last]["to"], true
	}
	require.Len(t, moments, clients)
	require.Equal(t, raw(t, db, collection, created.ID)["status"], last)
}

// The same without transactions, where the guard alone keeps the writers apart.
func TestPatchesWithoutATransactionLoseNothing(t *testing.T) {
	t.Parallel()
	const clients = 20
	db := database(t)
	kind := jobs()
	kind.History = false
	writer := changes.NewWriter(db, kind, bson.NewObjectID)
	created, err := writer.Create(soon(t), "", job{}, nil)
	require.NoError(t, err)
	calls, ctx := errgroup.WithContext(soon(t))
	for i := range clients {
		calls.Go(func() error {
			_, err := writer.Patch(ctx, changes.Change[job]{ID: created.ID, Apply: func(j *job) error {
				j.Tags = append(j.Tags, strconv.Itoa(i))
				return nil
			}})
			return err
		})
	}
	require.NoError(t, calls.Wait())
	doc := raw(t, db, collection, created.ID)
	require.Len(t, doc["tags"], clients)
	require.Equal(t, int64(1+clients), doc["rev"])
}

// A note is created while its job is deleted: in whatever order the two end, no note is left below nothing.
func TestCreationBelowAnObjectThatIsDeletedLeavesNoOrphan(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions)
	const rounds = 25
	db := database(t)
	var created, refused atomic.Int64
	for range rounds {
		parent := newJob(t, db, job{Mode: new("live")})
		calls, ctx := errgroup.WithContext(soon(t))
		for range 3 {
			calls.Go(func() error {
				_, err := noteWriter(db).Create(ctx, "", note{EntityType: new("thing"), EntityID: parent.ID}, nil)
				if err != nil && problem.Of(err).Code == problem.NotFound {
					refused.Add(1)
					return nil
				}
				created.Add(1)
				return err
			})
		}
		calls.Go(func() error { return jobWriter(db).Delete(ctx, changes.Removal[job]{ID: parent.ID}) })
		require.NoError(t, calls.Wait())
		require.Empty(t, rowsOf(t, db, notes, bson.M{}))
	}
	require.Equal(t, int64(3*rounds), created.Load()+refused.Load())
	require.Len(t, rowsOf(t, db, "tombstones", bson.M{"entity": "note"}), int(created.Load()))
}

// Both orders on purpose: each begins while the other one has written and not committed.
func TestCreationAndDeletionThatOverlap(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions)
	db := database(t)
	create := func(ctx context.Context, parent bson.ObjectID, inside changes.Inside[note]) error {
		_, err := noteWriter(db).Create(ctx, "", note{EntityType: new("thing"), EntityID: parent}, inside)
		return err
	}
	t.Run("creation first", func(t *testing.T) {
		t.Parallel()
		parent := newJob(t, db, job{})
		deleted := make(chan error, 1)
		begun := sync.Once{}
		tried := make(chan struct{})
		ctx := soon(t)
		require.NoError(t, create(ctx, parent.ID, func(context.Context, changes.Saved[note]) error {
			begun.Do(func() {
				go func() {
					tries := sync.Once{}
					deleted <- jobWriter(db).Delete(ctx, changes.Removal[job]{
						ID: parent.ID, Check: func(*job, int64) error { tries.Do(func() { close(tried) }); return nil },
					})
				}()
				<-tried
			})
			return nil
		}))
		require.NoError(t, <-deleted)
		require.Empty(t, rowsOf(t, db, notes, bson.M{"entity_id": parent.ID}))
		require.Len(t, rowsOf(t, db, "tombstones", bson.M{"entity": "note"}), 1)
	})
	t.Run("deletion first", func(t *testing.T) {
		t.Parallel()
		parent := newJob(t, db, job{})
		created := make(chan error, 1)
		begun := sync.Once{}
		ctx := soon(t)
		require.NoError(t, jobWriter(db).Delete(ctx, changes.Removal[job]{ID: parent.ID, Inside: func(context.Context) error {
			begun.Do(func() { go func() { created <- create(ctx, parent.ID, nil) }() })
			return nil
		}}))
		requireCode(t, problem.NotFound, <-created)
		require.Empty(t, rowsOf(t, db, notes, bson.M{"entity_id": parent.ID}))
	})
}

// A slow transaction holds its object; a write that meets only it until its time is over says so.
func TestContended(t *testing.T) {
	t.Parallel()
	db := database(t)
	created := newJob(t, db, job{Name: new("a")})
	holding, release := make(chan struct{}), make(chan struct{})
	slow := make(chan error, 1)
	ctx := soon(t)
	go func() {
		_, err := jobWriter(db).Patch(ctx, changes.Change[job]{
			ID: created.ID, Apply: func(j *job) error { j.Name = new("slow"); return nil },
			Inside: func(context.Context, changes.Saved[job]) error {
				close(holding)
				<-release
				return nil
			},
		})
		slow <- err
	}()
	<-holding
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := jobWriter(db).Patch(short, changes.Change[job]{
		ID: created.ID, Apply: func(j *job) error { j.Name = new("quick"); return nil },
	})
	requireCode(t, problem.Contended, err)
	require.Equal(t, time.Second, problem.Of(err).RetryAfter)

	gone, leave := context.WithCancel(t.Context())
	_, err = jobWriter(db).Patch(gone, changes.Change[job]{
		ID: created.ID, Apply: func(j *job) error { leave(); j.Name = new("gone"); return nil },
	})
	requireCode(t, problem.ClientClosedRequest, err)
	close(release)
	require.NoError(t, <-slow)
	require.Equal(t, "slow", raw(t, db, collection, created.ID)["name"])
	require.Equal(t, int64(2), raw(t, db, collection, created.ID)["rev"])
}

// Edits and imports of one object at once, in one embedded document: none is lost, and each is one rev.
func TestImportAgainstEdits(t *testing.T) {
	t.Parallel()
	for name, transactions := range map[string]bool{"with transactions": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if transactions {
				mongotest.Needs(t, mongotest.Transactions)
			}
			importAgainstEdits(t, transactions)
		})
	}
}

func importAgainstEdits(t *testing.T, transactions bool) {
	t.Helper()
	const rounds = 15
	db := database(t)
	content := func(i int) []changes.Item {
		text := strconv.Itoa(i)
		return []changes.Item{row("1", text, job{Name: &text, Attributes: map[string]string{"a": text}})}
	}
	im := importerOf(db, bson.NewObjectID, transactions)
	_, err := im.Apply(t.Context(), collection, content(0))
	require.NoError(t, err)
	id, ok := imported(t, db, collection, "1")["_id"].(bson.ObjectID)
	require.True(t, ok)
	calls, ctx := errgroup.WithContext(soon(t))
	calls.Go(func() error {
		for i := range rounds {
			out, err := im.Apply(ctx, collection, content(1+i))
			if err != nil || out[0] != changes.Updated {
				return fmt.Errorf("round %d: %v %w", i, out, err)
			}
		}
		return nil
	})
	calls.Go(func() error {
		kind := jobs()
		kind.History = transactions
		writer := changes.NewWriter(db, kind, bson.NewObjectID)
		for i := range rounds {
			_, err := writer.Patch(ctx, changes.Change[job]{ID: id, Apply: func(j *job) error {
				j.Attributes["edit "+strconv.Itoa(i)] = "x"
				return nil
			}})
			if err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, calls.Wait())
	doc := imported(t, db, collection, "1")
	require.Equal(t, int64(1+2*rounds), doc["rev"])
	require.Equal(t, strconv.Itoa(rounds), doc["name"])
	require.Len(t, doc["attributes"], 1+rounds)
	require.Contains(t, doc["attributes"], bson.E{Key: "a", Value: strconv.Itoa(rounds)})
}

// A write that is tried again begins anew: what an undone attempt has left in the object does not stay.
func TestEachAttemptHasAFreshCopy(t *testing.T) {
	t.Parallel()
	db := database(t)
	created := newJob(t, db, job{Attributes: map[string]string{"a": "1"}})
	attempts := 0
	saved, err := jobWriter(db).Patch(soon(t), changes.Change[job]{ID: created.ID, Apply: func(j *job) error {
		require.Equal(t, map[string]string{"a": "1"}, j.Attributes)
		j.Attributes[fmt.Sprint("try ", attempts)] = "x"
		if attempts++; attempts == 1 { // another one is faster
			_, err := patchJob(t, db, created.ID, func(j *job) { j.Name = new("other") })
			return err
		}
		return nil
	}})
	require.NoError(t, err)
	require.Equal(t, 2, attempts)
	require.Equal(t, map[string]string{"a": "1", "try 1": "x"}, saved.Item.Attributes)
	require.Equal(t, new("other"), saved.Item.Name)
	require.Equal(t, int64(3), saved.Rev)
}

func TestErrorsOfInsideAreNotTriedAgain(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions)
	db := database(t)
	calls := 0
	_, err := jobWriter(db).Create(soon(t), "", job{}, func(context.Context, changes.Saved[job]) error {
		calls++
		return errors.New("no")
	})
	require.ErrorContains(t, err, "no")
	require.Equal(t, 1, calls)
}
