package migrations_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"catalogue/internal/mongodb"
	"catalogue/internal/mongotest"
	"catalogue/migrations"
)

func TestALockIsHeldByOne(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	_, locked, err := lock(db, "nobody").Holding(t.Context())
	require.NoError(t, err)
	require.False(t, locked)

	begin, err := mongodb.ServerTime(t.Context(), db)
	require.NoError(t, err)
	first, _, err := lock(db, "$first").Take(t.Context(), 0, nil)
	require.NoError(t, err)
	_, _, err = lock(db, "second").Take(t.Context(), 0, nil)
	refused, ok := errors.AsType[*migrations.LockedError](err)
	require.True(t, ok, err)
	require.Equal(t, migrations.Holder{Host: "$first", Version: "test", ID: "1"}, refused.Holding.Holder)
	require.WithinRange(t, refused.Holding.Since, begin, begin.Add(time.Minute))
	require.Contains(t, refused.Error(), "$first")

	told := 0
	_, _, err = lock(db, "third").Take(t.Context(), 50*time.Millisecond, func(migrations.Holding) { told++ })
	require.ErrorAs(t, err, &refused)
	require.Equal(t, 1, told)

	require.NoError(t, first.Release(t.Context()))
	second, _, err := lock(db, "second").Take(t.Context(), 0, nil)
	require.NoError(t, err)
	require.Greater(t, second.Token(), first.Token())
	require.ErrorIs(t, first.Check(t.Context()), migrations.ErrLost)
	require.ErrorIs(t, first.Release(t.Context()), migrations.ErrLost)
	require.NoError(t, second.Check(t.Context()))
	require.NoError(t, second.Release(t.Context()))
}

// Work that takes longer than the lease keeps the lock.
func TestALeaseIsRenewed(t *testing.T) {
	t.Parallel()
	const lease = 2 * time.Second
	db := mongotest.Database(t)
	l := migrations.NewLock(db, migrations.Holder{Host: "one"}, lease)
	held, ctx, err := l.Take(t.Context(), 0, nil)
	require.NoError(t, err)
	first, _, err := l.Holding(t.Context())
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		now, locked, err := l.Holding(t.Context())
		return err == nil && locked && now.Since.Equal(first.Since) && now.Until.After(first.Until.Add(lease))
	}, time.Minute, 20*time.Millisecond)
	require.NoError(t, ctx.Err())
	require.NoError(t, held.Release(t.Context()))
	require.Error(t, ctx.Err(), "the context of the work ends with the lock")
}

// A holder that cannot reach the database knows when its lease is over.
func TestWorkEndsWhenItsLeaseCannotBeRenewed(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	uri, proxy := mongotest.NewProxy(t)
	client, err := mongodb.Connect(t.Context(), mongodb.Options{URI: uri, Database: db.Name()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Disconnect(t.Context()) }) // its connections hang
	held, ctx, err := migrations.NewLock(client.Database(), migrations.Holder{Host: "cut off"}, 600*time.Millisecond).
		Take(t.Context(), 0, nil)
	require.NoError(t, err)
	proxy.Stall()
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute):
		require.Fail(t, "the work goes on without the lock")
	}
	require.ErrorIs(t, held.Check(ctx), migrations.ErrLost)

	other, _, err := lock(db, "other").Take(t.Context(), time.Minute, func(migrations.Holding) {})
	require.NoError(t, err)
	require.Error(t, held.Release(t.Context()))
	require.NoError(t, other.Check(t.Context()))
	require.NoError(t, other.Release(t.Context()))
}

// A host's clock may be wrong by any amount: nothing of the package asks for it. What is compared are $$NOW and
// hello.localTime, both the database's, and durations are timers, which count monotonic time.
func TestNoClockOfTheHostIsAsked(t *testing.T) {
	t.Parallel()
	packages, err := parser.ParseDir(token.NewFileSet(), ".", nil, 0) //nolint:staticcheck // files are all that is asked for
	require.NoError(t, err)
	looked := 0
	for path, file := range packages["migrations"].Files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		looked++
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" {
					require.NotContains(t, []string{"Now", "Since", "Until"}, s.Sel.Name, path)
				}
			}
			return true
		})
	}
	require.Greater(t, looked, 5)
}
