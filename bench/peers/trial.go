package peers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/indexes"
	"catalogue/internal/mongodb"
	"catalogue/pagination"
)

// Result is how a peer walked a case: in both directions with every one of Limits.
type Result struct {
	Case, Peer string
	Walks      int
	Rows       int // that are to be served in all of the walks together
	Lost       int // of them
	Doubled    int // servings of rows beyond their first
	Endless    int // walks that were cut off; they count nowhere else
	Unsuitable bool
}

// Limits returns the page sizes of the walks.
func Limits() []int { return []int{1, 2, 7, 50} }

// Trial walks cases in a database of its own.
type Trial struct {
	db    *mongo.Database
	peers func(List) []Peer
}

// NewTrial makes a trial of the peers. It makes collections in db, which whoever owns it drops.
func NewTrial(db *mongo.Database, peers func(List) []Peer) Trial { return Trial{db: db, peers: peers} }

// Walk has every peer walk the case, and returns one result a peer. number tells cases apart.
func (t Trial) Walk(ctx context.Context, number int, c Case) ([]Result, error) {
	coll := t.db.Collection(fmt.Sprintf("case_%d", number))
	index := indexes.ForSort(coll.Name(), nil, field, "")
	model := mongo.IndexModel{Keys: index.Keys}
	if _, err := coll.Indexes().CreateOne(ctx, model); err != nil {
		return nil, fmt.Errorf("index case %q: %w", c.Name, err)
	}
	if err := plant(ctx, coll, c); err != nil {
		return nil, err
	}
	var results []Result
	for _, descending := range []bool{false, true} {
		order := pagination.Order{Sort: pagination.Sort{Field: field, Kind: c.Kind}, Descending: descending}
		peers := t.peers(List{Collection: coll, Order: order, Index: index.Name()})
		if results == nil {
			results = make([]Result, len(peers))
		}
		for i, p := range peers {
			if err := walkAll(ctx, coll, c, p, &results[i]); err != nil {
				return nil, err
			}
		}
	}
	return results, nil
}

// plant makes the rows of a case, and no others, be there.
func plant(ctx context.Context, coll *mongo.Collection, c Case) error {
	docs, _ := c.identified()
	_, err := coll.DeleteMany(ctx, bson.D{})
	if err == nil {
		_, err = coll.InsertMany(ctx, docs)
	}
	if err != nil {
		return fmt.Errorf("plant case %q: %w", c.Name, err)
	}
	return nil
}

// walkAll adds the walks of one peer in one direction to its result.
func walkAll(ctx context.Context, coll *mongo.Collection, c Case, p Peer, into *Result) error {
	into.Case, into.Peer = c.Name, p.Name()
	_, rows := c.identified()
	for _, limit := range Limits() {
		outcome, err := walkOnce(ctx, coll, c, p, rows, limit)
		if errors.Is(err, ErrUnsuitable) {
			into.Unsuitable = true
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s walks case %q by %d: %w", p.Name(), c.Name, limit, err)
		}
		into.Walks++
		if outcome.Endless {
			into.Endless++
			continue
		}
		into.Rows += len(rows)
		into.Lost += outcome.Lost
		into.Doubled += outcome.Doubled
	}
	return nil
}

func walkOnce(
	ctx context.Context, coll *mongo.Collection, c Case, p Peer, rows []bson.ObjectID, limit int,
) (Outcome, error) {
	if !c.Deleting {
		return Walk(ctx, p, rows, limit, nil)
	}
	if err := plant(ctx, coll, c); err != nil {
		return Outcome{}, err
	}
	return Walk(ctx, p, rows, limit, func(ctx context.Context, page []bson.ObjectID) error {
		if len(page) == 0 {
			return nil
		}
		_, err := coll.DeleteOne(ctx, bson.D{{Key: "_id", Value: page[0]}})
		return err
	})
}

// NullsAsMissing finds out whether the server's indexes keep rows with an explicit null and rows without the field as
// one group in the order of their ids. It leaves a collection in db.
func NullsAsMissing(ctx context.Context, db *mongo.Database) (bool, error) {
	coll := db.Collection("nulls_as_missing")
	index := indexes.ForSort(coll.Name(), nil, field, "")
	if _, err := coll.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: index.Keys}); err != nil {
		return false, fmt.Errorf("probe nulls: %w", err)
	}
	c := Case{Name: "probe", Rows: rows(missing(), value(nil), missing(), value(nil))}
	if err := plant(ctx, coll, c); err != nil {
		return false, err
	}
	list := List{Collection: coll, Order: pagination.Asc(pagination.Sort{Field: field}), Index: index.Name()}
	docs, err := list.find(ctx, question{filter: value(nil), sort: list.sort(), limit: len(c.Rows), hinted: true})
	if err != nil {
		return false, mongodb.Convert(err)
	}
	keys, err := list.keys(docs)
	if err != nil {
		return false, err
	}
	_, sorted := c.identified()
	return slices.Equal(ids(keys), sorted), nil
}
