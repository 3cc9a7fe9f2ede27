//go:build !race

package querybuilder

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The most allocations from a document of so many rules to the database's filter: the measured values with a little room,
// for a new version of Go.
const (
	maxAllocations1   = 35
	maxAllocations10  = 300
	maxAllocations100 = 2500
)

// Not parallel: allocations are counted for the whole process.
func TestAllocationsOfAFilter(t *testing.T) {
	schema := everyKind()
	for rules, most := range map[int]int{1: maxAllocations1, 10: maxAllocations10, 100: maxAllocations100} {
		document := benchDocument(rules)
		var err error
		allocations := testing.AllocsPerRun(20, func() {
			var filter Filter
			filter, err = schema.Parse(document, time.UTC)
			_ = filter.Compile(now)
		})
		require.NoError(t, err)
		t.Logf("%d rules: %.0f allocations", rules, allocations)
		require.LessOrEqual(t, allocations, float64(most), "%d rules", rules)
	}
}
