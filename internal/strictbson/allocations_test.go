//go:build !race

package strictbson

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// mostAllocations of a document without misfits: its text, and the list of misfits that it does not have.
const mostAllocations = 2

func TestAllocationsOfJSON(t *testing.T) { //nolint:paralleltest // others would be counted
	d := New[row]()
	doc := marshal(t, bson.D{
		{Key: "_id", Value: id},
		{Key: "text", Value: "Été — soldes"},
		{Key: "integer", Value: int32(5)},
		{Key: "float", Value: 1.5},
		{Key: "flag", Value: true},
		{Key: "at", Value: bson.DateTime(1760598968123)},
		{Key: "texts", Value: bson.A{"a", "b"}},
		{Key: "inner", Value: bson.D{{Key: "width", Value: int64(7)}, {Key: "url", Value: "https://example.com"}}},
	})
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { d.JSON(doc) }), float64(mostAllocations))
}
