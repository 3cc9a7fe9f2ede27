package indexes

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"catalogue/internal/mongodb"
	"catalogue/internal/mongotest"
)

func retire(t testing.TB, db *mongo.Database, declared ...Index) Retirement {
	t.Helper()
	out, err := Retire(t.Context(), db, declared, RetireOptions{})
	require.NoError(t, err)
	for _, r := range out.Retired {
		require.NoError(t, r.Err)
	}
	return out
}

// hiddenNames are those of the hidden indexes of the rows.
func hiddenNames(t testing.TB, db *mongo.Database) []string {
	t.Helper()
	list, err := listIndexes(t.Context(), db, "rows")
	require.NoError(t, err)
	out := []string{}
	for _, f := range list {
		if f.Hidden {
			out = append(out, f.Name)
		}
	}
	return out
}

// age plants the moment at which an index was hidden, by the database's clock.
func age(t testing.TB, db *mongo.Database, name string, ago time.Duration) {
	t.Helper()
	now, err := mongodb.ServerTime(t.Context(), db)
	require.NoError(t, err)
	done, err := db.Collection(RecordsCollection).UpdateOne(t.Context(), bson.D{{Key: "_id", Value: recordID("rows", name)}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "hidden_at", Value: now.Add(-ago)}}}})
	require.NoError(t, err)
	require.EqualValues(t, 1, done.MatchedCount)
}

func TestRetireHidesWhatWasBuiltAndIsNotDeclared(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.HiddenIndexes) // of a unique index, too
	db := mongotest.Database(t)
	buildAll(t, db, byName, byScore, unique)
	create(t, db, bson.D{{Key: "theirs", Value: 1}}, options.Index())
	before, err := mongodb.ServerTime(t.Context(), db)
	require.NoError(t, err)
	var shown []Retired
	out, err := Retire(t.Context(), db, []Index{byScore}, RetireOptions{Before: func(r Retired) {
		shown = append(shown, r)
		require.NotContains(t, hiddenNames(t, db), r.Name, "its use is told before")
	}})
	require.NoError(t, err)

	require.ElementsMatch(t, []string{byName.Name(), unique.Name()}, hiddenNames(t, db))
	require.Len(t, out.Retired, 2)
	require.Len(t, shown, 2)
	for n, r := range out.Retired {
		require.True(t, r.Hidden)
		require.Equal(t, shown[n].Use, r.Use)
		require.NotNil(t, r.Use)
		require.NotEmpty(t, r.Use.Host)
		require.False(t, r.Use.Since.IsZero())
		hiddenAt := recordsOf(t, db)[recordID("rows", r.Name)].HiddenAt
		require.NotNil(t, hiddenAt)
		require.False(t, hiddenAt.Before(before), "by the database's clock")
	}
	require.Equal(t, "theirs_1", out.Foreign[0].Name)
	require.Len(t, out.Foreign, 1)
	require.False(t, out.Unsupported)

	again := retire(t, db, byScore)
	require.Empty(t, again.Retired)
	require.Len(t, again.Hidden, 2)
	left, err := db.ListCollectionNames(t.Context(), bson.D{})
	require.NoError(t, err)
	require.NotContains(t, left, hidingProbe)
}

func TestRetireTellsHowOftenAnIndexWasUsed(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.IndexUse)
	db := mongotest.Database(t)
	buildAll(t, db, byName)
	_, err := db.Collection("rows").InsertOne(t.Context(), bson.D{{Key: "name", Value: "a"}})
	require.NoError(t, err)
	for range 3 {
		require.NoError(t, db.Collection("rows").FindOne(t.Context(), bson.D{{Key: "name", Value: "a"}}, options.FindOne().SetHint(byName.Name())).Err())
	}
	require.EqualValues(t, 3, retire(t, db).Retired[0].Use.Operations)
	require.Nil(t, useOf(t.Context(), db, "rows", "none"))
}

