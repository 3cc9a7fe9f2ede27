package indexes

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Use is how often an index was used, as one node counted. Each node counts for itself, from its start on.
type Use struct {
	Operations int64     `json:"operations" bson:"ops"`
	Since      time.Time `json:"since" bson:"since"`
	Host       string    `json:"host"`
}

// Retired is an index that Retire took up.
type Retired struct {
	Extra
	Use *Use  `json:"use"` // nil where the server does not tell
	Err error `json:"-"`   // why it could not be hidden; the others went on
}

// Retirement is what Retire did.
type Retirement struct {
	// Unsupported: the server has no hidden indexes, so nothing was done.
	Unsupported bool      `json:"unsupported"`
	Retired     []Retired `json:"retired"` // hidden now, but for those with an error
	Hidden      []Extra   `json:"hidden"`  // ours, hidden before
	Foreign     []Extra   `json:"foreign"` // recorded by nobody: left as they are
}

// RetireOptions say who is told of a retirement. Everything may be nil.
type RetireOptions struct {
	Guard  Guard
	Before func(Retired) // before an index is hidden, with its use
}

// Retire hides the indexes that Build once built and that nothing declares any more, when the version that needed them
// is gone. It drops nothing and never touches an index that Build did not record as its own, or one that stands where
// a declared one of other options should. It goes on after an index that cannot be hidden.
func Retire(ctx context.Context, db *mongo.Database, declared []Index, o RetireOptions) (Retirement, error) {
	c, err := Compare(ctx, db, declared)
	if err != nil {
		return Retirement{}, err
	}
	out := Retirement{Retired: []Retired{}, Hidden: []Extra{}, Foreign: []Extra{}}
	for _, e := range c.Extra {
		switch {
		case !e.Ours:
			out.Foreign = append(out.Foreign, e)
		case e.Hidden:
			out.Hidden = append(out.Hidden, e)
		case !e.Building:
			out.Retired = append(out.Retired, Retired{Extra: e})
		}
	}
	if len(out.Retired) == 0 {
		return out, nil
	}
	can, err := canHide(ctx, db)
	if err != nil || !can {
		out.Unsupported, out.Retired = err == nil, []Retired{}
		return out, err
	}
	return out, retireAll(ctx, db, out.Retired, o)
}

func retireAll(ctx context.Context, db *mongo.Database, list []Retired, o RetireOptions) error {
	l := ledger{db, o.Guard}
	for n := range list {
		r := &list[n]
		r.Use = useOf(ctx, db, r.Collection, r.Name)
		if o.Before != nil {
			o.Before(*r)
		}
		// The record comes first: one that is hidden without it would pass for hidden by a person.
		if err := l.hidden(ctx, r.Collection, r.Name); err != nil {
			return err
		}
		if err := o.Guard.check(ctx); err != nil {
			return err
		}
		if err := setHidden(ctx, db, r.Collection, r.Name, true); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			r.Err = fmt.Errorf("hide index %s: %w", r.Extra, err)
			continue
		}
		r.Hidden, r.HiddenBy = true, HiddenByRetire
	}
	return nil
}

// useOf asks how often an index was used. It is there to be shown, so it may be unknown and fails nothing.
func useOf(ctx context.Context, db *mongo.Database, collection, name string) *Use {
	cursor, err := db.Collection(collection).Aggregate(ctx, mongo.Pipeline{
		{{Key: "$indexStats", Value: bson.D{}}},
		{{Key: "$match", Value: bson.D{{Key: "name", Value: name}}}},
	})
	if err != nil {
		return nil
	}
	var rows []struct {
		Host     string `bson:"host"`
		Accesses Use    `bson:"accesses"`
	}
	if err := cursor.All(ctx, &rows); err != nil || len(rows) == 0 {
		return nil
	}
	use := rows[0].Accesses
	use.Host = rows[0].Host
	return &use
}
