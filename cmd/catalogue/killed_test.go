package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/errgroup"

	"catalogue/internal/mongotest"
	"catalogue/internal/problem"
)

const (
	killedWriters = 4
	kills         = 5
	// killedProgress is how many writes are acknowledged between two kills.
	killedProgress = 30
	// killWithin is the span of chance behind that, in which the next kill comes.
	killWithin = 200 * time.Millisecond
	// killedTransactionLimit is how many seconds the database leaves a transaction open whose client was killed, and
	// keeps everybody else from its objects. Its default is 60.
	killedTransactionLimit = 3
	// killedLimit bounds what goes on in a test: a writer that is never answered ends with it.
	killedLimit = 2 * time.Minute
)

// No acknowledged write is lost when the server is killed again and again, nothing is done twice, and followers go on.
func TestNoAcknowledgedWriteIsLostWhereTheServerIsKilled(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions)
	d := deployOn(t, mongotest.NewOwn(t))
	require.NoError(t, d.db.Client().Database("admin").RunCommand(t.Context(), bson.D{
		{Key: "setParameter", Value: 1}, {Key: "transactionLifetimeLimitSeconds", Value: killedTransactionLimit},
	}).Err())
	server := startInstance(t, d)
	surviveKills(t, d, server, server)
}

// The same where the database is killed under a server that goes on.
func TestNoAcknowledgedWriteIsLostWhereTheDatabaseIsKilled(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions)
	database := mongotest.NewOwn(t)
	d := deployOn(t, database)
	surviveKills(t, d, startInstance(t, d), database)
}

// surviveKills kills victim while writers write and followers follow, and looks at what is left.
func surviveKills(t *testing.T, d deployment, server *instance, victim killable) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), killedLimit)
	t.Cleanup(cancel)
	followers := []*followed{follow(ctx, t, server.url, "creatives"), follow(ctx, t, server.url, "tasks")}
	writers := writeThrough(ctx, t, server, victim)

	a := &api{url: server.url, db: d.db, client: newStubborn(t, server.url).http}
	for _, f := range followers {
		var known []*known
		for _, w := range writers {
			if w.collection == f.resource {
				known = append(known, w.objects...)
			}
		}
		requireAsAcknowledged(t, a, f.resource, known)
		f.requireCaughtUp(t, known)
		f.requireEqual(t, a)
	}
}

// writeThrough runs writers of creatives and of tasks while victim is killed, and returns them when all that they sent
// has been answered.
func writeThrough(ctx context.Context, t *testing.T, server *instance, victim killable) []*writer {
	t.Helper()
	client, stop := newStubborn(t, server.url), make(chan struct{})
	var acknowledged atomic.Int64
	var writers []*writer
	group, ctx := errgroup.WithContext(ctx)
	for n := range killedWriters {
		w := &writer{name: fmt.Sprint("w", n), collection: "creatives", field: "name", client: client, acknowledged: &acknowledged}
		if n%2 == 1 {
			w.collection, w.field = "tasks", "title"
		}
		writers = append(writers, w)
		group.Go(func() error { return w.run(ctx, stop) })
	}
	progress := func() {
		enough := acknowledged.Load() + killedProgress
		require.Eventually(t, func() bool { return acknowledged.Load() >= enough || ctx.Err() != nil },
			patience, time.Millisecond, "no write is acknowledged: %s", server.log)
	}
	interrupted := int64(0)
	for range kills {
		progress()
		<-time.After(rand.N(killWithin))
		interrupted += client.asking.Load()
		victim.Kill()
		victim.Start()
	}
	progress()
	close(stop)
	require.NoError(t, group.Wait())
	t.Logf("%d writes were acknowledged; kills came amid %d requests, and %d had no answer",
		acknowledged.Load(), interrupted, client.unanswered.Load())
	require.Positive(t, interrupted, "the kills came in the middle of writes")
	return writers
}

// known is an object as its writer, who alone changes it, knows it by the last acknowledged write.
type known struct {
	path   string
	marker string // what its text begins with; no other object's does
	text   string
	rev    int64
	gone   bool
}

func (k *known) id() string { return k.path[strings.LastIndex(k.path, "/")+1:] }

