package importing

import (
	"testing"

	"github.com/stretchr/testify/require"

	"catalogue/internal/importing/cell"
)

// A list does not take what follows it for its own items.
func TestDigestsTellAListFromWhatFollowsIt(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b"}
	list := func(items ...string) cell.Cell { return cell.Cell{Kind: cell.List, Items: items} }
	require.NotEqual(t,
		rowDigest(names, []cell.Cell{list("x"), textCell("t")}),
		rowDigest(names, []cell.Cell{list("x", "b", "1", "t"), {}}))
	require.NotEqual(t,
		contentDigest([]assignment{{target: "a", value: []string{"x"}}, {target: "b", value: "3"}}),
		contentDigest([]assignment{{target: "a", value: []string{"x", "1", "b"}}}))
}

// The ids of rows without a key are stored: another digest would make each of them another object.
func TestDigestOfARowStaysTheSame(t *testing.T) {
	t.Parallel()
	require.Equal(t, "f4da50abd614654a1101ca38b913b6d65cf85ce7f3567396aed8c2f0da9fb2cc", rowDigest([]string{"b", "a"}, []cell.Cell{textCell("1"), numberCell("2.0")}))
}
