package changes_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/changes"
	"catalogue/internal/mongotest"
	"catalogue/internal/origin"
	"catalogue/internal/problem"
)

func TestCreateStampsByTheDatabasesClock(t *testing.T) {
	t.Parallel()
	db := database(t)
	saved := newJob(t, db, job{Name: new("a"), Status: new("open"), Mode: new("live")})
	require.True(t, saved.Changed)
	require.Equal(t, int64(1), saved.Rev)
	doc := raw(t, db, collection, saved.ID)
	require.Equal(t, int64(1), doc["rev"])
	require.Equal(t, "live", doc["feed"])
	moment, ok := doc["dateModified"].(bson.DateTime)
	require.True(t, ok)
	require.InDelta(t, float64(moment)/1000, doc["public_modified"], 1e-9)
	require.Equal(t, moment, doc["created_at"])
	require.Equal(t, moment, doc["updated_at"])
	require.WithinDuration(t, time.Now(), moment.Time(), time.Minute)
	entries := rowsOf(t, db, "history", bson.M{})
	require.Len(t, entries, 1)
	delete(entries[0], "_id")
	require.Equal(t, bson.M{
		"entity_type": "thing", "entity_id": saved.ID, "action": "created", "to": "open", "at": moment, "by": "anna",
	}, entries[0])
}

func TestCreateTakesNoStampsFromItsItem(t *testing.T) {
	t.Parallel()
	db := database(t)
	long := new(mustInstant(t, 0))
	saved := newJob(t, db, job{
		ID: bson.NewObjectID(), Rev: new(int64(70)), DateModified: long, CreatedAt: long, UpdatedAt: long,
	})
	require.Equal(t, int64(1), saved.Rev)
	doc := raw(t, db, collection, saved.ID)
	for _, field := range []string{"dateModified", "created_at", "updated_at"} {
		require.NotEqual(t, bson.DateTime(0), doc[field], field)
	}
}

// Which feed an object is in follows from its status and mode as the write leaves them.
func TestFeedFollowsStatusAndMode(t *testing.T) {
	t.Parallel()
	db := database(t)
	saved := newJob(t, db, job{Status: new("draft"), Mode: new("live")})
	require.NotContains(t, raw(t, db, collection, saved.ID), "feed")
	for _, step := range []struct {
		status, mode string
		feed         any
	}{
		{"open", "live", "live"}, {"open", "test", "test"}, {"draft", "test", nil}, {"done", "test", "test"}, {"done", "odd", "live"},
	} {
		_, err := patchJob(t, db, saved.ID, func(j *job) { j.Status, j.Mode = &step.status, &step.mode })
		require.NoError(t, err)
		require.Equal(t, step.feed, raw(t, db, collection, saved.ID)["feed"], step)
	}
	require.Equal(t, "live", raw(t, db, collection, newJob(t, db, job{}).ID)["feed"], "neither status nor mode")
}

// A saving write raises rev by one, moves the object on in the feed and sets updated_at; fields are set and removed.
func TestPatch(t *testing.T) {
	t.Parallel()
	db := database(t)
	created := newJob(t, db, job{Name: new("a"), Status: new("open"), Tags: []string{"x"}})
	before := raw(t, db, collection, created.ID)
	saved, err := patchJob(t, db, created.ID, func(j *job) { j.Name, j.Tags, j.Status = new("b"), nil, new("done") })
	require.NoError(t, err)
	require.True(t, saved.Changed)
	require.Equal(t, int64(2), saved.Rev)
	require.Equal(t, new("b"), saved.Item.Name)
	require.NotNil(t, saved.Item.ClosedAt)
	after := raw(t, db, collection, created.ID)
	require.NotContains(t, after, "tags")
	require.Greater(t, after["public_modified"], before["public_modified"])
	require.Equal(t, before["created_at"], after["created_at"])
	require.GreaterOrEqual(t, after["updated_at"], before["updated_at"])
	require.Equal(t, after["updated_at"], after["closed_at"])
	moved := rowsOf(t, db, "history", bson.M{"action": "moved"})
	require.Len(t, moved, 1)
	delete(moved[0], "_id")
	require.Equal(t, bson.M{
		"entity_type": "thing", "entity_id": created.ID, "action": "moved", "from": "open", "to": "done",
		"at": after["dateModified"], "by": "björn",
	}, moved[0])
}

