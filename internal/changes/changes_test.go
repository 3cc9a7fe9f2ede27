package changes_test

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"golang.org/x/sync/errgroup"

	"catalogue/indexes"
	"catalogue/internal/changes"
	"catalogue/internal/mongotest"
	"catalogue/internal/origin"
)

func TestMain(m *testing.M) { os.Exit(mongotest.Main(m)) }

// thing is an entity of the tests.
type thing struct {
	ID     bson.ObjectID  `bson:"_id" json:"id"`
	Name   *string        `bson:"name,omitempty" json:"name,omitempty"`
	Parent *parent        `bson:"parent,omitempty" json:"parent,omitempty"`
	Source *origin.Source `bson:"source,omitempty" json:"source,omitempty"`
}

type parent struct {
	A *int64 `bson:"a,omitempty" json:"a,omitempty"`
	B *int64 `bson:"b,omitempty" json:"b,omitempty"`
}

const collection = "things"

// all are the fields of a thing.
var all = []string{"name", "parent.a", "parent.b"}

func item(id, digest string, entity thing, fields ...string) changes.Item {
	return changes.Item{
		Source: origin.Source{System: "s", ID: id, Digest: digest}, Entity: &entity, Fields: fields,
	}
}

// database is one with the unique index.
func database(t *testing.T) *mongo.Database {
	t.Helper()
	db := mongotest.Database(t)
	require.NoError(t, uniqueSource(t, db, collection))
	return db
}

func uniqueSource(t *testing.T, db *mongo.Database, collection string) error {
	t.Helper()
	declared := append(changes.Indexes(), indexes.UniqueSource(collection))
	return indexes.Apply(t.Context(), db, declared, func(indexes.Standing) {})
}

func apply(t *testing.T, db *mongo.Database, items ...changes.Item) []changes.Outcome {
	t.Helper()
	out, err := importer(t, db).Apply(t.Context(), collection, items)
	require.NoError(t, err)
	return out
}

// importer is one of things, with transactions where the server has them.
func importer(t *testing.T, db *mongo.Database) *changes.Importer {
	t.Helper()
	return importerWithIDs(t, db, bson.NewObjectID)
}

func importerWithIDs(t *testing.T, db *mongo.Database, newID func() bson.ObjectID) *changes.Importer {
	t.Helper()
	return importerOf(db, newID, mongotest.Has(t, mongotest.Transactions))
}

func importerOf(db *mongo.Database, newID func() bson.ObjectID, transactions bool) *changes.Importer {
	return changes.NewImporter(db, changes.ImporterOptions{
		NewID: newID, Transactions: transactions,
		Kinds: []changes.Imported{
			{Entity: "thing", Collection: collection, Stamped: true},
			{Entity: "note", Collection: notes, Stamped: true, Parent: collection},
			{Collection: "history", Parent: collection},
			{Collection: unwritable},
		},
	})
}

// unwritable is the name of a collection that cannot be.
const unwritable = "no$thing\x00"

// stored is the thing of an id without its _id, source and stamp.
func stored(t *testing.T, db *mongo.Database, id string) bson.M {
	t.Helper()
	var out bson.M
	filter := bson.M{"source.system": "s", "source.id": id}
	require.NoError(t, db.Collection(collection).FindOne(t.Context(), filter).Decode(&out))
	for _, name := range []string{"_id", "source", "rev", "dateModified", "public_modified", "feed"} {
		delete(out, name)
	}
	return out
}

func TestApply(t *testing.T) {
	t.Parallel()
	db := database(t)
	one, two := thing{Name: new("one")}, thing{Name: new("two"), Parent: &parent{A: new(int64(1))}}
	require.Equal(t, []changes.Outcome{changes.Inserted, changes.Inserted},
		apply(t, db, item("1", "a", one, all...), item("2", "a", two, all...)))
	require.Equal(t, bson.M{"name": "two", "parent": bson.D{{Key: "a", Value: int64(1)}}}, stored(t, db, "2"))

	two.Name = new("changed")
	require.Equal(t, []changes.Outcome{changes.Unchanged, changes.Updated, changes.Inserted},
		apply(t, db, item("1", "a", one, all...), item("2", "b", two, all...), item("3", "a", one, all...)))
	require.Equal(t, "changed", stored(t, db, "2")["name"])
	require.Empty(t, apply(t, db))
}

