package migrations

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// schemaTitle marks validators as ours.
const schemaTitle = "catalogue"

// What the database does with a write that a validator refuses.
const (
	actionWarn  = "warn"  // logs it
	actionError = "error" // refuses it
)

// Codes of the server, under the names it gives them.
const (
	codeNamespaceNotFound = 26
	codeNamespaceExists   = 48
)

// validators tells the database the types of sort fields and stamps. It only warns, and passes over documents that
// broke the rules before: Enforce makes it strict. It is run again when the sorts change, and then warns again. A
// validator that somebody else has set stays.
func validators(fields Fields) Migration {
	all := fields.withStamps()
	return Migration{
		Number: 2, Name: "validators", Version: 1, Parameters: all, Repeatable: true,
		Run: func(ctx context.Context, s *Step) error {
			for _, collection := range all.collections() {
				if err := warnOf(ctx, s, collection, schema(all[collection])); err != nil {
					return err
				}
			}
			return nil
		},
		Count: func(ctx context.Context, db *mongo.Database) (int64, error) {
			var n int64
			for _, collection := range all.collections() {
				have, err := validatorOf(ctx, db, collection)
				if err != nil {
					return 0, err
				}
				if want := schema(all[collection]); !have.foreign() && !have.is(want) {
					n++
				}
			}
			return n, nil
		},
	}
}

func warnOf(ctx context.Context, s *Step, collection string, want bson.D) error {
	have, err := validatorOf(ctx, s.Database(), collection)
	switch {
	case err != nil:
		return err
	case have.foreign():
		s.Note(collection + " has a validator of its own, which stays")
		return nil
	case have.is(want): // it may be strict already, and stays so
		return nil
	case have.action == actionError && have.rule != nil:
		s.Note("the validator of " + collection + " has changed and only warns until it is enforced again")
	}
	if err := s.Check(ctx); err != nil {
		return err
	}
	if err := setValidator(ctx, s.Database(), collection, want, actionWarn); err != nil {
		return err
	}
	return s.Save(ctx, bson.D{{Key: "collection", Value: collection}}, 1)
}

// validator is what the database has for a collection.
type validator struct {
	rule   bson.Raw // nil where there is none
	action string
}

// foreign reports whether somebody else has set the validator.
func (v validator) foreign() bool {
	title, ok := v.rule.Lookup("$jsonSchema", "title").StringValueOK()
	return v.rule != nil && (!ok || title != schemaTitle)
}

func (v validator) is(rule bson.D) bool {
	raw, err := bson.Marshal(rule)
	return err == nil && bytes.Equal(raw, v.rule)
}

// validatorOf reads the validator of a collection, which need not exist.
func validatorOf(ctx context.Context, db *mongo.Database, collection string) (validator, error) {
	list, err := db.ListCollectionSpecifications(ctx, bson.D{{Key: "name", Value: collection}})
	if err != nil {
		return validator{}, fmt.Errorf("read the validator of %s: %w", collection, err)
	}
	if len(list) == 0 {
		return validator{}, nil
	}
	var v validator
	if rule, ok := list[0].Options.Lookup("validator").DocumentOK(); ok && len(rule) > emptyDocument {
		v.rule = rule
	}
	v.action, _ = list[0].Options.Lookup("validationAction").StringValueOK()
	return v, nil
}

// emptyDocument is the length of a document without fields: a validator that was taken away.
const emptyDocument = 5

// setValidator sets the validator of a collection, and makes the collection where there is none.
func setValidator(ctx context.Context, db *mongo.Database, collection string, rule bson.D, action string) error {
	settings := bson.D{
		{Key: "validator", Value: rule},
		{Key: "validationAction", Value: action},
		// Documents that broke the rules before may still be changed.
		{Key: "validationLevel", Value: "moderate"},
	}
	modify := append(bson.D{{Key: "collMod", Value: collection}}, settings...)
	err := db.RunCommand(ctx, modify).Err()
	if hasCode(err, codeNamespaceNotFound) {
		err = db.RunCommand(ctx, append(bson.D{{Key: "create", Value: collection}}, settings...)).Err()
	}
	if hasCode(err, codeNamespaceExists) { // somebody has just made it
		err = db.RunCommand(ctx, modify).Err()
	}
	if err != nil {
		return fmt.Errorf("set the validator of %s: %w", collection, err)
	}
	return nil
}

func hasCode(err error, code int) bool {
	server, ok := errors.AsType[mongo.ServerError](err)
	return ok && server.HasErrorCode(code)
}