func TestRetireKeepsWhatStandsWhereADeclaredIndexOfOtherOptionsShould(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	buildAll(t, db, byName)
	declared := byName
	declared.Unique = true
	out := retire(t, db, declared)
	require.Empty(t, out.Retired)
	require.Empty(t, hiddenNames(t, db))

	// one that was retired before it was declared anew is on its way out
	retire(t, db)
	require.Equal(t, []string{byName.Name()}, extras(compare(t, db, declared)))
	_, err := Prune(t.Context(), db, []Index{declared}, 0, nil)
	require.NoError(t, err)
	require.Equal(t, []Action{ActionBuild}, buildAll(t, db, declared)[0].Done)
}

func TestPruneDropsByAgeWhatIsStillHiddenAndNotDeclared(t *testing.T) {
	t.Parallel()
	const week = 7 * 24 * time.Hour
	db := mongotest.Database(t)
	byAge := Index{Collection: "rows", Keys: bson.D{{Key: "age", Value: int32(1)}}}
	byKind := Index{Collection: "rows", Keys: bson.D{{Key: "kind", Value: int32(1)}}}
	byText := Index{Collection: "rows", Keys: bson.D{{Key: "text", Value: int32(1)}}}
	buildAll(t, db, byName, byScore, byAge, byKind, byText)
	hide(t, db, byText.Name(), true) // by a person
	retire(t, db, byText)
	age(t, db, byName.Name(), week+time.Minute)
	age(t, db, byScore.Name(), week-time.Minute)
	age(t, db, byAge.Name(), week+time.Minute)
	age(t, db, byKind.Name(), week+time.Minute)
	hide(t, db, byAge.Name(), false) // by a person
	listed, err := Prunable(t.Context(), db, nil, week)
	require.NoError(t, err)
	require.Len(t, listed, 2)

	list, err := Prunable(t.Context(), db, []Index{byKind}, week)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, byName.Name(), list[0].Name)
	require.Len(t, names(t, db), 5, "to look changes nothing")

	pruned, err := Prune(t.Context(), db, []Index{byKind}, week, nil)
	require.NoError(t, err)
	require.Len(t, pruned, 1)
	require.NoError(t, pruned[0].Err)
	require.Equal(t, list[0], pruned[0].Extra)
	require.ElementsMatch(t, []string{byScore.Name(), byAge.Name(), byKind.Name(), byText.Name()}, names(t, db))
	require.NotContains(t, recordsOf(t, db), recordID("rows", byName.Name()))

	// One that a person brought back after the list was made.
	hide(t, db, byKind.Name(), false)
	require.ErrorContains(t, ledger{db: db}.drop(t.Context(), listed[0]), "no longer hidden")
	require.Contains(t, names(t, db), byKind.Name())

	_, err = Prune(t.Context(), db, nil, -time.Second, nil)
	require.ErrorContains(t, err, "negative")
}

func TestPruneForgetsWhatAPersonDropped(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	buildAll(t, db, byName, byScore)
	require.NoError(t, db.Collection("rows").Indexes().DropOne(t.Context(), byName.Name()))
	pruned, err := Prune(t.Context(), db, []Index{byScore}, 0, nil)
	require.NoError(t, err)
	require.Empty(t, pruned)
	require.Len(t, recordsOf(t, db), 1)
	create(t, db, byName.Keys, options.Index())
	require.Len(t, retire(t, db, byScore).Foreign, 1)
}

