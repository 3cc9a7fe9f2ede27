package tasks

import (
	"testing"

	"github.com/stretchr/testify/require"

	"catalogue/internal/importing"
	"catalogue/internal/instant"
)

func TestImportWarnings(t *testing.T) {
	t.Parallel()
	first, second := new(instant.MustParse("2026-01-01T00:00:00Z")), new(instant.MustParse("2026-01-02T00:00:00Z"))
	require.Empty(t, importWarnings(&Task{CreatedAt: first}))
	require.Empty(t, importWarnings(&Task{CreatedAt: first, ClosedAt: second}))
	require.Equal(t, []importing.Warning{importing.WarnNoCreationDate}, importWarnings(&Task{ClosedAt: second}))
	require.Equal(t, []importing.Warning{importing.WarnClosedBeforeCreated},
		importWarnings(&Task{CreatedAt: second, ClosedAt: first}))
}
