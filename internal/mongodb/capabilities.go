package mongodb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// probeCollection is where the probe writes what it takes back. It stays empty.
const probeCollection = "capability_probe"

// probeTimeout ends a probe of a server that hangs: the driver itself would go on for two minutes.
const probeTimeout = 10 * time.Second

// Capabilities are what a server can do, as it showed when it was asked. Products and versions are not looked at: they
// say less.
type Capabilities struct {
	// Transactions: writes of several documents happen together or not at all.
	Transactions bool
}

// Probe finds out what the server can do. It writes a document in a transaction, takes it back, and looks whether it
// is gone. Its error is that of a server that did not answer, converted; a server that refuses is one that cannot.
func Probe(ctx context.Context, db *mongo.Database) (Capabilities, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	transactions, err := hasTransactions(ctx, db)
	return Capabilities{Transactions: transactions}, Convert(err)
}

func hasTransactions(ctx context.Context, db *mongo.Database) (bool, error) {
	session, err := db.Client().StartSession()
	if err != nil {
		return false, nil // the deployment has no sessions, which transactions need
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), disconnectTimeout)
		defer cancel()
		session.EndSession(ending)
	}()
	coll, id := db.Collection(probeCollection), bson.NewObjectID()
	if err := session.StartTransaction(); err != nil {
		return false, nil // the driver knows that the deployment has none
	}
	// Without the driver's WithTransaction, which tries for two minutes, whatever ctx says.
	_, err = coll.InsertOne(mongo.NewSessionContext(ctx, session), bson.D{{Key: "_id", Value: id}})
	if err == nil {
		err = session.AbortTransaction(ctx)
	}
	if refused(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("try a transaction: %w", err)
	}
	left, err := coll.DeleteOne(ctx, bson.D{{Key: "_id", Value: id}}) // none where the write was taken back
	if err != nil {
		return false, fmt.Errorf("look for what the transaction left: %w", err)
	}
	return left.DeletedCount == 0, nil
}

// refused reports whether a server that works has turned a command down.
func refused(err error) bool {
	_, ok := errors.AsType[mongo.ServerError](err)
	return ok && !IsTransient(err) && !isTimeout(err) && !isUnreached(err) && !isDisconnected(err)
}
