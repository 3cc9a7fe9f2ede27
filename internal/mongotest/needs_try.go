package mongotest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/sync/errgroup"
)

// How many build indexes at once, and how often. A deadlock is a matter of luck, and seldom missing from so many.
const (
	builders    = 6
	buildRounds = 20
	buildRows   = 50
)

// onDatabase runs try on a database that is dropped after it.
func onDatabase(try func(context.Context, *mongo.Database) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), needTimeout)
	defer cancel()
	uri, err := shared.address()
	if err != nil {
		return err
	}
	shared, err := shared.connect(uri)
	if err != nil {
		return err
	}
	db := shared.Client().Database(Name())
	return errors.Join(try(ctx, db), db.Drop(ctx))
}

// refuses tells an answer of the server that it cannot from one that never came.
func refuses(err error) (bool, error) {
	if _, ok := errors.AsType[mongo.ServerError](err); ok && !mongo.IsNetworkError(err) && !mongo.IsTimeout(err) {
		return false, nil
	}
	return err == nil, err
}

// hasSchemaTitles changes a collection that is there: there are servers that read no validator of one that is made.
func hasSchemaTitles(ctx context.Context, db *mongo.Database) (bool, error) {
	if err := db.CreateCollection(ctx, "rows"); err != nil {
		return false, fmt.Errorf("make a collection: %w", err)
	}
	err := db.RunCommand(ctx, bson.D{{Key: "collMod", Value: "rows"}, {Key: "validator", Value: bson.D{
		{Key: "$jsonSchema", Value: bson.D{{Key: "title", Value: "rows"}}},
	}}}).Err()
	return refuses(err)
}

func hasReplacesByItself(ctx context.Context, db *mongo.Database) (bool, error) {
	coll, one := db.Collection("rows"), bson.D{{Key: "_id", Value: int32(1)}}
	if _, err := coll.InsertOne(ctx, one); err != nil {
		return false, fmt.Errorf("insert: %w", err)
	}
	if _, err := coll.UpdateOne(ctx, one, mongo.Pipeline{{{Key: "$replaceWith", Value: "$$ROOT"}}}); err != nil {
		return false, fmt.Errorf("replace a document by itself: %w", err)
	}
	stored, err := coll.FindOne(ctx, one).Raw()
	if err != nil {
		return false, fmt.Errorf("find: %w", err)
	}
	before, err := bson.Marshal(one)
	return bytes.Equal(before, stored), err
}

func hasCollation(ctx context.Context, db *mongo.Database) (bool, error) {
	_, err := db.Collection("rows").Indexes().CreateOne(ctx, mongo.IndexModel{
		Keys: bson.D{{Key: "f", Value: 1}}, Options: options.Index().SetCollation(&options.Collation{Locale: "en", Strength: 2}),
	})
	return refuses(err)
}

func hasExplainPlans(ctx context.Context, db *mongo.Database) (bool, error) {
	answer, err := db.RunCommand(ctx, bson.D{
		{Key: "explain", Value: bson.D{{Key: "find", Value: "rows"}}}, {Key: "verbosity", Value: "queryPlanner"},
	}).Raw()
	if err != nil {
		return refuses(err)
	}
	_, ok := answer.Lookup("queryPlanner", "winningPlan", "stage").StringValueOK()
	return ok, nil
}

func hasIndexUse(ctx context.Context, db *mongo.Database) (bool, error) {
	coll := db.Collection("rows")
	name, err := coll.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "f", Value: 1}}})
	if err != nil {
		return false, fmt.Errorf("build an index: %w", err)
	}
	if err := coll.FindOne(ctx, bson.D{{Key: "f", Value: 1}}, options.FindOne().SetHint(name)).Err(); !errors.Is(err, mongo.ErrNoDocuments) {
		return false, fmt.Errorf("use an index: %w", err)
	}
	cursor, err := coll.Aggregate(ctx, mongo.Pipeline{
		{{Key: "$indexStats", Value: bson.D{}}}, {{Key: "$match", Value: bson.D{{Key: "name", Value: name}}}},
	})
	if err != nil {
		return refuses(err)
	}
	var uses []struct {
		Accesses struct {
			Ops int64 `bson:"ops"`
		} `bson:"accesses"`
	}
	err = cursor.All(ctx, &uses)
	return len(uses) == 1 && uses[0].Accesses.Ops == 1, err
}

func hasDuplicatesNamed(ctx context.Context, db *mongo.Database) (bool, error) {
	coll := db.Collection("rows")
	if _, err := coll.InsertMany(ctx, []bson.D{{{Key: "f", Value: "same"}}, {{Key: "f", Value: "same"}}}); err != nil {
		return false, fmt.Errorf("insert: %w", err)
	}
	_, err := coll.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "f", Value: 1}}, Options: options.Index().SetUnique(true)})
	if err == nil {
		return false, nil // a server that builds it all the same
	}
	if mongo.IsDuplicateKeyError(err) {
		return true, nil
	}
	return refuses(err)
}

