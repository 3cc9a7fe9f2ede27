package changes_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/changes"
	"catalogue/internal/instant"
	"catalogue/internal/mongotest"
	"catalogue/internal/origin"
	"catalogue/internal/problem"
	"catalogue/internal/strictbson"
)

const notes = "notes"

// job is an entity with everything that a kind can have: a status that moves, values that follow from others, history
// and notes below it. It lives among the things.
type job struct {
	ID           bson.ObjectID     `bson:"_id" json:"id"`
	Name         *string           `bson:"name,omitempty" json:"name,omitempty"`
	Status       *string           `bson:"status,omitempty" json:"status,omitempty"`
	Mode         *string           `bson:"mode,omitempty" json:"mode,omitempty"`
	Tags         []string          `bson:"tags,omitempty" json:"tags,omitempty"`
	Attributes   map[string]string `bson:"attributes,omitempty" json:"attributes,omitempty"`
	Metrics      *metrics          `bson:"metrics,omitempty" json:"metrics,omitempty"`
	ClosedAt     *instant.Instant  `bson:"closed_at,omitempty" json:"closed_at,omitempty"`
	CreatedAt    *instant.Instant  `bson:"created_at,omitempty" json:"created_at,omitempty"`
	UpdatedAt    *instant.Instant  `bson:"updated_at,omitempty" json:"updated_at,omitempty"`
	Rev          *int64            `bson:"rev,omitempty" json:"rev,omitempty"`
	DateModified *instant.Instant  `bson:"dateModified,omitempty" json:"dateModified,omitempty"`
	Source       *origin.Source    `bson:"source,omitempty" json:"source,omitempty"`
}

type metrics struct {
	Views  *int64   `bson:"views,omitempty" json:"views,omitempty"`
	Clicks *int64   `bson:"clicks,omitempty" json:"clicks,omitempty"`
	Ratio  *float64 `bson:"ratio,omitempty" json:"ratio,omitempty"`
}

// note is an entity below a job.
type note struct {
	ID         bson.ObjectID    `bson:"_id" json:"id"`
	EntityType *string          `bson:"entity_type,omitempty" json:"entity_type,omitempty"`
	EntityID   bson.ObjectID    `bson:"entity_id,omitempty" json:"entity_id,omitempty"`
	Body       *string          `bson:"body,omitempty" json:"body,omitempty"`
	Mode       *string          `bson:"mode,omitempty" json:"mode,omitempty"`
	CreatedAt  *instant.Instant `bson:"created_at,omitempty" json:"created_at,omitempty"`
	Rev        *int64           `bson:"rev,omitempty" json:"rev,omitempty"`
	Source     *origin.Source   `bson:"source,omitempty" json:"source,omitempty"`
}

func jobs() changes.Kind[job] {
	return changes.Kind[job]{
		Entity: "thing", Collection: collection, Decoder: strictbson.New[job](), UpdatedAt: true, History: true,
		Settle:   settleJob,
		Children: []changes.Child{{Collection: notes, Entity: "note"}, {Collection: "history"}},
	}
}

func settleJob(old, next *job, _ string) (changes.Effects, error) {
	var out changes.Effects
	if m := next.Metrics; m != nil {
		m.Ratio = nil
		if m.Views != nil && m.Clicks != nil && *m.Views > 0 {
			m.Ratio = new(float64(*m.Clicks) / float64(*m.Views))
		}
	}
	switch {
	case next.Status == nil:
	case old == nil:
		out.Events = append(out.Events, changes.Event{Action: "created", To: next.Status})
	case old.Status == nil || *old.Status != *next.Status:
		if *next.Status == "forbidden" {
			return out, problem.New(problem.StatusMoveNotAllowed, "no")
		}
		out.Events = append(out.Events, changes.Event{Action: "moved", From: old.Status, To: next.Status})
		next.ClosedAt = nil
		if *next.Status == "done" {
			out.Now = append(out.Now, "closed_at")
		}
	}
	return out, nil
}

func notesOfJobs() changes.Kind[note] {
	return changes.Kind[note]{
		Entity: "note", Collection: notes, Decoder: strictbson.New[note](),
		Settle: func(*note, *note, string) (changes.Effects, error) { return changes.Effects{}, nil },
		Parent: &changes.Parent[note]{Collection: collection, ID: func(n *note) bson.ObjectID { return n.EntityID }},
	}
}

func jobWriter(db *mongo.Database) *changes.Writer[job] {
	return changes.NewWriter(db, jobs(), bson.NewObjectID)
}

func noteWriter(db *mongo.Database) *changes.Writer[note] {
	return changes.NewWriter(db, notesOfJobs(), bson.NewObjectID)
}

// soon bounds a write that is expected to end.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func newJob(t *testing.T, db *mongo.Database, item job) changes.Saved[job] {
	t.Helper()
	mongotest.Needs(t, mongotest.Transactions)
	saved, err := jobWriter(db).Create(soon(t), "anna", item, nil)
	require.NoError(t, err)
	return saved
}

// plantJob stores a job as a writer would have, also on servers on which no writer can.
func plantJob(t *testing.T, db *mongo.Database, mode string) bson.ObjectID {
	t.Helper()
	id := bson.NewObjectID()
	_, err := db.Collection(collection).InsertOne(t.Context(), bson.M{"_id": id, "mode": mode, "rev": int64(1)})
	require.NoError(t, err)
	return id
}

func newNote(t *testing.T, db *mongo.Database, parent bson.ObjectID) changes.Saved[note] {
	t.Helper()
	mongotest.Needs(t, mongotest.Transactions)
	item := note{EntityType: new("thing"), EntityID: parent, Body: new("text")}
	saved, err := noteWriter(db).Create(soon(t), "anna", item, nil)
	require.NoError(t, err)
	return saved
}

func patchJob(t *testing.T, db *mongo.Database, id bson.ObjectID, apply func(*job)) (changes.Saved[job], error) {
	t.Helper()
	mongotest.Needs(t, mongotest.Transactions)
	return jobWriter(db).Patch(soon(t), changes.Change[job]{
		ID: id, By: "björn", Apply: func(j *job) error { apply(j); return nil },
	})
}

// raw is a document as it is stored.
func raw(t *testing.T, db *mongo.Database, collection string, id any) bson.M {
	t.Helper()
	var out bson.M
	require.NoError(t, db.Collection(collection).FindOne(t.Context(), bson.M{"_id": id}).Decode(&out))
	return out
}

// rowsOf are the documents that a filter finds, as they are stored.
func rowsOf(t *testing.T, db *mongo.Database, collection string, filter bson.M) []bson.M {
	t.Helper()
	cursor, err := db.Collection(collection).Find(t.Context(), filter)
	require.NoError(t, err)
	out := []bson.M{}
	require.NoError(t, cursor.All(t.Context(), &out))
	return out
}

func mustInstant(t *testing.T, ms int64) instant.Instant {
	t.Helper()
	i, err := instant.FromMillis(ms)
	require.NoError(t, err)
	return i
}