func TestPatchThatChangesNothingWritesNothing(t *testing.T) {
	t.Parallel()
	db := database(t)
	created := newJob(t, db, job{
		Name: new("a"), Status: new("open"), Metrics: &metrics{Views: new(int64(4)), Clicks: new(int64(1))},
	})
	// What follows from other fields is out of date, and a number is stored as another type.
	_, err := db.Collection(collection).UpdateByID(t.Context(), created.ID,
		bson.M{"$set": bson.M{"metrics.ratio": 0.9, "metrics.views": 4.0, "closed_at": nil}})
	require.NoError(t, err)
	before := raw(t, db, collection, created.ID)
	for name, apply := range map[string]func(*job){
		"nothing":            func(*job) {},
		"the same":           func(j *job) { j.Name = new("a") },
		"an empty list":      func(j *job) { j.Tags = []string{} },
		"an empty map":       func(j *job) { j.Attributes = map[string]string{} },
		"5.0 for 5":          func(j *job) { j.Metrics.Views = new(int64(4)) },
		"absent for null":    func(j *job) { j.ClosedAt = nil },
		"its own stamp":      func(j *job) { j.Rev, j.DateModified = nil, nil },
		"the same status":    func(j *job) { j.Status = new("open") },
		"an unchanged parts": func(j *job) { j.Metrics = &metrics{Views: new(int64(4)), Clicks: new(int64(1)), Ratio: new(0.9)} },
	} {
		saved, err := jobWriter(db).Patch(soon(t), changes.Change[job]{
			ID: created.ID, Apply: func(j *job) error { apply(j); return nil },
			Inside: func(context.Context, changes.Saved[job]) error { return errors.New("called") },
		})
		require.NoError(t, err, name)
		require.False(t, saved.Changed, name)
		require.Equal(t, int64(1), saved.Rev, name)
		require.Equal(t, before, raw(t, db, collection, created.ID), name)
	}
	require.Len(t, rowsOf(t, db, "history", bson.M{}), 1)

	_, err = patchJob(t, db, created.ID, func(j *job) { j.Name = new("b") })
	require.NoError(t, err)
	doc, ok := raw(t, db, collection, created.ID)["metrics"].(bson.D)
	require.True(t, ok)
	require.Contains(t, doc, bson.E{Key: "ratio", Value: 0.25}, "the next change puts it right")
}

func TestWhatTheTypeDoesNotKnowStays(t *testing.T) {
	t.Parallel()
	db := database(t)
	created := newJob(t, db, job{Name: new("a"), Attributes: map[string]string{"colour": "red", "size": "s"}})
	_, err := db.Collection(collection).UpdateByID(t.Context(), created.ID, bson.A{bson.M{"$set": bson.M{
		"strange":    bson.M{"$literal": bson.D{{Key: "$a", Value: "$b"}}},
		"attributes": bson.M{"$literal": bson.D{{Key: "colour", Value: "red"}, {Key: "n", Value: 5}, {Key: "a.b", Value: "$$NOW"}, {Key: "size", Value: "s"}}},
		"metrics":    bson.M{"$literal": bson.D{{Key: "views", Value: "many"}, {Key: "shares", Value: 7}}},
	}}})
	require.NoError(t, err)
	_, err = patchJob(t, db, created.ID, func(j *job) {
		delete(j.Attributes, "size")
		j.Attributes["colour"] = "$blue"
		j.Metrics = &metrics{Clicks: new(int64(1))}
	})
	require.NoError(t, err)
	doc := raw(t, db, collection, created.ID)
	require.Equal(t, bson.D{{Key: "$a", Value: "$b"}}, doc["strange"])
	require.Equal(t, bson.D{
		{Key: "colour", Value: "$blue"}, {Key: "n", Value: int32(5)}, {Key: "a.b", Value: "$$NOW"},
	}, doc["attributes"])
	require.Equal(t, bson.D{
		{Key: "views", Value: "many"}, {Key: "shares", Value: int32(7)}, {Key: "clicks", Value: int64(1)},
	}, doc["metrics"])

	_, err = patchJob(t, db, created.ID, func(j *job) { j.Metrics, j.Attributes = nil, nil })
	require.NoError(t, err)
	doc = raw(t, db, collection, created.ID)
	require.Equal(t, bson.D{{Key: "views", Value: "many"}, {Key: "shares", Value: int32(7)}}, doc["metrics"])
	require.NotContains(t, doc["attributes"], bson.E{Key: "colour", Value: "$blue"})
}

