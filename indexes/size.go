package indexes

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Size is how large a collection is, as its metadata say. Nil is what the server does not tell.
type Size struct {
	Documents *int64 `json:"documents"`
	Bytes     *int64 `json:"bytes"` // of the documents, uncompressed
}

// sizeOf asks for a collection's size. It is there to be shown, so it may be unknown and fails nothing.
func sizeOf(ctx context.Context, db *mongo.Database, collection string) Size {
	cursor, err := db.Collection(collection).Aggregate(ctx, mongo.Pipeline{
		{{Key: "$collStats", Value: bson.D{{Key: "storageStats", Value: bson.D{}}}}},
	})
	if hasCode(err, codeNamespaceNotFound) {
		return Size{Documents: new(int64), Bytes: new(int64)}
	}
	if err != nil {
		return Size{}
	}
	var shards []struct {
		Stats struct {
			Count *float64 `bson:"count"`
			Size  *float64 `bson:"size"`
		} `bson:"storageStats"`
	}
	if err := cursor.All(ctx, &shards); err != nil {
		return Size{}
	}
	var out Size
	for _, shard := range shards {
		addTo(&out.Documents, shard.Stats.Count)
		addTo(&out.Bytes, shard.Stats.Size)
	}
	return out
}

func addTo(sum **int64, n *float64) {
	if n == nil {
		return
	}
	if *sum == nil {
		*sum = new(int64)
	}
	**sum += int64(*n)
}
