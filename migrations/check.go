package migrations

import (
	"context"
	"fmt"
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"catalogue/pagination"
)

// Check reads every document of the collections once and yields what would be served strangely, collection by
// collection. An error ends it.
func Check(ctx context.Context, db *mongo.Database, fields Fields) iter.Seq2[Problem, error] {
	return func(yield func(Problem, error) bool) {
		all := fields.withStamps()
		for _, collection := range all.collections() {
			for doc, err := range documents(ctx, db.Collection(collection), bson.D{}) {
				if err != nil {
					yield(Problem{}, err)
					return
				}
				problems, err := problemsOf(collection, doc, all[collection])
				if err != nil {
					yield(Problem{}, err)
					return
				}
				for _, p := range problems {
					if !yield(p, nil) {
						return
					}
				}
			}
		}
	}
}

// problemsOf looks at a whole document.
func problemsOf(collection string, doc bson.Raw, sorts pagination.Sorts) ([]Problem, error) {
	id := idText(doc.Lookup("_id"))
	names, err := twice(doc, "")
	if err != nil {
		return nil, fmt.Errorf("read the document %s of %s: %w", id, collection, err)
	}
	out := misfits(doc, sorts)
	for _, name := range names {
		out = append(out, Problem{Field: name, Kind: NamedTwice})
	}
	for i := range out {
		out[i].Collection, out[i].ID = collection, id
	}
	return out, nil
}

// documents yields every document of a collection, in any order. A document is valid until the next one. An
// empty projection is for whole documents.
func documents(ctx context.Context, coll *mongo.Collection, projection bson.D) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		cursor, err := coll.Find(ctx, bson.D{}, options.Find().SetProjection(projection))
		if err != nil {
			yield(nil, fmt.Errorf("read %s: %w", coll.Name(), err))
			return
		}
		defer func() { _ = cursor.Close(context.WithoutCancel(ctx)) }() // what it has to say, Err has said
		for cursor.Next(ctx) {
			if !yield(cursor.Current, nil) {
				return
			}
		}
		if err := cursor.Err(); err != nil {
			yield(nil, fmt.Errorf("read %s: %w", coll.Name(), err))
		}
	}
}
