package indexes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/mongodb"
)

// compareTimeout ends a comparison with a database that does not answer.
const compareTimeout = 30 * time.Second

// Action is what Build does about a declared index. Empty: nothing.
type Action string

// The actions. Expire changes when rows expire, by collMod.
const (
	ActionBuild  Action = "build"
	ActionWait   Action = "wait"
	ActionUnhide Action = "unhide"
	ActionExpire Action = "expire"
)

// Hider is who hid an index.
type Hider string

// The hiders: Retire, by its record, or somebody else.
const (
	HiddenByRetire Hider = "retire"
	HiddenByPerson Hider = "person"
)

// Finding is a declared index, what the database has of it, and what Build would do about it.
type Finding struct {
	Index      Index  `json:"-"`
	Collection string `json:"collection"`
	Key        string `json:"key"` // {field: 1, _id: 1}
	Reason     string `json:"reason"`
	Status     Status `json:"status"`
	// Name is the one in the database; of a missing index the free one that it would get.
	Name         string       `json:"name"`
	DeclaredName string       `json:"declared_name"` // another one than Name is as good
	Action       Action       `json:"action,omitempty"`
	Differences  []Difference `json:"differences,omitempty"`
	HiddenBy     Hider        `json:"hidden_by,omitempty"`
	Ours         bool         `json:"ours"` // built by Build, by its record
	Size         Size         `json:"size"`

	record *record
}

// ForPerson reports whether the index is not as declared and Build will leave it so.
func (f Finding) ForPerson() bool {
	return f.Action == "" && (f.Status == Conflict || f.Status == Hidden)
}

// OtherName reports whether the index is there under another name than the declared one.
func (f Finding) OtherName() bool { return f.Status != Missing && f.Name != f.DeclaredName }

// stands reports whether an index of the database is, or is in the place of, the declared one. One of other options that
// Retire hid is on its way out.
func (f Finding) stands() bool {
	return f.Status != Missing && (f.Status != Conflict || f.HiddenBy != HiddenByRetire)
}

// Extra is an index that nothing declares.
type Extra struct {
	Collection string     `json:"collection"`
	Name       string     `json:"name"`
	Key        string     `json:"key"`
	Building   bool       `json:"building"`
	Hidden     bool       `json:"hidden"`
	HiddenBy   Hider      `json:"hidden_by,omitempty"`
	Ours       bool       `json:"ours"`                // built by Build, by its record; else foreign
	BuiltAt    *time.Time `json:"built_at,omitempty"`  // by the database's clock, where Build saw it end
	HiddenAt   *time.Time `json:"hidden_at,omitempty"` // by the database's clock, of one that Retire hid
	Size       Size       `json:"size"`
}

// String names the index for people: collection, name and key.
func (e Extra) String() string { return fmt.Sprintf("%s %s %s", e.Collection, e.Name, e.Key) }

// Comparison is everything that the database has, beside everything that is declared.
type Comparison struct {
	Declared []Finding `json:"declared"`
	Extra    []Extra   `json:"extra"`
}

// Pending are the findings that Build would act on.
func (c Comparison) Pending() []Finding {
	return c.filtered(func(f Finding) bool { return f.Action != "" })
}

// ForPerson are the findings that Build leaves to a person.
func (c Comparison) ForPerson() []Finding { return c.filtered(Finding.ForPerson) }

func (c Comparison) filtered(keep func(Finding) bool) []Finding {
	out := []Finding{}
	for _, f := range c.Declared {
		if keep(f) {
			out = append(out, f)
		}
	}
	return out
}

