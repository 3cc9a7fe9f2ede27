package migrations

import (
	"context"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// maxFirst is how many problems a ProblemsError holds.
const maxFirst = 20

// ProblemsError says that stored documents do not fit.
type ProblemsError struct {
	First []Problem
	More  bool // there are others
}

func (e *ProblemsError) Error() string {
	lines := make([]string, 0, len(e.First)+1)
	for _, p := range e.First {
		lines = append(lines, p.String())
	}
	if e.More {
		lines = append(lines, "and others")
	}
	return "stored documents do not fit:\n" + strings.Join(lines, "\n")
}

// Enforce makes the database refuse writes that do not fit the declared types. It fails with a ProblemsError and
// changes nothing while Check finds anything, and where a collection has a validator of somebody else.
func Enforce(ctx context.Context, db *mongo.Database, fields Fields) error {
	if err := noProblems(ctx, db, fields); err != nil {
		return err
	}
	all := fields.withStamps()
	for _, collection := range all.collections() {
		have, err := validatorOf(ctx, db, collection)
		if err != nil {
			return err
		}
		if have.foreign() {
			return fmt.Errorf("%s has a validator of its own: look at it and take it away by hand", collection)
		}
	}
	for _, collection := range all.collections() {
		if err := setValidator(ctx, db, collection, schema(all[collection]), actionError); err != nil {
			return err
		}
	}
	return nil
}

func noProblems(ctx context.Context, db *mongo.Database, fields Fields) error {
	var found ProblemsError
	for p, err := range Check(ctx, db, fields) {
		if err != nil {
			return err
		}
		if len(found.First) == maxFirst {
			found.More = true
			break
		}
		found.First = append(found.First, p)
	}
	if len(found.First) > 0 {
		return &found
	}
	return nil
}
