package changes_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/changes"
	"catalogue/internal/mongotest"
	"catalogue/internal/origin"
	"catalogue/internal/problem"
)

func deleteJob(t *testing.T, w *changes.Writer[job], id bson.ObjectID) {
	t.Helper()
	mongotest.Needs(t, mongotest.Transactions)
	require.NoError(t, w.Delete(soon(t), changes.Removal[job]{ID: id}))
}

// An object goes with what stands below it. It and its notes leave tombstones, its history none.
func TestDelete(t *testing.T) {
	t.Parallel()
	db := database(t)
	one := newJob(t, db, job{Name: new("a"), Status: new("open"), Source: &origin.Source{System: "s", ID: "1", Digest: "d"}})
	other := newJob(t, db, job{Name: new("b"), Status: new("open")})
	note1, note2, note3 := newNote(t, db, one.ID), newNote(t, db, one.ID), newNote(t, db, other.ID)
	before := raw(t, db, collection, one.ID)
	deleteJob(t, jobWriter(db), one.ID)

	require.Len(t, rowsOf(t, db, collection, bson.M{}), 1)
	require.Len(t, rowsOf(t, db, "history", bson.M{}), 1)
	left := rowsOf(t, db, notes, bson.M{})
	require.Len(t, left, 1)
	require.Equal(t, note3.ID, left[0]["_id"])

	stone := rowsOf(t, db, "tombstones", bson.M{"id": one.ID})
	require.Len(t, stone, 1)
	require.NotEqual(t, one.ID, stone[0]["_id"])
	require.Greater(t, stone[0]["public_modified"], before["public_modified"])
	deleted, ok := stone[0]["deleted_at"].(bson.DateTime)
	require.True(t, ok)
	require.WithinDuration(t, time.Now(), deleted.Time(), time.Minute)
	delete(stone[0], "_id")
	delete(stone[0], "public_modified")
	delete(stone[0], "deleted_at")
	require.Equal(t, bson.M{
		"entity": "thing", "id": one.ID,
		"source": bson.D{{Key: "system", Value: "s"}, {Key: "id", Value: "1"}, {Key: "digest", Value: "d"}},
	}, stone[0])
	for _, n := range []bson.ObjectID{note1.ID, note2.ID} {
		stones := rowsOf(t, db, "tombstones", bson.M{"id": n})
		require.Len(t, stones, 1)
		require.Equal(t, "note", stones[0]["entity"])
		require.NotContains(t, stones[0], "source")
	}

	err := jobWriter(db).Delete(soon(t), changes.Removal[job]{ID: one.ID})
	requireCode(t, problem.NotFound, err)
	_, err = patchJob(t, db, one.ID, func(*job) {})
	requireCode(t, problem.NotFound, err)
}

func TestDeleteOfOneNoteLeavesTheOthers(t *testing.T) {
	t.Parallel()
	db := database(t)
	parent := newJob(t, db, job{})
	one, two := newNote(t, db, parent.ID), newNote(t, db, parent.ID)
	refused := errors.New("not yours")
	check := func(stored *note, rev int64) error {
		require.Equal(t, new("text"), stored.Body)
		require.Equal(t, int64(1), rev)
		return refused
	}
	require.ErrorIs(t, noteWriter(db).Delete(soon(t), changes.Removal[note]{ID: one.ID, Check: check}), refused)
	require.NoError(t, noteWriter(db).Delete(soon(t), changes.Removal[note]{ID: one.ID}))
	left := rowsOf(t, db, notes, bson.M{})
	require.Len(t, left, 1)
	require.Equal(t, two.ID, left[0]["_id"])
	require.Equal(t, int64(1), raw(t, db, collection, parent.ID)["rev"])
}

// A tombstone's place in the feed is never before the object's own, and never where nothing comes back from.
func TestPlaceOfATombstone(t *testing.T) {
	t.Parallel()
	db := database(t)
	now := float64(time.Now().UnixMilli()) / 1000
	for name, c := range map[string]struct {
		stored any
		want   float64
		delta  float64
	}{
		"an hour ahead": {now + 3600, now + 3600.001, 1e-4},
		"a year ahead":  {now + 365*86400, now, 60},
		"a text":        {"x", now, 60},
		"null":          {nil, now, 60},
	} {
		created := newJob(t, db, job{})
		_, err := db.Collection(collection).UpdateByID(t.Context(), created.ID, bson.M{"$set": bson.M{"public_modified": c.stored}})
		require.NoError(t, err)
		deleteJob(t, jobWriter(db), created.ID)
		stone := rowsOf(t, db, "tombstones", bson.M{"id": created.ID})
		require.InDelta(t, c.want, stone[0]["public_modified"], c.delta, name)
	}
}

// More notes than are buried at once, whose ids are of any type.
func TestDeleteOfManyNotes(t *testing.T) {
	t.Parallel()
	const many = 1203
	db := database(t)
	parent := newJob(t, db, job{})
	rows := make([]any, many)
	for i := range rows {
		rows[i] = bson.M{"_id": i, "entity_type": "thing", "entity_id": parent.ID, "public_modified": "odd", "source": 5}
	}
	_, err := db.Collection(notes).InsertMany(t.Context(), rows)
	require.NoError(t, err)
	deleteJob(t, jobWriter(db), parent.ID)
	require.Empty(t, rowsOf(t, db, notes, bson.M{}))
	require.Len(t, rowsOf(t, db, "tombstones", bson.M{"entity": "note"}), many)
	require.Len(t, rowsOf(t, db, "tombstones", bson.M{"entity": "note", "id": 1000}), 1)
}
