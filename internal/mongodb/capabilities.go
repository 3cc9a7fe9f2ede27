package mongodb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver"
	"golang.org/x/sync/errgroup"
)

const (
	// probeCollection is where the probe writes what it takes back. It stays empty.
	probeCollection = "capability_probe"
	// ProbeIndexes is an empty collection with the indexes of the probe, which stay: several servers may be probing at
	// once, and none takes away what another looks at. It is not probeCollection, since a build of an index and an open
	// transaction shut each other out. An index of an empty collection is there at once, whoever of a replica set is down.
	ProbeIndexes = "capability_probe_indexes"

	// probeTimeout ends a probe of a server that hangs: the driver itself would go on for two minutes.
	probeTimeout = 10 * time.Second
	// probeTries is how often a transaction is tried that meets another one, such as that of a server which starts at
	// the same time and makes the same collection.
	probeTries = 5
)

// Capabilities are what a server can do, as it showed when it was asked. Products and versions are not looked at: they
// say less.
type Capabilities struct {
	// Transactions: writes of several documents happen together or not at all.
	Transactions bool
	// HiddenIndexes: an index can be kept and not be used.
	HiddenIndexes bool
	// NowInFind: a find through an index compares fields with the server's clock.
	NowInFind bool
	// ExplainStatistics: explain runs the query, and tells how many keys and documents it examined.
	ExplainStatistics bool
}

// Describe lists in words what the server can do, and what it cannot.
func (c Capabilities) Describe() (has, lacks []string) {
	has, lacks = []string{}, []string{}
	for _, one := range []struct {
		can   bool
		words string
	}{
		{c.Transactions, "transactions"},
		{c.HiddenIndexes, "hidden indexes"},
		{c.NowInFind, "$$NOW in a find"},
		{c.ExplainStatistics, "statistics in explain"},
	} {
		if one.can {
			has = append(has, one.words)
		} else {
			lacks = append(lacks, one.words)
		}
	}
	return has, lacks
}

// Probe finds out what the server can do by trying it, in two collections that stay empty and of which one keeps two
// indexes. The role readWrite is enough. Its error is that of a server that did not answer, converted; a server that
// refuses is one that cannot.
func Probe(ctx context.Context, db *mongo.Database) (Capabilities, error) {
	transactions, err := HasTransactions(ctx, db)
	if err != nil {
		return Capabilities{}, err
	}
	return ProbeBeside(ctx, db, transactions)
}

// ProbeBeside is Probe where it is known whether there are transactions.
func ProbeBeside(ctx context.Context, db *mongo.Database, transactions bool) (Capabilities, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	can := Capabilities{Transactions: transactions}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) { // one after the other: not every server builds two indexes of one collection at once
		if can.NowInFind, err = hasNowInFind(ctx, db); err != nil {
			return err
		}
		can.HiddenIndexes, err = hasHiddenIndexes(ctx, db)
		return err
	})
	group.Go(func() (err error) {
		can.ExplainStatistics, err = hasExplainStatistics(ctx, db)
		return err
	})
	if err := group.Wait(); err != nil {
		return Capabilities{}, Convert(err)
	}
	return can, nil
}

// HasTransactions finds out whether writes of several documents happen together or not at all. Errors are those of Probe.
func HasTransactions(ctx context.Context, db *mongo.Database) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	has, err := hasTransactions(ctx, db)
	return has, Convert(err)
}

func hasTransactions(ctx context.Context, db *mongo.Database) (bool, error) {
	for try := 1; ; try++ {
		can, err := tryTransaction(ctx, db)
		if try == probeTries || !collided(err) {
			return can, err
		}
	}
}

// collided reports whether a transaction met another one, which says nothing about what the server can do.
func collided(err error) bool { return refused(err) && hasLabel(err, driver.TransientTransactionError) }

// tryTransaction writes a document in a transaction, takes it back, and looks whether it is gone.
func tryTransaction(ctx context.Context, db *mongo.Database) (bool, error) {
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
	if refused(err) && !collided(err) {
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
