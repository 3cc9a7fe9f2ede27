package indexes

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// hidingProbe is the collection whose index is hidden to see whether the server can. It lives for that moment.
const hidingProbe = "index_hiding_probe"

// canHide tries on a collection of its own whether the server has hidden indexes. Products and versions say less.
func canHide(ctx context.Context, db *mongo.Database) (can bool, err error) {
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
		defer cancel()
		if e := db.Collection(hidingProbe).Drop(ctx); e != nil {
			err = errors.Join(err, fmt.Errorf("drop %s: %w", hidingProbe, e))
		}
	}()
	probe := Index{Collection: hidingProbe, Keys: bson.D{{Key: "probe", Value: int32(1)}}}
	if err := build(ctx, db, Standing{Index: probe, Name: probe.Name()}); err != nil {
		return false, fmt.Errorf("build an index to hide: %w", err)
	}
	err = setHidden(ctx, db, hidingProbe, probe.Name(), true)
	if refused(err) && !hasCode(err, codeUnauthorized, codeIndexNotFound, codeNamespaceNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("hide an index: %w", err)
	}
	have, err := listIndexes(ctx, db, hidingProbe)
	if err != nil {
		return false, fmt.Errorf("look whether an index is hidden: %w", err)
	}
	for _, f := range have {
		if f.Name == probe.Name() {
			return f.Hidden, nil // a server may take the command and do nothing
		}
	}
	return false, nil
}

func setHidden(ctx context.Context, db *mongo.Database, collection, name string, hidden bool) error {
	return collMod(ctx, db, collection, name, bson.E{Key: "hidden", Value: hidden})
}