// hasBuildsAtOnce lets builders ask for the same indexes, a unique one among them, of a collection with some rows.
func hasBuildsAtOnce(ctx context.Context, db *mongo.Database) (bool, error) {
	rows := make([]bson.D, buildRows)
	for i := range rows {
		rows[i] = bson.D{{Key: "a", Value: i}}
	}
	models := func() []mongo.IndexModel { // for each builder its own: the driver writes into them
		return []mongo.IndexModel{
			{Keys: bson.D{{Key: "a", Value: 1}}},
			{Keys: bson.D{{Key: "b", Value: 1}}},
			{Keys: bson.D{{Key: "c", Value: 1}}, Options: options.Index().SetUnique(true).
				SetPartialFilterExpression(bson.D{{Key: "c", Value: bson.D{{Key: "$exists", Value: true}}}})},
		}
	}
	for round := range buildRounds {
		coll := db.Collection(fmt.Sprint("rows", round))
		if _, err := coll.InsertMany(ctx, rows); err != nil {
			return false, fmt.Errorf("insert: %w", err)
		}
		var group errgroup.Group
		for range builders {
			group.Go(func() error {
				for _, model := range models() {
					if _, err := coll.Indexes().CreateOne(ctx, model); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return refuses(err)
		}
	}
	return true, nil
}

func hasNullsAsMissing(ctx context.Context, db *mongo.Database) (bool, error) {
	return servesInOrder(ctx, db, nil, bson.D{{Key: "f", Value: nil}}, bson.D{}, bson.D{{Key: "f", Value: nil}})
}

func hasNaN(ctx context.Context, db *mongo.Database) (bool, error) {
	strays := bson.D{{Key: "$ne", Value: nil}, {Key: "$not", Value: bson.D{{Key: "$gte", Value: math.Inf(-1)}}}}
	return servesInOrder(ctx, db, strays, bson.D{{Key: "f", Value: "text"}}, bson.D{{Key: "f", Value: math.NaN()}})
}

func hasEqualDecimals(ctx context.Context, db *mongo.Database) (bool, error) {
	decimal, err := bson.ParseDecimal128("1.5")
	if err != nil {
		return false, err
	}
	coll := db.Collection("rows")
	if _, err := coll.InsertOne(ctx, bson.D{{Key: "f", Value: decimal}}); err != nil {
		return false, fmt.Errorf("insert: %w", err)
	}
	found, err := coll.CountDocuments(ctx, bson.D{{Key: "f", Value: bson.D{{Key: "$in", Value: bson.A{1.5, 0}}}}})
	return found == 1, err
}

func hasEmptyDocuments(ctx context.Context, db *mongo.Database) (bool, error) {
	strays := bson.D{{Key: "$ne", Value: nil}, {Key: "$not", Value: bson.D{{Key: "$gte", Value: ""}}}}
	return servesInOrder(ctx, db, strays, bson.D{{Key: "f", Value: 1}}, bson.D{{Key: "f", Value: bson.D{}}})
}

// servesInOrder reports whether a find of f through an index on f and _id that sorts by _id serves all of docs, in the
// order given.
func servesInOrder(ctx context.Context, db *mongo.Database, f any, docs ...bson.D) (bool, error) {
	coll := db.Collection("rows")
	index := bson.D{{Key: "f", Value: 1}, {Key: "_id", Value: 1}}
	if _, err := coll.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: index}); err != nil {
		return false, fmt.Errorf("build an index: %w", err)
	}
	var want []int32
	for i, doc := range docs {
		want = append(want, int32(i))
		if _, err := coll.InsertOne(ctx, append(bson.D{{Key: "_id", Value: int32(i)}}, doc...)); err != nil {
			return false, fmt.Errorf("insert: %w", err)
		}
	}
	find := options.Find().SetHint(index).SetSort(bson.D{{Key: "_id", Value: 1}}).SetProjection(bson.D{{Key: "_id", Value: 1}})
	cursor, err := coll.Find(ctx, bson.D{{Key: "f", Value: f}}, find)
	if err != nil {
		return false, fmt.Errorf("find: %w", err)
	}
	var rows []struct {
		ID int32 `bson:"_id"`
	}
	if err := cursor.All(ctx, &rows); err != nil {
		return false, fmt.Errorf("find: %w", err)
	}
	var got []int32
	for _, row := range rows {
		got = append(got, row.ID)
	}
	return slices.Equal(want, got), nil
}