// Compare compares the declared indexes with all those of the database, and tells how large each collection is. It
// changes nothing.
func Compare(ctx context.Context, db *mongo.Database, declared []Index) (Comparison, error) {
	ctx, cancel := context.WithTimeout(ctx, compareTimeout)
	defer cancel()
	collections, err := collectionsOf(ctx, db, declared)
	if err != nil {
		return Comparison{}, err
	}
	recorded, err := ledger{db: db}.load(ctx)
	if err != nil {
		return Comparison{}, err
	}
	c := Comparison{Declared: make([]Finding, len(declared)), Extra: []Extra{}}
	for _, name := range collections {
		have, err := listIndexes(ctx, db, name)
		if err != nil {
			return Comparison{}, fmt.Errorf("list the indexes of %s: %w", name, err)
		}
		slices.SortFunc(have, func(a, b found) int { return strings.Compare(a.Name, b.Name) }) // servers list them in any order
		size := sizeOf(ctx, db, name)
		taken := map[string]bool{} // those that stand for a declared one
		for i, want := range declared {
			if want.Collection != name {
				continue
			}
			f := judge(want, have, recorded)
			f.Size = size
			c.Declared[i] = f
			taken[f.Name] = taken[f.Name] || f.stands()
		}
		for _, f := range have {
			if !taken[f.Name] && !f.isID() {
				c.Extra = append(c.Extra, extra(name, f, recorded.of(name, f), size))
			}
		}
	}
	return c, ctx.Err()
}

// collectionsOf are the collections of the database and of the declaration, sorted.
func collectionsOf(ctx context.Context, db *mongo.Database, declared []Index) ([]string, error) {
	names, err := db.ListCollectionNames(ctx, bson.D{{Key: "type", Value: "collection"}})
	if err != nil {
		return nil, fmt.Errorf("list the collections: %w", err)
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return strings.HasPrefix(name, "system.") || name == hidingProbe || name == mongodb.ProbeIndexes
	})
	for _, i := range declared {
		names = append(names, i.Collection)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// judge finds what a collection has of a declared index, and what is to be done about it.
func judge(want Index, have []found, recorded records) Finding {
	s := standBy(want, have, found.serves)
	f := Finding{
		Index: want, Collection: want.Collection, Key: keyText(want.Keys), Reason: want.Reason,
		Status: s.Status, Name: s.Name, DeclaredName: want.Name(),
	}
	var there found
	if s.Status != Missing {
		there = have[slices.IndexFunc(have, func(x found) bool { return x.Name == s.Name })]
		f.record = recorded.of(want.Collection, there)
		f.Ours = f.record != nil
		f.Differences = there.differences(want)
		f.HiddenBy = hider(there, f.record)
	}
	switch f.Status {
	case Missing:
		f.Action = ActionBuild
		if f.Name != f.DeclaredName {
			f.Differences = []Difference{DifferentName}
		}
	case Building:
		f.Action = ActionWait
	case Hidden:
		if f.HiddenBy == HiddenByRetire {
			f.Action = ActionUnhide
		}
	case Ready:
		f.expiry(want)
	case Conflict, Built:
	}
	return f
}

// expiry sets what is to be done about an index that expires rows at another time than declared. To end the expiry,
// the index has to be built anew.
func (f *Finding) expiry(want Index) {
	switch {
	case len(f.Differences) == 0:
	case want.ExpireAfter == 0:
		f.Status = Conflict
	default:
		f.Action = ActionExpire
	}
}

func extra(collection string, f found, r *record, size Size) Extra {
	e := Extra{
		Collection: collection, Name: f.Name, Key: keyText(f.Keys), Building: f.building, Hidden: f.Hidden,
		HiddenBy: hider(f, r), Ours: r != nil, Size: size,
	}
	if r != nil {
		e.BuiltAt = r.BuiltAt
	}
	if e.HiddenBy == HiddenByRetire {
		e.HiddenAt = r.HiddenAt
	}
	return e
}

// hider is who hid an index: nobody where it is visible.
func hider(f found, r *record) Hider {
	switch {
	case !f.Hidden:
		return ""
	case r != nil && r.HiddenAt != nil:
		return HiddenByRetire
	default:
		return HiddenByPerson
	}
}
