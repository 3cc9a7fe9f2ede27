package changes_test

import (
	"context"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/changes"
	"catalogue/internal/mongotest"
)

var backfilled = []changes.Imported{
	jobs().Imported(), notesOfJobs().Imported(), {Collection: "history", Parent: collection},
}

func TestBackfill(t *testing.T) {
	t.Parallel()
	db := database(t)
	parent, lost := bson.NewObjectID(), bson.NewObjectID()
	long := bson.DateTime(1e12)
	things := []any{
		bson.M{"_id": parent, "name": "$$NOW", "mode": "test", "updated_at": long},
		bson.M{"_id": bson.NewObjectID(), "name": "draft", "status": "draft"},
		bson.M{"_id": bson.NewObjectID(), "name": "odd", "rev": "abc", "public_modified": 1e300, "feed": 5},
		bson.M{"_id": "own", "name": "own id"},
		bson.M{"_id": int64(5), "name": "number"},
		bson.M{"_id": bson.NewObjectID(), "name": "done", "rev": int64(7), "public_modified": 0, "updated_at": long},
	}
	_, err := db.Collection(collection).InsertMany(t.Context(), things)
	require.NoError(t, err)
	_, err = db.Collection(notes).InsertMany(t.Context(), []any{
		bson.M{"_id": bson.NewObjectID(), "name": "of test", "entity_id": parent},
		bson.M{"_id": bson.NewObjectID(), "name": "of nothing", "entity_id": lost, "mode": "test"},
		bson.M{"_id": bson.NewObjectID(), "name": "of no id", "entity_id": "x"},
	})
	require.NoError(t, err)
	_, err = db.Collection("history").InsertOne(t.Context(), bson.M{"name": "entry", "entity_id": parent})
	require.NoError(t, err)

	var told []int64
	require.NoError(t, changes.Backfill(t.Context(), db, backfilled, func(done int64) { told = append(told, done) }))
	require.Equal(t, []int64{5, 8}, told)
	for name, c := range map[string]struct {
		collection string
		rev, feed  any
	}{
		"$$NOW":      {collection, int64(1), "test"},
		"draft":      {collection, int64(1), nil},
		"odd":        {collection, int64(1), "live"},
		"own id":     {collection, int64(1), nil},
		"number":     {collection, int64(1), nil},
		"done":       {collection, int64(7), nil},
		"of test":    {notes, int64(1), "test"},
		"of nothing": {notes, int64(1), "test"},
		"of no id":   {notes, int64(1), "live"},
		"entry":      {"history", nil, nil},
	} {
		rows := rowsOf(t, db, c.collection, bson.M{"name": name})
		require.Len(t, rows, 1, name)
		require.Equal(t, c.rev, rows[0]["rev"], name)
		require.Equal(t, c.feed, rows[0]["feed"], name)
		if c.rev == int64(1) {
			moment, ok := rows[0]["dateModified"].(bson.DateTime)
			require.True(t, ok, name)
			require.WithinDuration(t, time.Now(), moment.Time(), time.Minute)
			require.InDelta(t, float64(moment)/1000, rows[0]["public_modified"], 1e-9, name)
		}
	}
	require.Equal(t, long, raw(t, db, collection, parent)["updated_at"])
	require.Equal(t, "test", rowsOf(t, db, notes, bson.M{"name": "of test"})[0]["mode"])

	require.NoError(t, changes.Backfill(t.Context(), db, backfilled, func(int64) { require.Fail(t, "all is done") }))
}

