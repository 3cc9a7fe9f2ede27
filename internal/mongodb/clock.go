package mongodb

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// ServerTime asks the primary what time it is by its own clock, in whole milliseconds of UTC.
func ServerTime(ctx context.Context, db *mongo.Database) (time.Time, error) {
	answer, err := db.RunCommand(ctx, bson.D{{Key: "hello", Value: int32(1)}}).Raw()
	if err != nil {
		return time.Time{}, err
	}
	ms, ok := answer.Lookup("localTime").DateTimeOK()
	if !ok {
		return time.Time{}, errors.New("the server does not tell its time in hello.localTime")
	}
	return time.UnixMilli(ms).UTC(), nil
}