func TestUnhideBringsBackAtOnce(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	buildAll(t, db, byName, byScore)
	retire(t, db, byScore)
	hide(t, db, byScore.Name(), true)

	e, err := Unhide(t.Context(), db, byName.Name(), "", nil)
	require.NoError(t, err)
	require.Equal(t, byName.Name(), e.Name)
	require.Nil(t, recordsOf(t, db)[recordID("rows", byName.Name())].HiddenAt)
	_, err = Unhide(t.Context(), db, byScore.Name(), "rows", nil)
	require.NoError(t, err, "by a person, too")
	require.Empty(t, hiddenNames(t, db))

	_, err = Unhide(t.Context(), db, byName.Name(), "", nil)
	require.ErrorContains(t, err, "is not hidden")
	_, err = Unhide(t.Context(), db, "none", "", nil)
	require.ErrorContains(t, err, `no collection has an index "none"`)
	_, err = Unhide(t.Context(), db, byName.Name(), "others", nil)
	require.ErrorContains(t, err, `others has no index "name_1__id_1"`)
}

func TestUnhideNeedsTheCollectionWhereSeveralHaveTheName(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	other := byName
	other.Collection = "others"
	buildAll(t, db, byName, other)
	retire(t, db, other)
	_, err := Unhide(t.Context(), db, byName.Name(), "", nil)
	require.ErrorContains(t, err, "others, rows")
	_, err = Unhide(t.Context(), db, byName.Name(), "rows", nil)
	require.NoError(t, err)
	require.Empty(t, hiddenNames(t, db))
}

func TestARetiredIndexThatIsDeclaredAgainIsNotPruned(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	buildAll(t, db, byName)
	retire(t, db)
	age(t, db, byName.Name(), time.Hour)
	pruned, err := Prune(t.Context(), db, []Index{byName}, 0, nil)
	require.NoError(t, err)
	require.Empty(t, pruned)
	require.Equal(t, []Action{ActionUnhide}, buildAll(t, db, byName)[0].Done)
}

// Servers of another make: one does not know the word, one takes it and does nothing.
func TestWhereThereAreNoHiddenIndexesRetireSaysSoAndDoesNothing(t *testing.T) {
	t.Parallel()
	for name, spelling := range map[string]string{"unknown": "\x08hiddem\x00\x01", "without effect": "\x08hidden\x00\x00"} {
		db := mongotest.Database(t)
		buildAll(t, db, byName)
		before := recordsOf(t, db)
		client, err := mongodb.Open(mongodb.Options{URI: withoutHiding(t, spelling), Database: db.Name()})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, client.Disconnect(context.Background())) })

		out, err := Retire(t.Context(), client.Database(), nil, RetireOptions{})
		require.NoError(t, err, name)
		require.True(t, out.Unsupported, name)
		require.Empty(t, out.Retired, name)
		require.Empty(t, hiddenNames(t, db), name)
		require.Equal(t, before, recordsOf(t, db), name)
		can, err := canHide(t.Context(), db)
		require.NoError(t, err)
		require.True(t, can)
	}
}

// withoutHiding leads to the test server through a proxy that spells the wish to hide in another way.
func withoutHiding(t testing.TB, spelling string) string {
	t.Helper()
	uri, err := url.Parse(mongotest.URI(t))
	require.NoError(t, err)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	upstream := uri.Host
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := new(net.Dialer).DialContext(context.Background(), "tcp", upstream)
			if err != nil {
				_ = client.Close()
				return
			}
			go func() { _, _ = io.Copy(client, server); _ = client.Close() }()
			go func() { misspell(server, client, spelling); _ = server.Close() }()
		}
	}()
	uri.Host = listener.Addr().String()
	return uri.String()
}

// misspell passes messages on, each as a whole.
func misspell(to io.Writer, from io.Reader, spelling string) {
	for {
		head := make([]byte, 4)
		if _, err := io.ReadFull(from, head); err != nil {
			return
		}
		message := make([]byte, binary.LittleEndian.Uint32(head)) // the length is that of the whole
		copy(message, head)
		if _, err := io.ReadFull(from, message[4:]); err != nil {
			return
		}
		if _, err := to.Write(bytes.ReplaceAll(message, []byte("\x08hidden\x00\x01"), []byte(spelling))); err != nil {
			return
		}
	}
}