// Parents of another type are replaced, and stamps that cannot be are started anew.
func TestHostileStoredValuesNeverBreakAWrite(t *testing.T) {
	t.Parallel()
	db := database(t)
	future := float64(time.Now().Add(time.Hour).UnixMilli()) / 1000
	for name, c := range map[string]struct {
		stored bson.M
		rev    int64
		ahead  bool // the position goes on from the stored one
	}{
		"a rev of text":             {bson.M{"rev": "abc"}, 1, false},
		"a rev that is null":        {bson.M{"rev": nil}, 1, false},
		"a rev that is a list":      {bson.M{"rev": bson.A{1}}, 1, false},
		"a rev of NaN":              {bson.M{"rev": math.NaN()}, 1, false},
		"a rev below zero":          {bson.M{"rev": int64(-4)}, 1, false},
		"the greatest rev":          {bson.M{"rev": int64(math.MaxInt64)}, 1, false},
		"a rev as a double":         {bson.M{"rev": 6.0}, 7, false},
		"a rev as int32":            {bson.M{"rev": int32(6)}, 7, false},
		"a position of NaN":         {bson.M{"public_modified": math.NaN()}, 2, false},
		"an infinite position":      {bson.M{"public_modified": math.Inf(1)}, 2, false},
		"a position of 1e300":       {bson.M{"public_modified": 1e300}, 2, false},
		"a position in ms":          {bson.M{"public_modified": 1760598968123.0}, 2, false},
		"a position below zero":     {bson.M{"public_modified": -5.0}, 2, false},
		"a position of text":        {bson.M{"public_modified": "1760598968.123"}, 2, false},
		"a position that is a list": {bson.M{"public_modified": bson.A{1760598968.123}}, 2, false},
		"a position as int32":       {bson.M{"public_modified": int32(1)}, 2, false},
		"a position in an hour":     {bson.M{"public_modified": future}, 2, true},
		"metrics as a list":         {bson.M{"metrics": bson.A{1}}, 2, false},
		"metrics as text":           {bson.M{"metrics": "none"}, 2, false},
		"metrics that are null":     {bson.M{"metrics": nil}, 2, false},
		"a status of a number":      {bson.M{"status": 5, "mode": 5, "feed": 5}, 2, false},
		"dates of text":             {bson.M{"dateModified": "x", "updated_at": 5}, 2, false},
	} {
		created := newJob(t, db, job{Name: new("a")})
		_, err := db.Collection(collection).UpdateByID(t.Context(), created.ID, bson.M{"$set": c.stored})
		require.NoError(t, err, name)
		saved, err := patchJob(t, db, created.ID, func(j *job) { j.Metrics = &metrics{Views: new(int64(1))} })
		require.NoError(t, err, name)
		require.Equal(t, c.rev, saved.Rev, name)
		require.Equal(t, &metrics{Views: new(int64(1))}, saved.Item.Metrics, name)
		doc := raw(t, db, collection, created.ID)
		require.Equal(t, c.rev, doc["rev"], name)
		require.Equal(t, "live", doc["feed"], name)
		if c.ahead {
			require.InDelta(t, future+0.001, doc["public_modified"], 1e-4, name)
		} else {
			require.InDelta(t, float64(time.Now().UnixMilli())/1000, doc["public_modified"], 60, name)
		}
		moment, ok := doc["dateModified"].(bson.DateTime)
		require.True(t, ok, name)
		require.InDelta(t, float64(moment)/1000, doc["public_modified"], 1e-9, name)
	}
}

