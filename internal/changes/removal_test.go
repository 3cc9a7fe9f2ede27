package changes_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/changes"
	"catalogue/internal/mongotest"
)

// removing takes stored fields away, of which the job's type need not know anything.
func removing(t *testing.T, db *mongo.Database, id bson.ObjectID, apply func(*job), paths ...[]string) changes.Saved[job] {
	t.Helper()
	mongotest.Needs(t, mongotest.Transactions)
	saved, err := jobWriter(db).Patch(soon(t), changes.Change[job]{
		ID: id, Apply: func(j *job) error { apply(j); return nil }, Removes: paths,
	})
	require.NoError(t, err)
	return saved
}

// What is stored goes, whatever it is: of another program, it need not fit the job's type.
func TestRemovalOfWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	db := database(t)
	unknown := bson.E{Key: "shares", Value: int32(7)}
	for name, c := range map[string]struct {
		field  string
		stored any
		path   []string
		want   any // nil where the field is gone
	}{
		"a list of text":            {"tags", "x", []string{"tags"}, nil},
		"an empty list":             {"tags", bson.A{}, []string{"tags"}, nil},
		"a date of text":            {"closed_at", "2020-01-01", []string{"closed_at"}, nil},
		"a text that is a document": {"name", bson.D{unknown}, []string{"name"}, nil},
		"an undefined name":         {"name", undefined(), []string{"name"}, nil},
		"a number of text":          {"metrics", bson.D{{Key: "clicks", Value: "7"}}, []string{"metrics", "clicks"}, nil},
		"a number beside others": {
			"metrics", bson.D{{Key: "clicks", Value: "7"}, unknown}, []string{"metrics", "clicks"}, bson.D{unknown},
		},
		"a parent with others": {"metrics", bson.D{{Key: "clicks", Value: int64(7)}, unknown}, []string{"metrics"}, nil},
		"an unknown child":     {"metrics", bson.D{unknown}, []string{"metrics", "shares"}, nil},
		"a parent of text":     {"metrics", "none", []string{"metrics"}, nil},
		"an attribute that is no text": {
			"attributes",
			bson.D{{Key: "a.b", Value: 1}, {Key: "$c", Value: "x"}},
			[]string{"attributes", "a.b"},
			bson.D{{Key: "$c", Value: "x"}},
		},
	} {
		id := bson.NewObjectID()
		_, err := db.Collection(collection).InsertOne(t.Context(), bson.M{"_id": id, "rev": 1, "status": "open", c.field: c.stored})
		require.NoError(t, err, name)
		apply := func(j *job) { // as far as the type goes
			if c.path[0] == "metrics" && (len(c.path) == 1 || j.Metrics != nil && *j.Metrics == (metrics{})) {
				j.Metrics = nil
			}
		}
		saved := removing(t, db, id, apply, c.path)
		require.True(t, saved.Changed, name)
		require.Equal(t, int64(2), saved.Rev, name)
		doc := raw(t, db, collection, id)
		require.Equal(t, c.want, doc[c.field], name)
		require.Equal(t, "open", doc["status"], name)
		if c.want == nil {
			require.NotContains(t, doc, c.field, name)
		}
		require.False(t, removing(t, db, id, apply, c.path).Changed, "%s: it is gone", name)
	}
}

func TestRemovalOfWhatIsNotStoredIsNoChange(t *testing.T) {
	t.Parallel()
	db := database(t)
	created := newJob(t, db, job{Name: new("a")})
	_, err := db.Collection(collection).UpdateByID(t.Context(), created.ID, bson.M{"$set": bson.M{
		"closed_at": nil, "tags": bson.A{"x"}, "metrics": bson.M{"clicks": nil}, "attributes": "x",
	}})
	require.NoError(t, err)
	before := raw(t, db, collection, created.ID)
	saved := removing(t, db, created.ID, func(*job) {}, []string{"closed_at"}, []string{"missing"}, []string{"metrics", "clicks"},
		[]string{"metrics", "views"}, []string{"name", "a"}, []string{"tags", "0"}, []string{"attributes", "x"}, []string{"none", "x"})
	require.False(t, saved.Changed)
	require.Equal(t, before, raw(t, db, collection, created.ID))
}

// A removal stands beside other changes of the same parent.
func TestRemovalBesideOtherChanges(t *testing.T) {
	t.Parallel()
	db := database(t)
	created := newJob(t, db, job{Name: new("a"), Metrics: &metrics{Views: new(int64(4))}})
	_, err := db.Collection(collection).UpdateByID(t.Context(), created.ID,
		bson.M{"$set": bson.M{"metrics.clicks": "7", "metrics.shares": 7, "tags": "x"}})
	require.NoError(t, err)
	removing(t, db, created.ID, func(j *job) { j.Name, j.Metrics.Views = new("b"), new(int64(5)) },
		[]string{"metrics", "clicks"}, []string{"tags"})
	doc := raw(t, db, collection, created.ID)
	require.Equal(t, bson.D{{Key: "views", Value: int64(5)}, {Key: "shares", Value: int32(7)}}, doc["metrics"])
	require.Equal(t, "b", doc["name"])
	require.NotContains(t, doc, "tags")

	removing(t, db, created.ID, func(j *job) { j.Metrics = &metrics{Clicks: new(int64(1))} }, []string{"metrics"})
	require.Equal(t, bson.D{{Key: "clicks", Value: int64(1)}}, raw(t, db, collection, created.ID)["metrics"])
}

// A kind may clear a field whatever is stored in it; by itself that makes no change.
func TestClear(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions)
	db := database(t)
	kind := jobs()
	kind.Settle = func(*job, *job, string) (changes.Effects, error) {
		return changes.Effects{Clear: []string{"closed_at", "missing"}}, nil
	}
	writer := changes.NewWriter(db, kind, bson.NewObjectID)
	created, err := writer.Create(soon(t), "", job{Name: new("a")}, nil)
	require.NoError(t, err)
	_, err = db.Collection(collection).UpdateByID(t.Context(), created.ID, bson.M{"$set": bson.M{"closed_at": "2020-01-01"}})
	require.NoError(t, err)
	rename := func(name string) changes.Saved[job] {
		saved, err := writer.Patch(soon(t), changes.Change[job]{
			ID: created.ID, Apply: func(j *job) error { j.Name = &name; return nil },
		})
		require.NoError(t, err)
		return saved
	}
	require.False(t, rename("a").Changed)
	require.Equal(t, "2020-01-01", raw(t, db, collection, created.ID)["closed_at"])
	require.True(t, rename("b").Changed)
	require.NotContains(t, raw(t, db, collection, created.ID), "closed_at")
}

// A text in whose place another program has put a document is what the row says after an import.
func TestImportOverADocumentInThePlaceOfAText(t *testing.T) {
	t.Parallel()
	db := database(t)
	applyTo(t, db, collection, row("1", "x", job{Name: new("a")}))
	_, err := db.Collection(collection).UpdateOne(t.Context(), bson.M{}, bson.M{"$set": bson.M{"name": bson.M{"a": 1}}})
	require.NoError(t, err)
	applyTo(t, db, collection, row("1", "y", job{Name: new("b")}))
	require.Equal(t, "b", imported(t, db, collection, "1")["name"])
}