// writer makes, changes and deletes objects of its own, one request after the other.
type writer struct {
	name              string
	collection, field string // field is the one that holds the text
	client            *stubborn
	acknowledged      *atomic.Int64

	objects  []*known
	putOff   []string // markers of creations whose key a process held that was killed
	creation int
	change   int
}

func (w *writer) run(ctx context.Context, stop <-chan struct{}) error {
	for n := 0; ; n++ {
		select {
		case <-stop:
			return w.settle(ctx)
		case <-ctx.Done():
			return context.Cause(ctx)
		default:
		}
		if err := w.step(ctx, n); err != nil {
			return fmt.Errorf("%s of %s: %w", w.name, w.collection, err)
		}
	}
}

func (w *writer) step(ctx context.Context, n int) error {
	living := slices.DeleteFunc(slices.Clone(w.objects), func(k *known) bool { return k.gone })
	switch {
	case n%3 == 0 || len(living) == 0:
		w.creation++
		return w.create(ctx, fmt.Sprintf("%s-%d:", w.name, w.creation))
	case n%7 == 0:
		return w.remove(ctx, living[rand.IntN(len(living))])
	default:
		return w.update(ctx, living[rand.IntN(len(living))])
	}
}

// create uses the marker as the key. Of a process that was killed the key is free again only after a while: until then
// the writer does other things.
func (w *writer) create(ctx context.Context, marker string) error {
	body := fmt.Sprintf(`{%q: %q, "status": "active", "format": "image"}`, w.field, marker)
	if w.collection == "tasks" {
		body = fmt.Sprintf(`{%q: %q, "priority": 1}`, w.field, marker)
	}
	res, err := w.client.ask(ctx, http.MethodPost, "/"+w.collection, body, headers{"Idempotency-Key": marker})
	switch {
	case err != nil:
		return err
	case res.status == http.StatusCreated:
		w.acknowledged.Add(1)
		w.objects = append(w.objects, &known{path: res.header.Get("Location"), marker: marker, text: marker, rev: res.rev()})
		return nil
	case res.code() == string(problem.KeyInUse):
		w.putOff = append(w.putOff, marker)
		return nil
	default:
		return fmt.Errorf("the creation of %q: %d %s", marker, res.status, res.body)
	}
}

