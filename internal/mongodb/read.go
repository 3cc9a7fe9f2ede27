package mongodb

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// ByID reads one document, or the fields of it that projection names. It reports false where there is none. The
// deadline of ctx holds on the server too, which the driver's FindOne does not see to. Errors are converted.
func ByID(ctx context.Context, coll *mongo.Collection, id bson.ObjectID, projection bson.D) (bson.Raw, bool, error) {
	find := bson.D{
		{Key: "find", Value: coll.Name()},
		{Key: "filter", Value: bson.D{{Key: "_id", Value: id}}},
		{Key: "limit", Value: int64(1)},
		{Key: "singleBatch", Value: true},
	}
	if len(projection) > 0 {
		find = append(find, bson.E{Key: "projection", Value: projection})
	}
	docs, err := Find(ctx, coll.Database(), find)
	if err != nil || len(docs) == 0 {
		return nil, false, Convert(err)
	}
	return docs[0], true, nil
}

// Find runs a find command and returns every document of it. It is repeated once where the first try failed in a way
// that a second may not: the driver repeats its own reads, but not commands built by hand. Those are needed because
// they carry the deadline of ctx to the server (as maxTimeMS, added by the driver), which its Find does not. Errors
// are the driver's.
func Find(ctx context.Context, db *mongo.Database, find bson.D) ([]bson.Raw, error) {
	docs, err := findOnce(ctx, db, find)
	if err != nil && ctx.Err() == nil && IsTransient(err) {
		docs, err = findOnce(ctx, db, find)
	}
	return docs, err
}

// findOnce copies the documents one by one: the driver's All makes a decoder with a buffer for each of them, which
// took a fifth of a page's time in this process.
func findOnce(ctx context.Context, db *mongo.Database, find bson.D) (docs []bson.Raw, err error) {
	cursor, err := db.RunCommandCursor(ctx, find)
	if err != nil {
		return nil, err
	}
	defer func() { _ = cursor.Close(context.WithoutCancel(ctx)) }() // nothing to do where all of it was read
	docs = make([]bson.Raw, 0, cursor.RemainingBatchLength())
	for cursor.Next(ctx) { // more than 16 MB come in several batches
		docs = append(docs, slices.Clone(cursor.Current))
	}
	return docs, cursor.Err()
}
