package tasks

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/changes"
	"catalogue/internal/instant"
	"catalogue/internal/problem"
	"catalogue/internal/rules"
)

func TestAStatusMovesAlongItsStepsOnly(t *testing.T) {
	t.Parallel()
	allowed := map[string][]string{
		"open":        {"in_progress", "blocked", "cancelled"},
		"in_progress": {"blocked", "done", "open", "cancelled"},
		"blocked":     {"open", "in_progress", "cancelled"},
		"done":        {"open"},
		"cancelled":   {"open"},
	}
	statuses := rules.OneOf[Task]("status")
	require.Len(t, statuses, len(allowed))
	for _, from := range statuses {
		for _, to := range statuses {
			effects, err := settle(&Task{Status: new(from)}, &Task{Status: new(to)}, "ann")
			switch {
			case from == to:
				require.NoError(t, err)
				require.Empty(t, effects, "the same status is no move")
			case slices.Contains(allowed[from], to):
				require.NoError(t, err)
				require.Equal(t, []changes.Event{{Action: "task.status_changed", From: new(from), To: new(to)}}, effects.Events)
			default:
				require.Error(t, err, "%s to %s", from, to)
				p := problem.Of(err)
				require.Equal(t, 409, p.Status())
				require.Equal(t, problem.StatusMoveNotAllowed, p.Code)
				require.Len(t, p.Errors, 1)
				require.Equal(t, "status", p.Errors[0].Field)
				require.Equal(t, allowed[from], p.Errors[0].Allowed)
			}
		}
	}
}

func TestAStatusOfOtherProgramsMayBePutRight(t *testing.T) {
	t.Parallel()
	for _, from := range []*string{nil, new("paused")} {
		effects, err := settle(&Task{Status: from}, &Task{Status: new("done")}, "ann")
		require.NoError(t, err)
		require.Equal(t, []changes.Event{{Action: "task.status_changed", From: from, To: new("done")}}, effects.Events)
	}
	effects, err := settle(&Task{}, &Task{}, "ann")
	require.NoError(t, err)
	require.Empty(t, effects)
}

func TestClosedAtFollowsTheStatus(t *testing.T) {
	t.Parallel()
	at := new(instant.MustParse("2026-01-01T00:00:00Z"))
	for _, to := range []string{"done", "cancelled"} {
		effects, err := settle(&Task{Status: new("in_progress")}, &Task{Status: new(to)}, "ann")
		require.NoError(t, err)
		require.Equal(t, []string{"closed_at"}, effects.Now)
	}
	reopened := &Task{Status: new("open"), ClosedAt: at}
	effects, err := settle(&Task{Status: new("done"), ClosedAt: at}, reopened, "ann")
	require.NoError(t, err)
	require.Empty(t, effects.Now)
	require.Nil(t, reopened.ClosedAt)

	same := &Task{Status: new("done"), ClosedAt: at, Title: new("b")}
	effects, err = settle(&Task{Status: new("done"), ClosedAt: at, Title: new("a")}, same, "ann")
	require.NoError(t, err)
	require.Empty(t, effects.Now, "no move, so the moment stays")
	require.Equal(t, at, same.ClosedAt)
}

func TestANewTaskBeginsItsHistory(t *testing.T) {
	t.Parallel()
	for status, now := range map[string][]string{"open": nil, "done": {"closed_at"}} {
		task := &Task{Status: new(status)}
		effects, err := settle(nil, task, "ann")
		require.NoError(t, err)
		require.Equal(t, changes.Effects{Now: now, Events: []changes.Event{{Action: "task.created", To: new(status)}}}, effects)
		require.Equal(t, new("ann"), task.CreatedBy)
	}
}

func TestOtherChangesAreOneEventWithTheirFields(t *testing.T) {
	t.Parallel()
	old := &Task{
		Status: new("open"), Title: new("a"), Description: new("d"), Priority: new(int64(1)), CreatedBy: new("bob"),
		DueAt: new(instant.MustParse("2026-01-01T00:00:00Z")),
	}
	next := &Task{
		Status: new("blocked"), Title: new("b"), Priority: new(int64(1)), CreatedBy: new("bob"),
		DueAt: new(instant.MustParse("2026-01-02T00:00:00Z")), Assignee: new("eve"), CreativeID: bson.ObjectID{1},
	}
	effects, err := settle(old, next, "ann")
	require.NoError(t, err)
	require.Equal(t, []changes.Event{
		{Action: "task.status_changed", From: new("open"), To: new("blocked")},
		{Action: "task.changed", Fields: []string{"assignee", "creative_id", "description", "due_at", "title"}},
	}, effects.Events)
	require.Equal(t, new("bob"), next.CreatedBy, "who made it stays")
}

// creativesOf knows some creatives.
type creativesOf []bson.ObjectID

func (c creativesOf) Exists(_ context.Context, id bson.ObjectID) (bool, error) {
	if id == (bson.ObjectID{9}) {
		return false, errors.New("away")
	}
	return slices.Contains(c, id), nil
}

func TestACreativeExistsWhereItIsSetOrChanged(t *testing.T) {
	t.Parallel()
	verify := Kind(creativesOf{{1}}).Verify
	there, gone := &Task{CreativeID: bson.ObjectID{1}}, &Task{CreativeID: bson.ObjectID{2}}
	for name, c := range map[string]struct {
		old, next *Task
		ok        bool
	}{
		"none":                      {nil, &Task{}, true},
		"one that exists":           {nil, there, true},
		"one that does not":         {nil, gone, false},
		"changed to one that does":  {gone, there, true},
		"changed to one that isn't": {there, gone, false},
		"kept though it is gone":    {gone, gone, true},
		"taken away":                {gone, &Task{}, true},
	} {
		err := verify(t.Context(), c.old, c.next)
		require.Equal(t, c.ok, err == nil, name)
		if err != nil {
			require.Equal(t, "creative_id", problem.Of(err).Errors[0].Field)
			require.Equal(t, 422, problem.Of(err).Status())
		}
	}
	require.EqualError(t, verify(t.Context(), nil, &Task{CreativeID: bson.ObjectID{9}}), "away")
}