func TestNewObjectsHaveTheirIDsFromTheWriter(t *testing.T) {
	t.Parallel()
	db := database(t)
	id := bson.NewObjectID()
	im := importerWithIDs(t, db, func() bson.ObjectID { return id })
	_, err := im.Apply(t.Context(), collection, []changes.Item{item("1", "a", thing{Name: new("one")}, all...)})
	require.NoError(t, err)
	var got thing
	require.NoError(t, db.Collection(collection).FindOne(t.Context(), bson.M{"_id": id}).Decode(&got))
	require.Equal(t, &origin.Source{System: "s", ID: "1", Digest: "a"}, got.Source)
}

// An update changes the fields that the row decides, whatever stands where they go.
func TestUpdateOfEmbeddedFields(t *testing.T) {
	t.Parallel()
	a1 := &parent{A: new(int64(1))}
	other := bson.D{{Key: "x", Value: "kept"}}
	for name, c := range map[string]struct {
		before  any // the stored parent; missing{} where there is none
		row     *parent
		fields  []string
		after   any
		outcome changes.Outcome
	}{
		"set in nothing":            {missing{}, a1, all, bson.D{{Key: "a", Value: int64(1)}}, changes.Updated},
		"set in null":               {nil, a1, all, bson.D{{Key: "a", Value: int64(1)}}, changes.Updated},
		"set in a text":             {"odd", a1, all, bson.D{{Key: "a", Value: int64(1)}}, changes.Updated},
		"set in an array":           {bson.A{int32(1), "x"}, a1, all, bson.D{{Key: "a", Value: int64(1)}}, changes.Updated},
		"set in a document":         {other, a1, all, append(other, bson.E{Key: "a", Value: int64(1)}), changes.Updated},
		"set what is there":         {bson.D{{Key: "a", Value: 1.0}}, a1, all, bson.D{{Key: "a", Value: 1.0}}, changes.Unchanged},
		"the other one goes":        {bson.D{{Key: "b", Value: int64(2)}}, a1, all, bson.D{{Key: "a", Value: int64(1)}}, changes.Updated},
		"the other one is not ours": {bson.D{{Key: "b", Value: int64(2)}}, a1, []string{"parent.a"}, bson.D{{Key: "b", Value: int64(2)}, {Key: "a", Value: int64(1)}}, changes.Updated},
		"none in nothing":           {missing{}, nil, all, missing{}, changes.Unchanged},
		"none in null":              {nil, nil, all, nil, changes.Unchanged},
		"none in a text":            {"odd", nil, all, missing{}, changes.Updated},
		"none in a document":        {append(bson.D{{Key: "a", Value: int64(2)}}, other...), nil, all, other, changes.Updated},
		"no empty parent is left":   {bson.D{{Key: "a", Value: int64(2)}}, nil, all, missing{}, changes.Updated},
		"a parent that is not ours": {bson.D{{Key: "a", Value: int64(2)}}, nil, []string{"name"}, bson.D{{Key: "a", Value: int64(2)}}, changes.Unchanged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := database(t)
			doc := bson.D{{Key: "source", Value: bson.M{"system": "s", "id": "1", "digest": "a"}}}
			if c.before != (missing{}) {
				doc = append(doc, bson.E{Key: "parent", Value: c.before})
			}
			_, err := db.Collection(collection).InsertOne(t.Context(), doc)
			require.NoError(t, err)
			row := item("1", "b", thing{Parent: c.row}, c.fields...)
			require.Equal(t, []changes.Outcome{c.outcome}, apply(t, db, row))
			got, there := stored(t, db, "1")["parent"]
			require.Equal(t, c.after != (missing{}), there, got)
			if there {
				require.Equal(t, c.after, got)
			}
			require.Equal(t, []changes.Outcome{changes.Unchanged}, apply(t, db, row))
		})
	}
}

// missing stands for a field that is not there.
type missing struct{}

// A digest of any other kind, or none, is that of no row.
func TestObjectWithoutADigestIsUpdated(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]bson.M{
		"none":     {"system": "s", "id": "1"},
		"null":     {"system": "s", "id": "1", "digest": nil},
		"a number": {"system": "s", "id": "1", "digest": 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := database(t)
			_, err := db.Collection(collection).InsertOne(t.Context(), bson.M{"source": source})
			require.NoError(t, err)
			require.Equal(t, []changes.Outcome{changes.Updated}, apply(t, db, item("1", "a", thing{Name: new("x")}, all...)))
			require.Equal(t, bson.M{"name": "x"}, stored(t, db, "1"))
		})
	}
}

// Many calls at once, of the same rows and of others: no row twice, no error, and the last one stands whole.
func TestManyCallsAtOnce(t *testing.T) {
	t.Parallel()
	for name, transactions := range map[string]bool{"with transactions": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if transactions {
				mongotest.Needs(t, mongotest.Transactions)
			}
			manyCallsAtOnce(t, transactions)
		})
	}
}