// A text that means something to the database in a pipeline is a text.
func TestEveryTextComesBackAsItWasSent(t *testing.T) {
	t.Parallel()
	db := database(t)
	for _, text := range []string{"$status", "$$NOW", "$$ROOT", "$$REMOVE", "$", "a.b", "$literal"} {
		item := job{
			Name: &text, Status: &text, Mode: &text, Tags: []string{text, "x"},
			Attributes: map[string]string{"a": text}, Source: &origin.Source{System: "s" + text, ID: text},
		}
		created := newJob(t, db, item)
		patched := newJob(t, db, job{Name: new("old")})
		other := item
		other.Source = &origin.Source{System: "t" + text, ID: text}
		saved, err := patchJob(t, db, patched.ID, func(j *job) {
			j.Name, j.Status, j.Mode, j.Tags, j.Attributes, j.Source = &text, &text, &text, item.Tags, item.Attributes, other.Source
		})
		require.NoError(t, err)
		for _, got := range []job{created.Item, saved.Item} {
			require.Equal(t, &text, got.Name)
			require.Equal(t, &text, got.Status)
			require.Equal(t, &text, got.Mode)
			require.Equal(t, item.Tags, got.Tags)
			require.Equal(t, item.Attributes, got.Attributes)
			require.Equal(t, text, got.Source.ID)
		}
		one := newJob(t, db, job{Mode: new("live")})
		n, err := noteWriter(db).Create(soon(t), text, note{EntityType: new("thing"), EntityID: one.ID, Body: &text}, nil)
		require.NoError(t, err)
		require.Equal(t, &text, n.Item.Body)
		require.Len(t, rowsOf(t, db, "history", bson.M{"to": text}), 2)
	}
}

func TestASourceIsTakenOnce(t *testing.T) {
	t.Parallel()
	db := database(t)
	source := &origin.Source{System: "s", ID: "1"}
	newJob(t, db, job{Source: source})
	_, err := jobWriter(db).Create(soon(t), "", job{Source: source}, nil)
	requireCode(t, problem.SourceTaken, err)
	second := newJob(t, db, job{Name: new("b")})
	_, err = patchJob(t, db, second.ID, func(j *job) { j.Source = source })
	requireCode(t, problem.SourceTaken, err)
	require.Len(t, rowsOf(t, db, collection, bson.M{}), 2)
	require.Equal(t, "source", problem.Of(err).Errors[0].Field)
}

func requireCode(t *testing.T, code problem.Code, err error) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, code, problem.Of(err).Code, err)
}

// Check sees the object before anything else does, and its refusal stands.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	db := database(t)
	created := newJob(t, db, job{Name: new("a"), Status: new("open")})
	refused := errors.New("refused")
	_, err := jobWriter(db).Patch(soon(t), changes.Change[job]{
		ID: created.ID,
		Check: func(stored *job, rev int64) error {
			require.Equal(t, new("a"), stored.Name)
			require.Equal(t, int64(1), rev)
			return refused
		},
		Apply: func(*job) error { return errors.New("too early") },
	})
	require.ErrorIs(t, err, refused)
	_, err = jobWriter(db).Patch(soon(t), changes.Change[job]{
		ID: created.ID, Apply: func(*job) error { return refused },
	})
	require.ErrorIs(t, err, refused)
	_, err = patchJob(t, db, created.ID, func(j *job) { j.Status = new("forbidden") })
	requireCode(t, problem.StatusMoveNotAllowed, err)
	_, err = patchJob(t, db, bson.NewObjectID(), func(*job) { require.Fail(t, "there is nothing") })
	requireCode(t, problem.NotFound, err)
	require.Equal(t, int64(1), raw(t, db, collection, created.ID)["rev"])

	kind := jobs()
	kind.Verify = func(_ context.Context, old, _ *job) error {
		if old == nil {
			return refused
		}
		return errors.New("changed")
	}
	writer := changes.NewWriter(db, kind, bson.NewObjectID)
	_, err = writer.Create(soon(t), "", job{}, nil)
	require.ErrorIs(t, err, refused)
	_, err = writer.Patch(soon(t), changes.Change[job]{
		ID: created.ID, Apply: func(j *job) error { j.Name = new("b"); return nil },
	})
	require.ErrorContains(t, err, "changed")
	require.Len(t, rowsOf(t, db, collection, bson.M{}), 1)
}

