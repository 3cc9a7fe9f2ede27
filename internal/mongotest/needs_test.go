package mongotest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"catalogue/internal/mongotest"
)

// A try that is broken would skip tests everywhere: where nothing may be skipped, nothing may be missing.
func TestNothingIsMissingWhereNothingMayBeSkipped(t *testing.T) {
	t.Parallel()
	for _, need := range mongotest.EveryNeed() {
		t.Logf("%s: %t", need, mongotest.Has(t, need))
	}
}

// recorder is a test that does not end.
type recorder struct {
	testing.TB
	skipped, failed string
}

func (r *recorder) Skip(args ...any)                  { r.skipped = fmt.Sprint(args...) }
func (r *recorder) Fatalf(format string, args ...any) { r.failed = fmt.Sprintf(format, args...) }

func TestWhatIsMissingSkipsOrFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name            string
		missing         []string
		skip            bool
		skipped, failed string
	}{
		{name: "nothing"},
		{name: "nothing, and skipping is allowed", skip: true},
		{
			name: "skipped", missing: []string{"transactions"}, skip: true,
			skipped: "^needs transactions, which this server does not have$",
		},
		{
			name: "failed", missing: []string{"transactions", "collation"},
			failed: "^needs transactions and collation, which this server does not have. To run it, use `make test` without ENGINE.*MongoDB 8",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := &recorder{TB: t}
			mongotest.Decide(r, c.missing, c.skip)
			require.Equal(t, c.skipped == "", r.skipped == "")
			require.Equal(t, c.failed == "", r.failed == "")
			require.Regexp(t, c.skipped, r.skipped)
			require.Regexp(t, c.failed, r.failed)
		})
	}
}

func TestANeedThatNobodyKnowsFails(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	require.Panics(t, func() { mongotest.Has(r, "luck") }, "a real Fatalf does not return")
	require.Contains(t, r.failed, "luck")
}
