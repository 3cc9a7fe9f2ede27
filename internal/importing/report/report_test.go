package report_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"catalogue/internal/importing"
	"catalogue/internal/importing/report"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPlainLinesAreFew(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	now := time.Unix(0, 0)
	p := report.NewProgress(&out, false, func() time.Time { return now })
	for i := range int64(100) { // of 0.1 s each
		now = now.Add(100 * time.Millisecond)
		p.Show(importing.Progress{Phase: importing.PhaseCheck, Bytes: i + 1, Total: 100, Rows: 500 * (i + 1), Rejected: 1})
	}
	p.Done()
	require.Equal(t, `checking    20 %  10000 rows, 1 rejected
checking    40 %  20000 rows, 1 rejected
checking    60 %  30000 rows, 1 rejected
checking    80 %  40000 rows, 1 rejected
checking   100 %  50000 rows, 1 rejected
`, out.String())
}

func TestBarOnATerminal(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := report.NewProgress(&out, true, time.Now)
	for _, phase := range []importing.Phase{importing.PhaseCheck, importing.PhaseWrite} {
		p.Show(importing.Progress{Phase: phase, Bytes: 50, Total: 100})
		p.Show(importing.Progress{Phase: phase, Bytes: 100, Total: 100})
	}
	p.Show(importing.Progress{Phase: "empty"})
	p.Done()
	require.Contains(t, out.String(), "checking")
	require.Contains(t, out.String(), "importing")
	require.Contains(t, out.String(), "100%")
}

func TestIsTerminal(t *testing.T) {
	t.Parallel()
	require.False(t, report.IsTerminal(&strings.Builder{}))
	file, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	require.False(t, report.IsTerminal(file))
}

func TestSummary(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, report.Summary(&out, importing.Summary{
		Read: 20, Inserted: 4, Updated: 3, Unchanged: 5, Duplicates: 2, Superseded: 1, Rejected: 5,
		Warnings: map[importing.Warning]int64{importing.WarnNoCreationDate: 2, importing.WarnEndBeforeStart: 12},
		WarningLines: map[importing.Warning][]int64{
			importing.WarnNoCreationDate: {7, 12}, importing.WarnEndBeforeStart: {1, 2, 3, 4, 50},
		},
		Unseen:  []string{"nmae"},
		Rejects: "a.csv.rejects.jsonl", Elapsed: 2 * time.Second,
	}))
	require.Equal(t, `read        20
inserted    4
updated     3
unchanged   5
duplicates  2
superseded  1
rejected    5
warning     12  end before the start: lines 1, 2, 3, 4, 50 …
warning     2   no creation date: lines 7, 12
warning         mapped column in no row: "nmae"
rate        10  rows a second, 2.0 s
The rejected rows are in a.csv.rejects.jsonl.
`, out.String())

	out.Reset()
	require.NoError(t, report.Summary(&out, importing.Summary{Read: 1, Unchanged: 1}))
	require.Contains(t, out.String(), "Nothing has changed.\n")
}
