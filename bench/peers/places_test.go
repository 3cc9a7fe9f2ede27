package peers_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/bench/peers"
	"catalogue/bench/service"
	"catalogue/bench/service/servicetest"
	"catalogue/creatives"
	"catalogue/internal/mongotest"
	"catalogue/internal/seeding"
	"catalogue/pagination"
)

const (
	pageRows  = 3
	listRows  = 24
	withValue = 18 // of them: three of four
)

// dates is a descending list of rows with ties, and of rows without a value at its end.
func dates(t testing.TB) peers.List {
	t.Helper()
	coll := mongotest.Database(t).Collection("dates")
	docs := make([]any, listRows)
	for i := range docs {
		doc := bson.D{{Key: "_id", Value: bson.ObjectID{11: byte(i + 1)}}, {Key: "note", Value: "not shown"}}
		if i%4 > 0 {
			doc = append(doc, bson.E{Key: "at", Value: bson.DateTime(1_700_000_000_000 + int64(i/3))})
		}
		docs[i] = doc
	}
	_, err := coll.InsertMany(t.Context(), docs)
	require.NoError(t, err)
	index, err := coll.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "at", Value: 1}, {Key: "_id", Value: 1}}})
	require.NoError(t, err)
	return peers.List{
		Collection: coll, Order: pagination.Desc(pagination.Sort{Field: "at", Kind: pagination.Date}), Index: index,
		Projection: bson.D{{Key: "at", Value: 1}},
	}
}

// requirePages reads the page at each of the first places of a window.
func requirePages(t testing.TB, p peers.Peer, window peers.Window, places int) {
	t.Helper()
	for i, place := range window.Places[:places] {
		at, err := p.Position(place)
		require.NoError(t, err)
		answer, err := p.Fetch(t.Context(), at, pageRows)
		require.NoError(t, err)
		page, err := answer()
		require.NoError(t, err)
		require.Equal(t, window.Page(i, pageRows), page.IDs, "%s behind %d rows", p.Name(), place.Rows)
	}
}

func TestPagesAtPlaces(t *testing.T) {
	t.Parallel()
	list, server := dates(t), node(t)
	window, err := peers.ReadWindow(t.Context(), list, 0, listRows-pageRows, pageRows)
	require.NoError(t, err)
	for _, p := range []peers.Peer{
		peers.Keyset(list, keyring(t)), peers.Skip(list, false), peers.Skip(list, true),
		peers.Mixmax(list, server, false), peers.Mixmax(list, server, true),
	} {
		requirePages(t, p, window, len(window.Places))
	}
	for _, hinted := range []bool{false, true} { // as far as it serves all: to the end of the values
		requirePages(t, peers.Or(list, hinted), window, withValue-pageRows)
	}
}

// A page of the offset list begins with the next value: what is tied with the row before is left out.
func TestOffsetPagesAtPlaces(t *testing.T) {
	t.Parallel()
	list := dates(t)
	window, err := peers.ReadWindow(t.Context(), list, 0, withValue-pageRows, pageRows)
	require.NoError(t, err)
	var whole, short int
	for i, place := range window.Places {
		p := peers.Offset(list, i%2 == 0)
		at, err := p.Position(place)
		require.NoError(t, err)
		answer, err := p.Fetch(t.Context(), at, pageRows)
		require.NoError(t, err)
		page, err := answer()
		require.NoError(t, err)
		first := window.Page(i, 1)[0]
		if place.Last.Value.Equal(place.LeftOut.Value) {
			require.NotContains(t, page.IDs, first)
			short++
		} else {
			whole++
		}
	}
	require.Positive(t, whole)
	require.Positive(t, short)
}

func TestAWindowBeyondTheListIsAnError(t *testing.T) {
	t.Parallel()
	_, err := peers.ReadWindow(t.Context(), dates(t), 10, listRows, pageRows)
	require.ErrorContains(t, err, "14 rows behind 10 others, not 27")
}

func TestServicePagesAtPlaces(t *testing.T) {
	t.Parallel()
	const rows = 40
	db := mongotest.Database(t)
	seeder, err := seeding.New(db, seeding.Options{Creatives: rows, Seed: 1, OmitAbsent: true}, func(int) {})
	require.NoError(t, err)
	_, err = seeder.Run(t.Context())
	require.NoError(t, err)
	server, err := service.Start(t.Context(), service.Options{
		Binary: servicetest.Binary(t), URI: mongotest.URI(t), Database: db.Name(),
		CursorKey: servicetest.CursorKey, Log: filepath.Join(t.TempDir(), "catalogue.log"),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	keys, err := pagination.NewKeyring(servicetest.CursorKey)
	require.NoError(t, err)

	declared := creatives.List()
	list := peers.List{
		Collection: db.Collection(creatives.Collection), Order: declared.Default, Index: declared.Index(declared.Default.Sort).Name(),
	}
	window, err := peers.ReadWindow(t.Context(), list, 0, rows-pageRows, pageRows)
	require.NoError(t, err)
	p := peers.Service(list, server, keys, declared.Path, declared.Name)
	requirePages(t, p, window, len(window.Places))
	outcome, err := peers.Walk(t.Context(), p, ids(window), pageRows, nil)
	require.NoError(t, err)
	require.Equal(t, peers.Outcome{}, outcome)
}

// ids are those of the rows behind which a window has its places.
func ids(w peers.Window) []bson.ObjectID {
	out := make([]bson.ObjectID, len(w.Places))
	for i, place := range w.Places {
		out[i] = place.Last.ID
	}
	return out
}
