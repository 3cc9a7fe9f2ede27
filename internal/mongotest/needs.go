package mongotest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/mongodb"
)

// SkipVariable names the environment variable under which Needs skips what the server cannot do or does wrong.
const SkipVariable = "CATALOGUE_TEST_SKIP_MISSING"

// needTimeout bounds the try of one need.
const needTimeout = 30 * time.Second

// Need is something that a test needs of the server: a capability, or a thing that the server serves right.
type Need string

// What tests may need. Each is found out by trying it, once a process.
const (
	Transactions      Need = "transactions"
	HiddenIndexes     Need = "hidden indexes"
	NowInFind         Need = "$$NOW in a find"
	ExplainStatistics Need = "statistics in explain"
	// SchemaTitles: a validator that is a $jsonSchema may have a title, by which migrations know their own.
	SchemaTitles Need = "titles of validators"
	// ExplainPlans: explain names the stages of the plan that won, and their indexes.
	ExplainPlans Need = "plans in explain"
	// ReplacesByItself: a document that an update replaces by itself is as before. Where it is not, it gets another _id
	// field each time.
	ReplacesByItself Need = "documents that are as before when they are replaced by themselves"
	// Collation: an index can have one.
	Collation Need = "collation"
	// IndexUse: $indexStats counts how often an index was used. Where it does not, it says never.
	IndexUse Need = "counts of how often an index is used"
	// DuplicatesNamed: where rows break a unique index, its build is refused as a duplicate key that names them. Where it
	// is not, the build fails all the same, but for a reason that only the server knows.
	DuplicatesNamed Need = "names of the rows that break a unique index"
	// BuildsAtOnce: several builds of the indexes of one collection go on at once. Where they do not, some are refused
	// for a deadlock.
	BuildsAtOnce Need = "several builds of indexes at once"
	// NullsAsMissing: an explicit null, a null parent and a missing field are one group in the order of an index. Where
	// they are not, rows of one come before all rows of the other, whatever their _id.
	NullsAsMissing Need = "explicit nulls in the place of missing fields"
	// NaN: a read of strays through an index finds it. Where it does not, a list loses the rows that hold it.
	NaN Need = "NaN among the strays"
	// EqualDecimals: $in finds a decimal by a double of the same value, and not only $eq.
	EqualDecimals Need = "decimals that equal doubles"
	// EmptyDocuments: a read of what is no string, through an index, finds an empty document, the first value behind all
	// strings. Where it does not, a list loses the rows that hold one.
	EmptyDocuments Need = "empty documents among the strays"
)

// tries are how each need is found out. They are given a database of their own.
//
//nolint:gochecknoglobals // a constant, but for the language; what is found is shared by the tests of a process
var tries = map[Need]func() (bool, error){
	Transactions:      capable(func(c mongodb.Capabilities) bool { return c.Transactions }),
	HiddenIndexes:     capable(func(c mongodb.Capabilities) bool { return c.HiddenIndexes }),
	NowInFind:         capable(func(c mongodb.Capabilities) bool { return c.NowInFind }),
	ExplainStatistics: capable(func(c mongodb.Capabilities) bool { return c.ExplainStatistics }),
	SchemaTitles:      once(hasSchemaTitles),
	ExplainPlans:      once(hasExplainPlans),
	ReplacesByItself:  once(hasReplacesByItself),
	Collation:         once(hasCollation),
	IndexUse:          once(hasIndexUse),
	DuplicatesNamed:   once(hasDuplicatesNamed),
	BuildsAtOnce:      once(hasBuildsAtOnce),
	NullsAsMissing:    once(hasNullsAsMissing),
	NaN:               once(hasNaN),
	EqualDecimals:     once(hasEqualDecimals),
	EmptyDocuments:    once(hasEmptyDocuments),
}

var capabilities = sync.OnceValues(func() (can mongodb.Capabilities, err error) {
	err = onDatabase(func(ctx context.Context, db *mongo.Database) error {
		can, err = mongodb.Probe(ctx, db)
		return err
	})
	return can, err
})

func capable(of func(mongodb.Capabilities) bool) func() (bool, error) {
	return func() (bool, error) {
		can, err := capabilities()
		return of(can), err
	}
}

func once(try func(context.Context, *mongo.Database) (bool, error)) func() (bool, error) {
	return sync.OnceValues(func() (can bool, err error) {
		err = onDatabase(func(ctx context.Context, db *mongo.Database) error {
			can, err = try(ctx, db)
			return err
		})
		return can, err
	})
}

// Has reports whether the server has what a part of a test needs, for tests that go on with less. What is left out then
// is listed as a skipped test below t, or fails where nothing may be skipped.
func Has(t testing.TB, need Need) bool {
	t.Helper()
	has := find(t, need)
	if parent, ok := t.(interface {
		Run(name string, f func(t *testing.T)) bool
	}); ok && !has {
		parent.Run("without "+string(need), func(t *testing.T) {
			t.Helper()
			decide(t, []string{string(need)}, maySkip())
		})
	}
	return has
}

// find fails the test where nobody can tell.
func find(t testing.TB, need Need) bool {
	t.Helper()
	try, ok := tries[need]
	if !ok {
		t.Fatalf("nothing tells whether the server has %s", need)
	}
	URI(t) // fails in its own words where there is no server
	has, err := try()
	if err != nil {
		t.Fatalf("find out whether the server has %s: %v", need, err)
	}
	return has
}

// Needs ends a test whose needs the server does not have: it is skipped where the environment allows that, and fails
// where it does not.
func Needs(t testing.TB, needs ...Need) {
	t.Helper()
	var missing []string
	for _, need := range needs {
		if !find(t, need) {
			missing = append(missing, string(need))
		}
	}
	decide(t, missing, maySkip())
}

func maySkip() bool { return os.Getenv(SkipVariable) == "1" }

func decide(t testing.TB, missing []string, skip bool) {
	t.Helper()
	reason := fmt.Sprintf("needs %s, which this server does not have", strings.Join(missing, " and "))
	switch {
	case len(missing) == 0:
	case skip:
		t.Skip(reason)
	default:
		t.Fatalf("%s. To run it, use `make test` without ENGINE, or name a replica set of MongoDB 8 in %s; to skip what "+
			"needs more than the server has, set %s=1", reason, Variable, SkipVariable)
	}
}