// Inside is part of the write: what it does happens with it, and its error undoes both.
func TestInside(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions)
	db := database(t)
	kind := jobs()
	kind.History, kind.Children = false, nil
	writer := changes.NewWriter(db, kind, bson.NewObjectID)
	refused := errors.New("refused")
	claim := func(ctx context.Context, name string) error {
		_, err := db.Collection("claims").InsertOne(ctx, bson.M{"_id": name})
		return err
	}
	created, err := writer.Create(soon(t), "", job{Name: new("a")}, func(ctx context.Context, s changes.Saved[job]) error {
		require.Equal(t, new("a"), s.Item.Name)
		require.Equal(t, int64(1), s.Rev)
		return claim(ctx, "kept")
	})
	require.NoError(t, err)
	undo := func(ctx context.Context, _ changes.Saved[job]) error {
		return errors.Join(claim(ctx, "undone"), refused)
	}
	_, err = writer.Create(soon(t), "", job{Name: new("b")}, undo)
	require.ErrorIs(t, err, refused)
	rename := func(j *job) error { j.Name = new("c"); return nil }
	_, err = writer.Patch(soon(t), changes.Change[job]{ID: created.ID, Apply: rename, Inside: undo})
	require.ErrorIs(t, err, refused)
	err = writer.Delete(soon(t), changes.Removal[job]{ID: created.ID, Inside: func(ctx context.Context) error {
		return undo(ctx, changes.Saved[job]{})
	}})
	require.ErrorIs(t, err, refused)
	require.Len(t, rowsOf(t, db, "claims", bson.M{}), 1)
	require.Empty(t, rowsOf(t, db, "tombstones", bson.M{}))
	rows := rowsOf(t, db, collection, bson.M{})
	require.Len(t, rows, 1)
	require.Equal(t, "a", rows[0]["name"])
	require.Equal(t, int64(1), rows[0]["rev"])
}

func TestNotesTakeTheModeOfTheirParent(t *testing.T) {
	t.Parallel()
	db := database(t)
	parent := newJob(t, db, job{Mode: new("test")})
	one := newNote(t, db, parent.ID)
	require.Equal(t, new("test"), one.Item.Mode)
	require.Equal(t, "test", raw(t, db, notes, one.ID)["feed"])
	require.NotContains(t, raw(t, db, notes, one.ID), "updated_at")
	before := raw(t, db, collection, parent.ID)
	require.Equal(t, int64(1), before["rev"], "what happens below a job is no change of it")

	_, err := patchJob(t, db, parent.ID, func(j *job) { j.Mode = new("live") })
	require.NoError(t, err)
	patch := func(body string) changes.Saved[note] {
		saved, err := noteWriter(db).Patch(soon(t), changes.Change[note]{
			ID: one.ID, Apply: func(n *note) error { n.Body = &body; return nil },
		})
		require.NoError(t, err)
		return saved
	}
	require.False(t, patch("text").Changed, "a moved mode makes no write")
	require.Equal(t, "test", raw(t, db, notes, one.ID)["feed"])
	require.Equal(t, new("live"), patch("other").Item.Mode)
	require.Equal(t, "live", raw(t, db, notes, one.ID)["feed"])

	_, err = patchJob(t, db, parent.ID, func(j *job) { j.Mode = new("odd") })
	require.NoError(t, err)
	require.Nil(t, patch("third").Item.Mode)
	_, err = db.Collection(collection).DeleteOne(t.Context(), bson.M{"_id": parent.ID})
	require.NoError(t, err)
	require.Nil(t, patch("below nothing").Item.Mode)

	_, err = noteWriter(db).Create(soon(t), "", note{EntityType: new("thing"), EntityID: parent.ID}, nil)
	requireCode(t, problem.NotFound, err)
}
