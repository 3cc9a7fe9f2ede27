package tasks

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"catalogue/internal/changes"
	"catalogue/internal/problem"
)

// The actions of a task's history.
const (
	actionCreated       = "task.created"
	actionStatusChanged = "task.status_changed"
	actionChanged       = "task.changed"
)

// moves are the statuses that a task may get from each.
func moves(from string) ([]string, bool) {
	to, known := map[string][]string{
		StatusOpen:       {StatusInProgress, StatusBlocked, StatusCancelled},
		StatusInProgress: {StatusBlocked, StatusDone, StatusOpen, StatusCancelled},
		StatusBlocked:    {StatusOpen, StatusInProgress, StatusCancelled},
		StatusDone:       {StatusOpen},
		StatusCancelled:  {StatusOpen},
	}[from]
	return to, known
}

func closed(status string) bool { return status == StatusDone || status == StatusCancelled }

// settle refuses moves of the status that are not allowed, sets and clears closed_at with them, and tells the history.
func settle(old, next *Task, by string) (changes.Effects, error) {
	var effects changes.Effects
	if old == nil {
		next.CreatedBy = &by
		effects.Events = []changes.Event{{Action: actionCreated, To: next.Status}}
		if next.Status != nil && closed(*next.Status) {
			effects.Now = []string{"closed_at"}
		}
		return effects, nil
	}
	if moved(old.Status, next.Status) {
		if err := checkMove(old.Status, *next.Status); err != nil {
			return changes.Effects{}, err
		}
		effects.Events = append(effects.Events,
			changes.Event{Action: actionStatusChanged, From: old.Status, To: next.Status})
		if closed(*next.Status) {
			effects.Now = []string{"closed_at"}
		} else {
			next.ClosedAt, effects.Clear = nil, []string{"closed_at"}
		}
	}
	if fields := changedFields(old, next); len(fields) > 0 {
		effects.Events = append(effects.Events, changes.Event{Action: actionChanged, Fields: fields})
	}
	return effects, nil
}

// moved reports whether the status is another one. A status is never removed, so next has one where it moved.
func moved(old, next *string) bool {
	return next != nil && (old == nil || *old != *next)
}

// checkMove refuses what is no step. From what is no status, as other programs may have stored it, each step is one.
func checkMove(from *string, to string) error {
	if from == nil {
		return nil
	}
	allowed, known := moves(*from)
	if !known || slices.Contains(allowed, to) {
		return nil
	}
	message := fmt.Sprintf("status cannot go from %s to %s, only to %s", *from, to, strings.Join(allowed, ", "))
	return problem.Invalid([]problem.FieldError{{
		Field: "status", Code: problem.StatusMoveNotAllowed, Message: message, Allowed: allowed,
	}})
}

// changedFields are the names of the fields that differ, in their order, but for the status and what follows from it.
func changedFields(old, next *Task) []string {
	var out []string
	a, b := reflect.ValueOf(*old), reflect.ValueOf(*next)
	for i := range a.NumField() {
		name, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("json"), ",")
		if name == "status" || name == "closed_at" || reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			continue
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
