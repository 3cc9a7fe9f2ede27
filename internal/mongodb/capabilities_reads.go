package mongodb

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// The indexes of ProbeIndexes, and the field that they are on.
const (
	probeField  = "at"
	probeIndex  = "probe"
	hiddenIndex = "probe_hidden"
)

// hasNowInFind looks through an index: there are servers that know $$NOW in a find only where they use none.
func hasNowInFind(ctx context.Context, db *mongo.Database) (bool, error) {
	if err := createProbeIndex(ctx, db, probeIndex, bson.D{{Key: probeField, Value: 1}, {Key: "_id", Value: 1}}, false); err != nil {
		return outcome("build an index to look through", err)
	}
	_, err := Find(ctx, db, bson.D{
		{Key: "find", Value: ProbeIndexes},
		{Key: "filter", Value: bson.D{
			{Key: probeField, Value: bson.D{{Key: "$gte", Value: time.Time{}}}},
			{Key: "$expr", Value: bson.D{{Key: "$lt", Value: bson.A{"$" + probeField, "$$NOW"}}}},
		}},
		{Key: "hint", Value: probeIndex},
	})
	return outcome("compare with the server's clock", err)
}

// hasHiddenIndexes makes an index that is hidden from the first and tries to use it, since a server may take the option
// and do nothing about it. Hiding one that is there would need the role dbAdmin.
func hasHiddenIndexes(ctx context.Context, db *mongo.Database) (bool, error) {
	if err := createProbeIndex(ctx, db, hiddenIndex, bson.D{{Key: probeField, Value: -1}}, true); err != nil {
		return outcome("build a hidden index", err)
	}
	_, err := Find(ctx, db, bson.D{
		{Key: "find", Value: ProbeIndexes}, {Key: "filter", Value: bson.D{}}, {Key: "hint", Value: hiddenIndex},
	})
	if IsBadValue(err) {
		return true, nil
	}
	_, err = outcome("use a hidden index", err)
	return false, err
}

// createProbeIndex does nothing where the index is there.
func createProbeIndex(ctx context.Context, db *mongo.Database, name string, keys bson.D, hidden bool) error {
	settings := options.Index().SetName(name)
	if hidden {
		settings.SetHidden(true) // a server that does not know the option may refuse its name
	}
	_, err := db.Collection(ProbeIndexes).Indexes().CreateOne(ctx, mongo.IndexModel{Keys: keys, Options: settings})
	return err
}

func hasExplainStatistics(ctx context.Context, db *mongo.Database) (bool, error) {
	var answer struct {
		Statistics struct {
			Keys      *int64 `bson:"totalKeysExamined"`
			Documents *int64 `bson:"totalDocsExamined"`
		} `bson:"executionStats"`
	}
	err := db.RunCommand(ctx, bson.D{
		{Key: "explain", Value: bson.D{{Key: "find", Value: ProbeIndexes}, {Key: "filter", Value: bson.D{}}}},
		{Key: "verbosity", Value: "executionStats"},
	}).Decode(&answer)
	can, err := outcome("explain a find", err)
	return can && answer.Statistics.Keys != nil && answer.Statistics.Documents != nil, err
}

// outcome is what a try shows: that the server can, that it cannot, or nothing, where err is not its refusal.
func outcome(tried string, err error) (bool, error) {
	switch {
	case err == nil:
		return true, nil
	case refused(err):
		return false, nil
	default:
		return false, fmt.Errorf("%s: %w", tried, err)
	}
}
