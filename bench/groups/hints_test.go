package groups

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"catalogue/bench/measure"
	"catalogue/bench/report"
	"catalogue/creatives"
)

func TestHints(t *testing.T) {
	t.Parallel()
	all := hintCases()
	h := hints{cases: []hintCase{all[0], all[7], all[13]}, limit: 10, window: 5, warmup: 1, fewest: 2, rounds: 4, budget: time.Minute}
	s, err := h.run(t.Context(), testEnv(t, 300))
	require.NoError(t, err)
	requireWhole(t, s)
	require.Equal(t, "hints", s.ID)
	rows := s.Tables[0].Rows
	require.Len(t, rows, 5, "no page in the depth of a source of no row")
	require.Equal(t, []string{"-created_at", "status is active"}, rows[0][:2])
	require.NotEqual(t, "–", rows[0][6], "a pair")
	require.Equal(t, byPair, rows[0][7])
	require.Equal(t, []string{"–", byPlanner, "–"}, rows[2][6:], "no pair")
	require.Equal(t, []string{"0.00 %", "values, start"}, rows[4][2:4])
	require.Equal(t, []string{byPlanner, "–"}, rows[4][7:])
	require.Len(t, s.Measurements, 2*3+2*2+2)
	require.Equal(t, 4, s.Measurements[0].Count)
	require.Contains(t, s.Text, "On the 2 pages where the rule names an index")
	require.Contains(t, s.Text, "On the other 3,")
	require.True(t, s.Goals[0].Met(), "a hint changes no page")
	require.Zero(t, s.Goals[0].Value.Value)
}

func TestEveryHintCaseIsAListWithDeclaredIndexes(t *testing.T) {
	t.Parallel()
	var declared []string
	for _, i := range creatives.Indexes() {
		declared = append(declared, i.Name())
	}
	seen := map[string]bool{}
	for _, c := range hintCases() {
		require.False(t, seen[c.sort+c.name], "%s by %s is there twice", c.name, c.sort)
		seen[c.sort+c.name] = true
		l, filter, err := c.list()
		require.NoError(t, err, c.name)
		require.NotEmpty(t, l.filter)
		require.Empty(t, l.hint)
		ways := c.ways(l)
		require.True(t, slices.ContainsFunc(ways, func(w hintWay) bool { return w.name == ruled(l, filter) }), "%s: the rule's index is measured", c.name)
		for _, w := range ways {
			if w.name != byPlanner {
				require.Contains(t, declared, w.hint, c.name)
			}
		}
	}
}

func TestWordsOfHintsComeFromTheFigures(t *testing.T) {
	t.Parallel()
	case1 := func(name, ruled string, planner, sort float64) hinted {
		way := func(name string, ms float64) measure.Samples {
			return measure.Samples{Subject: measure.Subject{Name: name}, Times: []float64{ms, ms, ms}}
		}
		return hinted{
			hintCase: hintCase{name: name, sort: "name"}, ruled: ruled, at: first(),
			ways:    []hintWay{{name: byPlanner}, {name: bySort}},
			samples: []measure.Samples{way(byPlanner, planner), way(bySort, sort)},
		}
	}
	found := []hinted{
		case1("a", bySort, 30, 3), case1("b", bySort, 4, 5), case1("c", bySort, 9, 3),
		case1("few", byPlanner, 2, 100), case1("many", byPlanner, 60, 3),
	}
	require.Contains(t, ruleWords(found), "On the 3 pages where the rule names an index, the page took 0.33 × the planner's time in the median, from 0.10 to 1.25 ×.")
	require.Contains(t, otherWords(found), "from 0.05 × the planner's time (many by name, values, start) to 50.00 × (few by name, values, start)")
	require.Empty(t, ruleWords(found[3:]))
	require.Empty(t, otherWords(found[:3]))
	section := hints{}.section(10, []hinted{{hintCase: found[0].hintCase, ruled: bySort, ways: found[0].ways, samples: found[0].samples, changed: 2}})
	require.False(t, section.Goals[0].Met())
	require.Equal(t, report.Interval{Value: 2, Low: 2, High: 2}, section.Goals[0].Value)
	require.NotEmpty(t, section.Goals[0].Reason)
}

func TestRoundsOfHintsEndWithTheirBudget(t *testing.T) {
	t.Parallel()
	steps := 0
	h := hints{warmup: 1, fewest: 3, rounds: 50}
	samples, err := h.time(t.Context(), func() { steps++ }, []measure.Subject{
		{Name: "a", Run: func(context.Context) error { return nil }}, {Name: "b", Run: func(context.Context) error { return nil }},
	})
	require.NoError(t, err)
	require.Equal(t, 4, steps)
	require.Len(t, samples, 2)
	require.Len(t, samples[1].Times, 3)
	require.Equal(t, "b", samples[1].Subject.Name)
}

func TestSizeOfHints(t *testing.T) {
	t.Parallel()
	require.Equal(t, 100, largestUpTo([]int{10, 100, 1000}, 100))
	require.Equal(t, 1000, largestUpTo([]int{1000, 2000}, 100))
}