// settle repeats what was put off until it is answered.
func (w *writer) settle(ctx context.Context) error {
	for len(w.putOff) > 0 {
		marker := w.putOff[0]
		w.putOff = w.putOff[1:]
		if err := errors.Join(w.create(ctx, marker), pause(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// update is refused where an earlier try of the same was done: then the object is what that made of it.
func (w *writer) update(ctx context.Context, k *known) error {
	w.change++
	text := fmt.Sprint(k.marker, w.change)
	res, err := w.client.ask(ctx, http.MethodPatch, k.path, fmt.Sprintf(`{%q: %q}`, w.field, text), ifMatch(k))
	if err == nil && res.status == http.StatusPreconditionFailed {
		res, err = w.client.ask(ctx, http.MethodGet, k.path, "", nil)
	}
	if err != nil {
		return err
	}
	var shown struct {
		Data map[string]any `json:"data"`
	}
	if err := json.Unmarshal(res.body, &shown); err != nil || res.status != http.StatusOK {
		return fmt.Errorf("the change of %s: %d %s", k.path, res.status, res.body)
	}
	if res.rev() != k.rev+1 || shown.Data[w.field] != text {
		return fmt.Errorf("%s was acknowledged with rev %d and %q, then changed to %q, and is %s", k.path, k.rev, k.text, text, res.body)
	}
	w.acknowledged.Add(1)
	k.rev, k.text = k.rev+1, text
	return nil
}

// remove finds nothing where an earlier try was done.
func (w *writer) remove(ctx context.Context, k *known) error {
	res, err := w.client.ask(ctx, http.MethodDelete, k.path, "", ifMatch(k))
	if err != nil {
		return err
	}
	if res.status != http.StatusNoContent && res.status != http.StatusNotFound {
		return fmt.Errorf("the deletion of %s, of rev %d: %d %s", k.path, k.rev, res.status, res.body)
	}
	w.acknowledged.Add(1)
	k.gone = true
	return nil
}

func ifMatch(k *known) headers { return headers{"If-Match": fmt.Sprintf(`"%d"`, k.rev)} }

// requireAsAcknowledged requires that the collection holds what was acknowledged, and nothing else.
func requireAsAcknowledged(t *testing.T, a *api, collection string, objects []*known) {
	t.Helper()
	field := map[string]string{"creatives": "name", "tasks": "title"}[collection]
	stored, made := map[string]bson.Raw{}, map[string]int{}
	for _, doc := range mongotest.Everything(t, a.db.Collection(collection), bson.D{}) {
		stored[doc.Lookup("_id").ObjectID().Hex()] = doc
		made[strings.SplitAfter(doc.Lookup(field).StringValue(), ":")[0]]++
	}
	living, gone := 0, 0
	for _, k := range objects {
		id, err := bson.ObjectIDFromHex(k.id())
		require.NoError(t, err)
		buried := a.count(t, "tombstones", bson.D{{Key: "id", Value: id}})
		entries := a.count(t, "history", bson.D{{Key: "entity_id", Value: id}})
		if k.gone {
			gone++
			require.NotContains(t, stored, k.id(), "%s was deleted", k.marker)
			require.Zero(t, made[k.marker], "%s was created again", k.marker)
			require.Equal(t, 1, buried, k.marker)
			require.Zero(t, entries, k.marker)
			continue
		}
		living++
		doc := stored[k.id()]
		require.NotNil(t, doc, "%s is lost", k.marker)
		require.Equal(t, 1, made[k.marker], "%s was created more than once", k.marker)
		require.Equal(t, k.rev, doc.Lookup("rev").AsInt64(), k.marker)
		require.Equal(t, k.text, doc.Lookup(field).StringValue())
		require.Zero(t, buried, k.marker)
		if collection == "tasks" {
			require.EqualValues(t, k.rev, entries, "each change of %s has one entry of its history", k.marker)
		}
	}
	require.Len(t, stored, living, "an object was made for which nobody asked")
	require.Positive(t, living)
	require.Positive(t, gone)
}

// followed is a copy of a feed, and the program that keeps it.
type followed struct {
	resource, dir string
	interrupt     context.CancelFunc
	ended         chan outcome
}

// follow runs the program until the test ends or interrupts it.
func follow(ctx context.Context, t *testing.T, url, resource string) *followed {
	t.Helper()
	ctx, interrupt := context.WithCancel(ctx)
	f := &followed{resource: resource, dir: t.TempDir(), interrupt: interrupt, ended: make(chan outcome, 1)}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		f.ended <- runProgram(ctx, nil, "feed", "sync", "--resource", resource, "--url", url, "--dir", f.dir, "--interval", "20ms")
	}()
	t.Cleanup(func() {
		interrupt()
		<-gone
	})
	return f
}

// requireCaughtUp waits until the copy holds each object as it was acknowledged, and ends the program.
func (f *followed) requireCaughtUp(t *testing.T, objects []*known) {
	t.Helper()
	var missing []string
	require.Eventually(t, func() bool {
		missing = nil
		revs := revsCopied(t, filepath.Join(f.dir, "copy.jsonl"))
		for _, k := range objects {
			if !k.gone && revs[k.id()] != k.rev {
				missing = append(missing, fmt.Sprintf("%s of rev %d has rev %d", k.path, k.rev, revs[k.id()]))
			}
		}
		return len(missing) == 0
	}, patience, 50*time.Millisecond, "the follower of %s lost changes: %v", f.resource, &missing)
	f.interrupt()
	o := <-f.ended
	require.Equal(t, exitInterrupted, o.code, o.stderr)
}

// requireEqual verifies the copy. Of the feed itself nothing was lost: only what was deleted is to be taken out.
func (f *followed) requireEqual(t *testing.T, a *api) {
	t.Helper()
	o := a.syncVerify(t, f.dir, "--resource", f.resource, "--once")
	require.Equal(t, exitOK, o.code, "%s\n%s", o.stdout, o.stderr)
	require.Contains(t, o.stdout, "copy and feed are equal\n")
	require.Regexp(t, `(?m)^added +0$`, o.stdout)
	require.Regexp(t, `(?m)^refreshed +0$`, o.stdout)
	require.Equal(t, a.shown(t, f.resource, ""), copied(t, f.dir))
}