func manyCallsAtOnce(t *testing.T, transactions bool) {
	t.Helper()
	db := database(t)
	const rows, callers = 100, 6
	var mu sync.Mutex
	inserted := 0
	calls, ctx := errgroup.WithContext(t.Context())
	for caller := range callers {
		calls.Go(func() error {
			digest := fmt.Sprintf("digest %d", caller%3)
			items := make([]changes.Item, rows)
			for i := range items {
				items[i] = item(fmt.Sprintf("%03d", i), digest, thing{Name: new(digest)}, all...)
			}
			out, err := importerOf(db, bson.NewObjectID, transactions).Apply(ctx, collection, items)
			mu.Lock()
			defer mu.Unlock()
			for _, o := range out {
				if o == changes.Inserted {
					inserted++
				}
			}
			return err
		})
	}
	require.NoError(t, calls.Wait())
	require.Equal(t, rows, inserted)
	cursor, err := db.Collection(collection).Find(t.Context(), bson.D{})
	require.NoError(t, err)
	var got []job
	require.NoError(t, cursor.All(t.Context(), &got))
	require.Len(t, got, rows)
	for _, one := range got {
		require.Equal(t, one.Source.Digest, *one.Name)
		require.NotNil(t, one.DateModified)
	}
}

// An object that somebody else has made may have any _id: it is updated by its source all the same.
func TestObjectWithAnotherKindOfIDIsUpdated(t *testing.T) {
	t.Parallel()
	for name, id := range map[string]any{
		"a text": "own", "a number": int64(5), "a document": bson.D{{Key: "a", Value: 1}}, "no ObjectID, but null": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := database(t)
			_, err := db.Collection(collection).InsertOne(t.Context(),
				bson.D{{Key: "_id", Value: id}, {Key: "source", Value: bson.M{"system": "s", "id": "1", "digest": "a"}}})
			require.NoError(t, err)
			require.Equal(t, []changes.Outcome{changes.Updated}, apply(t, db, item("1", "b", thing{Name: new("x")}, all...)))
			require.Equal(t, []changes.Outcome{changes.Unchanged}, apply(t, db, item("1", "b", thing{Name: new("x")}, all...)))
			require.Equal(t, bson.M{"name": "x"}, stored(t, db, "1"))
		})
	}
}

// What stands in the way of an insert, and cannot be found, is named at once: to try again would never end.
func TestObjectThatIsInTheWayAndCannotBeFoundIsNamed(t *testing.T) {
	t.Parallel()
	db := database(t)
	_, err := db.Collection(collection).InsertOne(t.Context(),
		bson.M{"source": bson.A{bson.M{"system": "s", "id": "1"}}})
	require.NoError(t, err)
	for _, transactions := range []bool{true, false} {
		_, err = importerOf(db, bson.NewObjectID, transactions).Apply(t.Context(), collection, []changes.Item{
			item("0", "a", thing{Name: new("x")}, all...), item("1", "a", thing{Name: new("x")}, all...),
		})
		var hidden *changes.HiddenError
		require.ErrorAs(t, err, &hidden)
		require.Equal(t, "1", hidden.Source.ID)
		require.ErrorContains(t, err, "the object 1 of s cannot be inserted")
		require.NotErrorIs(t, err, changes.ErrContended)
	}
}

func TestErrorsOfTheDatabase(t *testing.T) {
	t.Parallel()
	db := database(t)
	_, err := importer(t, db).Apply(t.Context(), unwritable, []changes.Item{
		item("1", "a", thing{Name: new("x")}, all...),
	})
	require.ErrorContains(t, err, "import into no$thing")
	bad := changes.Item{Source: origin.Source{System: "s", ID: "1"}, Entity: 5, Fields: all}
	_, err = importer(t, db).Apply(t.Context(), collection, []changes.Item{bad})
	require.ErrorContains(t, err, "encode the object 1 of s")
}

func TestSources(t *testing.T) {
	t.Parallel()
	db := database(t)
	apply(t, db, item("1", "a", thing{}, all...), item("2", "a", thing{}, all...))
	found, err := changes.NewSources(db.Collection(collection)).IDsBySource(t.Context(), "s", []string{"1", "2", "3"})
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.NotEqual(t, found["1"], found["2"])
	found, err = changes.NewSources(db.Collection(collection)).IDsBySource(t.Context(), "other", []string{"1"})
	require.NoError(t, err)
	require.Empty(t, found)
}
