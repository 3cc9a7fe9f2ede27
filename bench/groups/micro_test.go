package groups

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// onceMeasured runs a step once and says that it took two milliseconds.
func onceMeasured(step func()) testing.BenchmarkResult {
	step()
	return testing.BenchmarkResult{N: 1, T: 2 * time.Millisecond, MemAllocs: 1234, MemBytes: 5678}
}

func TestMicro(t *testing.T) {
	t.Parallel()
	m := micro{limit: 20, rules: []int{1, 10}, run: onceMeasured}
	s, err := m.measure(t.Context(), testEnv(t, 300))
	require.NoError(t, err)
	require.Equal(t, "micro", s.ID)
	require.Len(t, s.Tables[0].Rows, 5)
	require.Equal(t, []string{"cursor, encode", "2000.0", "5,678", "1,234"}, s.Tables[0].Rows[0])
	require.Equal(t, "items of a page, 20 stored documents to JSON", s.Tables[0].Rows[4][0])
	require.Contains(t, s.Text, "together\n8.00 ms, of which the items take 2.00 ms.", "four of the five steps are a page's")
}

func TestAStepThatFailsIsAnError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	runs := 0
	_, err := micro{run: onceMeasured}.time(microStep{run: func() error {
		if runs++; runs > 1 {
			return broken
		}
		return nil
	}})
	require.ErrorIs(t, err, broken)
	_, err = micro{run: func(func()) testing.BenchmarkResult { return testing.BenchmarkResult{} }}.time(
		microStep{run: func() error { return nil }})
	require.Error(t, err, "a benchmark that never ran")
}