// A row whose place the feed cannot show is missing there for ever: it gets another one.
func TestBackfillOfImpossiblePlaces(t *testing.T) {
	t.Parallel()
	db := database(t)
	for name, c := range map[string]struct {
		rev, position any
		want          int64
	}{
		"null":             {int64(5), nil, 6},
		"NaN":              {int64(5), math.NaN(), 6},
		"infinite":         {int64(5), math.Inf(1), 6},
		"text":             {int64(5), "1760598968.123", 6},
		"array":            {int64(5), bson.A{1760598968.123}, 6},
		"negative":         {int64(5), -0.001, 6},
		"milliseconds":     {int64(5), 1760598968123.0, 6},
		"the year 10000":   {int64(5), int64(253402300800), 6},
		"a date":           {int64(5), bson.DateTime(0), 6},
		"undefined":        {int64(5), undefined(), 6},
		"a rev of a list":  {bson.A{int64(5)}, 1760598968.123, 1},
		"a good one":       {int64(5), 1760598968.123, 5},
		"a whole one":      {int32(5), int32(0), 5},
		"the latest":       {int64(5), 253402300799.999, 5},
		"a good empty rev": {0.0, 1.0, 0},
	} {
		id := bson.NewObjectID()
		_, err := db.Collection(collection).InsertOne(t.Context(),
			bson.D{{Key: "_id", Value: id}, {Key: "rev", Value: c.rev}, {Key: "public_modified", Value: c.position}})
		require.NoError(t, err)
		count, err := db.Collection(collection).CountDocuments(t.Context(), changes.Unstamped())
		require.NoError(t, err)
		require.NoError(t, changes.Backfill(t.Context(), db, backfilled, func(done int64) { count -= done }))
		require.Zero(t, count, name)
		doc := raw(t, db, collection, id)
		require.EqualValues(t, c.want, doc["rev"], name)
		if c.want == 6 {
			require.InDelta(t, float64(time.Now().UnixMilli())/1000, doc["public_modified"], 60, name)
			require.Equal(t, "live", doc["feed"], name)
		}
	}
}

// A run that is cut short goes on where it ended; rows that are written meanwhile are left alone.
func TestBackfillGoesOnAfterAnInterruption(t *testing.T) {
	t.Parallel()
	const many = 1000
	db := database(t)
	rows := make([]any, many)
	for i := range rows {
		rows[i] = bson.M{"_id": bson.NewObjectID(), "name": strconv.Itoa(i)}
	}
	_, err := db.Collection(collection).InsertMany(t.Context(), rows)
	require.NoError(t, err)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	err = changes.Backfill(ctx, db, backfilled, func(int64) { interrupt() })
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "stamp the rows of things")
	first := rowsOf(t, db, collection, bson.M{"rev": 1})
	require.NotEmpty(t, first)
	require.Less(t, len(first), many)

	var done int64
	require.NoError(t, changes.Backfill(t.Context(), db, backfilled, func(n int64) { done = n }))
	require.Equal(t, int64(many-len(first)), done)
	require.Len(t, rowsOf(t, db, collection, bson.M{"rev": 1, "feed": "live"}), many)
	require.Equal(t, first[0], raw(t, db, collection, first[0]["_id"]))
}

// An edit and a backfill of one row meet: whoever comes second goes on from the first.
func TestBackfillBesideEdits(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions)
	const many = 110
	db := database(t)
	rows, ids := make([]any, many), make([]bson.ObjectID, many)
	for i := range rows {
		ids[i] = bson.NewObjectID()
		rows[i] = bson.M{"_id": ids[i], "name": "old"}
	}
	_, err := db.Collection(collection).InsertMany(t.Context(), rows)
	require.NoError(t, err)
	last := ids[many-1]
	var edited bson.M
	require.NoError(t, changes.Backfill(t.Context(), db, backfilled, func(int64) {
		if edited == nil { // the last row is read, and not stamped
			_, err := patchJob(t, db, last, func(j *job) { j.Name = new("edited") })
			require.NoError(t, err)
			edited = raw(t, db, collection, last)
		}
	}))
	require.Equal(t, edited, raw(t, db, collection, last))
	require.Equal(t, int64(1), edited["rev"])

	id := bson.NewObjectID()
	_, err = db.Collection(collection).InsertOne(t.Context(), bson.M{"_id": id, "name": "old"})
	require.NoError(t, err)
	var stamped error
	saved, err := jobWriter(db).Patch(soon(t), changes.Change[job]{
		ID: id,
		Check: func(_ *job, rev int64) error {
			if rev == 0 { // the backfill is faster than this attempt
				stamped = changes.Backfill(t.Context(), db, backfilled, func(int64) {})
			}
			return nil
		},
		Apply: func(j *job) error { j.Name = new("new"); return nil },
	})
	require.NoError(t, err)
	require.NoError(t, stamped)
	require.Equal(t, int64(2), saved.Rev)
}
