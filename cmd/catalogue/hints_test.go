package main

import (
	"context"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"catalogue/internal/mongodb"
	"catalogue/internal/mongotest"
	"catalogue/internal/seeding"
)

// hinted is a read that was sent, with its hint.
type hinted struct{ collection, hint string }

// watchedReads serves data over a client that writes down every find and count of the lists' collections. Reads of one
// object by its id are left out: they have an index of their own.
type watchedReads struct {
	*api
	mu    sync.Mutex
	reads []hinted
}

func watchReads(t *testing.T) *watchedReads {
	t.Helper()
	db := mongotest.Database(t)
	seed(t, db, seeding.Options{Creatives: 300, Tasks: 40, Seed: 1})
	w := &watchedReads{}
	client, err := mongodb.Open(mongodb.Options{
		URI: mongotest.URI(t), Database: db.Name(), Monitor: &event.CommandMonitor{Started: w.started},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Disconnect(context.Background())) })
	w.api = serveDatabase(t, client.Database())
	return w
}

func (w *watchedReads) started(_ context.Context, e *event.CommandStartedEvent) {
	if e.CommandName != "find" && e.CommandName != "aggregate" {
		return
	}
	if one, err := e.Command.LookupErr("filter", "_id"); err == nil && one.Type == bson.TypeObjectID {
		return
	}
	hint, _ := e.Command.Lookup("hint").StringValueOK()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads = append(w.reads, hinted{collection: e.Command.Lookup(e.CommandName).StringValue(), hint: hint})
}

// of gets a page and tells what was read for it.
func (w *watchedReads) of(t *testing.T, target string) []hinted {
	t.Helper()
	w.mu.Lock()
	w.reads = nil
	w.mu.Unlock()
	require.Equal(t, 200, w.get(t, target).status, target)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reads
}

func TestEveryReadWithoutAFilterHasItsHint(t *testing.T) {
	t.Parallel()
	w := watchReads(t)
	task := w.firstTask(t)
	for _, c := range []struct{ target, collection, hint string }{
		{"/creatives?", "creatives", "created_at_1__id_1"},
		{"/creatives?sort=-metrics.spend&", "creatives", "metrics.spend_1__id_1"},
		{"/creatives/gallery?sort=name&", "creatives", "name_1__id_1"},
		{"/tasks?sort=due_at&", "tasks", "due_at_1__id_1"},
		{"/tasks/" + task + "/comments?", "comments", "entity_type_1_entity_id_1_created_at_1__id_1"},
		{"/tasks/" + task + "/history?", "history", "entity_type_1_entity_id_1_action_1_at_1__id_1"},
	} {
		cursor, pages := "", 0
		for pages < 3 {
			target := c.target + "limit=2" + cursor
			reads := w.of(t, target)
			require.NotEmpty(t, reads, target)
			for _, read := range reads {
				require.Equal(t, hinted{c.collection, c.hint}, read, target)
			}
			pages++
			next := w.page(t, target).Meta.NextCursor
			if next == nil {
				break
			}
			cursor = "&cursor=" + url.QueryEscape(*next)
		}
		require.Greater(t, pages, 1, c.target)
	}
}

// The rule and its figures are in docs/performance.md.
func TestAFilteredReadIsHintedWhereNoOtherIndexCouldServeItBetter(t *testing.T) {
	t.Parallel()
	w := watchReads(t)
	for query, want := range map[string]string{
		"status=active":                          "status_1_created_at_1__id_1",
		"format=video&created_at.gte=2024-01-01": "format_1_created_at_1__id_1",
		"status=active&q=sale":                   "", // the words may be rare
		"created_at.gte=2024-01-01":              "", // no gain
		"metrics.spend.gte=5&sort=metrics.spend": "",
		"metrics.spend.gte=5":                    "",
		"status=active&sort=name":                "", // there is no index for the two
		"status=active,paused":                   "", // several ranges
		"status=active&format=video":             "", // two pairs
		"status=active&source.id=1":              "", // the other index may find one row
		"tag=brand":                              "", // several values in a row have no order
		"q=sale":                                 "", // few rows of many, perhaps
	} {
		target := "/creatives?limit=5&" + query
		reads := w.of(t, target)
		require.NotEmpty(t, reads, target)
		require.Equal(t, hinted{"creatives", want}, reads[0], target)
	}
}
