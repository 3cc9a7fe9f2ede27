package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/mongotest"
)

const (
	largeRows = 100_000
	largeTask = 200 // comments below each task that is walked; the others are below tasks that nobody looks at
)

// largeComment is a comment as our own writers store it, below the task with that number. Half of a task's comments are
// from before now and half from after, so that new ones come in between.
func largeComment(i, task int) bson.D {
	at := bson.NewDateTimeFromTime(time.Date(2020+100*(i%2), 1, 1, 0, 0, i, 0, time.UTC))
	return bson.D{
		{Key: "_id", Value: bson.ObjectID{byte(i >> 16), byte(i >> 8), byte(i), 1}},
		{Key: "entity_type", Value: "task"},
		{Key: "entity_id", Value: feedID(task + 1)},
		{Key: "author", Value: "bob"},
		{Key: "body", Value: "b"},
		{Key: "created_at", Value: at},
		{Key: "rev", Value: int64(1)},
		{Key: "dateModified", Value: at},
		{Key: "public_modified", Value: float64(i)},
		{Key: "feed", Value: "live"},
	}
}

// plantLarge makes a collection of comments, and a task for each writer.
func plantLarge(t *testing.T, d deployment) {
	t.Helper()
	t.Cleanup(func() { // the engine takes its time, more than the drop of a test's database has
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		require.NoError(t, d.db.Collection("comments").Drop(ctx))
	})
	for w := range writers {
		plant(t, d.db, "tasks", bson.D{{Key: "_id", Value: feedID(w + 1)}, {Key: "title", Value: "t"}, {Key: "rev", Value: int64(1)}})
	}
	for start := 0; start < largeRows; start += 10_000 {
		rows := make([]bson.D, 10_000)
		for i := range rows {
			rows[i] = largeComment(start+i, (start+i)/largeTask)
		}
		plant(t, d.db, "comments", rows...)
	}
}

// commentsPath is the path of a task's list.
func commentsPath(task int) string { return "/tasks/" + feedID(task+1).Hex() + "/comments" }

// writeComment makes a comment through the API, changes it and deletes it.
func writeComment(ctx context.Context, a *api, task int) error {
	header, _, err := a.call(ctx, http.MethodPost, commentsPath(task), `{"body": "new"}`)
	if err != nil {
		return err
	}
	path := header.Get("Location")
	if _, _, err := a.call(ctx, http.MethodPatch, path, `{"body": "changed"}`); err != nil {
		return err
	}
	_, _, err = a.call(ctx, http.MethodDelete, path, "")
	return err
}

// seenOnce walks the comments of a task. Each that nobody touches is there once, and in its place.
func seenOnce(ctx context.Context, a *api, task int, sort string) error {
	stayed := map[string]bool{}
	for i := task * largeTask; i < (task+1)*largeTask; i++ {
		stayed[bson.ObjectID{byte(i >> 16), byte(i >> 8), byte(i), 1}.Hex()] = true
	}
	var order []string
	err := a.walkWhile(ctx, commentsPath(task), sort, 50, func(id string) bool {
		if stayed[id] {
			order = append(order, id)
		}
		return len(order) <= len(stayed)
	})
	if err != nil {
		return err
	}
	want := wantedOrder(task, sort)
	for n, id := range order {
		if n >= len(want) || id != want[n] {
			return fmt.Errorf("%s of task %d: row %d is out of its place or doubled", sort, task, n)
		}
	}
	if len(order) < len(want) {
		return errors.New("rows are lost")
	}
	return nil
}

// wantedOrder are the comments of a task that stay: the even ones are the older ones.
func wantedOrder(task int, sort string) []string {
	var out []string
	for _, odd := range []int{0, 1} {
		for i := task*largeTask + odd; i < (task+1)*largeTask; i += 2 {
			out = append(out, bson.ObjectID{byte(i >> 16), byte(i >> 8), byte(i), 1}.Hex())
		}
	}
	if sort == "-created_at" {
		for a, b := 0, len(out)-1; a < b; a, b = a+1, b-1 {
			out[a], out[b] = out[b], out[a]
		}
	}
	return out
}

// It has the engine to itself: what runs beside it would wait for it.
func TestABuildOnALargeCollectionDisturbsNoRequest(t *testing.T) {
	mongotest.Needs(t, mongotest.SchemaTitles, mongotest.Transactions)
	d := newDeployment(t)
	plantLarge(t, d)
	a := serveAsIs(t, d.db, 30*time.Second)
	written, walked := inBackground(t), inBackground(t)
	for task := range writers {
		written.repeat(t.Context(), func(ctx context.Context) error { return writeComment(ctx, a, task) })
	}
	for n, sort := range []string{"created_at", "-created_at"} {
		task := n
		walked.repeat(t.Context(), func(ctx context.Context) error {
			task = (task + 1) % writers
			return seenOnce(ctx, a, task, sort)
		})
	}
	written.awaitRounds(t, 1)
	walked.awaitRounds(t, 1) // without an index

	began := time.Now()
	writesBefore, _ := written.state()
	walksBefore, _ := walked.state()
	d.up(t)
	took := time.Since(began)
	writesAfter, _ := written.state()
	walksAfter, _ := walked.state()
	t.Logf("up took %s; meanwhile %d comments were written and deleted, and %d lists walked",
		took, writesAfter-writesBefore, walksAfter-walksBefore)
	require.Greater(t, writesAfter, writesBefore)

	require.NoError(t, a.state.Look(t.Context()))
	walked.awaitRounds(t, 2) // by the new index
	written.stop(t)
	walked.stop(t)
	d.requireDeclared(t)
	require.Equal(t, largeRows, a.count(t, "comments", bson.D{{Key: "author", Value: "bob"}, {Key: "rev", Value: int64(1)}}))
}
