package indexes

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Status is how a declared index stands in the database.
type Status string

// The statuses of a declared index.
const (
	Ready    Status = "ready"    // built and visible
	Missing  Status = "missing"  // nothing has its key
	Building Status = "building" // listed, but not finished
	Hidden   Status = "hidden"   // built, but somebody hid it from the planner
	Conflict Status = "conflict" // its key exists with other options
	Built    Status = "built"    // ready since just now: said by Apply alone
)

// Standing is a declared index and what the database has of it.
type Standing struct {
	Index  Index
	Status Status
	Name   string // in the database; of a missing index the free name that it would get
}

// found is an index as the database lists it.
type found struct {
	Name      string `bson:"name"`
	Keys      bson.D `bson:"key"`
	Unique    bool   `bson:"unique"`
	Sparse    bool   `bson:"sparse"`
	Hidden    bool   `bson:"hidden"`
	Partial   bson.D `bson:"partialFilterExpression"`
	Collation bson.D `bson:"collation"`
	// ExpireAfter is in seconds, of whatever type of number. Nil where rows do not expire, which zero does not say.
	ExpireAfter *float64 `bson:"expireAfterSeconds"`
	building    bool
}

// Plan compares the declared indexes with those of the database. It gives up after a while where that does not answer.
func Plan(ctx context.Context, db *mongo.Database, declared []Index) ([]Standing, error) {
	return planBy(ctx, db, declared, found.sameOptions)
}

// planBy is Plan with another measure of what counts as the declared index among those of its key.
func planBy(
	ctx context.Context, db *mongo.Database, declared []Index, same func(found, Index) bool,
) ([]Standing, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	have := map[string][]found{}
	out := make([]Standing, 0, len(declared))
	for _, want := range declared {
		list, known := have[want.Collection]
		if !known {
			var err error
			if list, err = listIndexes(ctx, db, want.Collection); err != nil {
				return nil, fmt.Errorf("list the indexes of %s: %w", want.Collection, err)
			}
			have[want.Collection] = list
		}
		out = append(out, standBy(want, list, same))
	}
	return out, nil
}

func standBy(want Index, have []found, same func(found, Index) bool) Standing {
	s := Standing{Index: want, Status: Missing, Name: freeName(want.Name(), have)}
	for _, f := range have {
		if keyText(f.Keys) != keyText(want.Keys) {
			continue
		}
		switch {
		case !same(f, want):
			if s.Status == Missing { // another index on the same key may still be the right one
				s.Status, s.Name = Conflict, f.Name
			}
			continue
		case f.building:
			s.Status = Building
		case f.Hidden:
			s.Status = Hidden
		default:
			s.Status = Ready
		}
		s.Name = f.Name
		break
	}
	return s
}

func (f found) sameOptions(want Index) bool { return f.serves(want) && f.sameExpiry(want) }

func (f found) sameExpiry(want Index) bool {
	if f.ExpireAfter == nil {
		return want.ExpireAfter == 0
	}
	return want.ExpireAfter != 0 && *f.ExpireAfter == want.ExpireAfter.Seconds()
}

// freeName keeps clear of an index of another key that has our name: _2, _3 and so on.
func freeName(name string, have []found) string {
	taken := make(map[string]bool, len(have))
	for _, f := range have {
		taken[f.Name] = true
	}
	free := name
	for n := 2; taken[free]; n++ {
		free = fmt.Sprintf("%s_%d", name, n)
	}
	return free
}

// listIndexes lists the indexes of a collection, those being built among them. A collection that does not exist has none.
func listIndexes(ctx context.Context, db *mongo.Database, collection string) ([]found, error) {
	entries, err := indexEntries(ctx, db, bson.D{
		{Key: "listIndexes", Value: collection},
		{Key: "includeBuildUUIDs", Value: true}, // the only mark of an index that is not finished
	})
	if hasCode(err, codeUnknownField) { // by a server that does not mark them
		entries, err = indexEntries(ctx, db, bson.D{{Key: "listIndexes", Value: collection}})
	}
	if err != nil {
		return nil, err
	}
	out := make([]found, 0, len(entries))
	for _, entry := range entries {
		f, err := readEntry(entry)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func indexEntries(ctx context.Context, db *mongo.Database, list bson.D) ([]bson.Raw, error) {
	cursor, err := db.RunCommandCursor(ctx, list)
	if err != nil {
		if hasCode(err, codeNamespaceNotFound) {
			return nil, nil
		}
		return nil, err
	}
	var entries []bson.Raw
	err = cursor.All(ctx, &entries)
	return entries, err
}

func readEntry(entry bson.Raw) (found, error) {
	var f found
	spec := entry
	if sub, ok := entry.Lookup("spec").DocumentOK(); ok { // the form of an index in the making
		spec, f.building = sub, entry.Lookup("buildUUID").Type != 0
	}
	err := bson.Unmarshal(spec, &f)
	return f, err
}
