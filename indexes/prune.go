package indexes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/mongodb"
)

// Pruned is an index that Prune took up.
type Pruned struct {
	Extra
	Err error `json:"-"` // why it could not be dropped; the others went on
}

// Prunable lists what Prune would drop: indexes that Retire hid at least olderThan ago, by its record and the
// database's clock, and that are still hidden and still not declared.
func Prunable(ctx context.Context, db *mongo.Database, declared []Index, olderThan time.Duration) ([]Extra, error) {
	if olderThan < 0 {
		return nil, fmt.Errorf("the age %s is negative", olderThan)
	}
	c, err := Compare(ctx, db, declared)
	if err != nil {
		return nil, err
	}
	now, err := mongodb.ServerTime(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("ask the database for the time: %w", err)
	}
	return slices.DeleteFunc(c.Extra, func(e Extra) bool {
		return e.HiddenBy != HiddenByRetire || now.Sub(*e.HiddenAt) < olderThan
	}), nil
}

// Prune drops what Prunable lists, looking anew. It goes on after an index that cannot be dropped.
func Prune(
	ctx context.Context, db *mongo.Database, declared []Index, olderThan time.Duration, guard Guard,
) ([]Pruned, error) {
	list, err := Prunable(ctx, db, declared, olderThan)
	if err != nil {
		return nil, err
	}
	l, out := ledger{db, guard}, make([]Pruned, 0, len(list))
	for _, e := range list {
		err := l.drop(ctx, e)
		if errors.Is(err, errGuard) || ctx.Err() != nil {
			return out, err
		}
		out = append(out, Pruned{e, err})
	}
	return out, l.forgetGone(ctx)
}

// drop drops an index that was hidden when the list was made, and is hidden now: the drops before it may have taken long.
func (l ledger) drop(ctx context.Context, e Extra) error {
	have, err := listIndexes(ctx, l.db, e.Collection)
	if err != nil {
		return fmt.Errorf("list the indexes of %s: %w", e.Collection, err)
	}
	for _, f := range have {
		if f.Name == e.Name && !f.Hidden {
			return fmt.Errorf("index %s is no longer hidden", e)
		}
	}
	if err := l.guard.check(ctx); err != nil {
		return err
	}
	err = l.db.RunCommand(ctx, bson.D{{Key: "dropIndexes", Value: e.Collection}, {Key: "index", Value: e.Name}}).Err()
	if err != nil && !hasCode(err, codeIndexNotFound, codeNamespaceNotFound) {
		return fmt.Errorf("drop index %s: %w", e, err)
	}
	return l.forget(ctx, e.Collection, e.Name, false)
}

// forgetGone removes the records of indexes that somebody dropped: another may come to their names one day.
func (l ledger) forgetGone(ctx context.Context) error {
	recorded, err := l.load(ctx)
	if err != nil {
		return err
	}
	have := map[string][]found{}
	for _, r := range recorded {
		list, known := have[r.Collection]
		if !known {
			if list, err = listIndexes(ctx, l.db, r.Collection); err != nil {
				return fmt.Errorf("list the indexes of %s: %w", r.Collection, err)
			}
			have[r.Collection] = list
		}
		if slices.ContainsFunc(list, r.matches) {
			continue
		}
		if err := l.forget(ctx, r.Collection, r.Name, false); err != nil {
			return err
		}
	}
	return nil
}

// Unhide brings an index back at once, whoever hid it, and says which. The collection may be empty where one
// collection alone has an index of that name.
func Unhide(ctx context.Context, db *mongo.Database, name, collection string, guard Guard) (Extra, error) {
	c, err := Compare(ctx, db, nil)
	if err != nil {
		return Extra{}, err
	}
	var named []Extra
	for _, e := range c.Extra {
		if e.Name == name && (collection == "" || e.Collection == collection) {
			named = append(named, e)
		}
	}
	if len(named) != 1 {
		return Extra{}, notOne(name, collection, named)
	}
	e := named[0]
	if !e.Hidden {
		return e, fmt.Errorf("index %s is not hidden", e)
	}
	l := ledger{db, guard}
	if err := guard.check(ctx); err != nil {
		return e, err
	}
	if err := setHidden(ctx, db, e.Collection, e.Name, false); err != nil {
		return e, fmt.Errorf("unhide index %s: %w", e, err)
	}
	return e, l.shown(ctx, e.Collection, e.Name)
}

func notOne(name, collection string, named []Extra) error {
	switch {
	case len(named) == 0 && collection != "":
		return fmt.Errorf("%s has no index %q", collection, name)
	case len(named) == 0:
		return fmt.Errorf("no collection has an index %q", name)
	default:
		var in []string
		for _, e := range named {
			in = append(in, e.Collection)
		}
		return fmt.Errorf("several collections have an index %q: say which of %s", name, strings.Join(in, ", "))
	}
}
