//go:build !race

package pagination

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// The most allocations that writing and reading a cursor may take: the measured values with a little room, for a new
// version of Go or of the driver.
const (
	maxEncodeAllocations = 18
	maxDecodeAllocations = 21
)

// Not parallel: allocations are counted for the whole process.
func TestAllocationsOfACursor(t *testing.T) {
	ring := testRing(t)
	cursor := NewCursor(Scope{List: "creatives"}, Desc(Sort{Field: "created_at", Kind: Date}), "", 0, RowPosition{
		Phase: Values, After: true, Value: rawValue(t, bson.DateTime(1760598968123)), ID: bson.NewObjectID(),
	})
	text, err := ring.Encode(cursor)
	require.NoError(t, err)
	encode := testing.AllocsPerRun(100, func() { _, err = ring.Encode(cursor) })
	require.NoError(t, err)
	decode := testing.AllocsPerRun(100, func() { _, err = ring.Decode(text) })
	require.NoError(t, err)
	t.Logf("%.0f allocations to encode, %.0f to decode", encode, decode)
	require.LessOrEqual(t, encode, float64(maxEncodeAllocations))
	require.LessOrEqual(t, decode, float64(maxDecodeAllocations))
}
