package main

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/mongotest"
)

// entries are a task's history as it is listed, oldest first: from, to and by.
func (a *api) entries(t require.TestingT, task string) []string {
	var out []string
	for _, raw := range a.page(t, task+"/history?sort=at").Data {
		var e struct{ From, To, By, Action string }
		require.NoError(t, json.Unmarshal(raw, &e))
		require.Equal(t, "task.status_changed", e.Action)
		out = append(out, e.From+" "+e.To+" "+e.By)
	}
	return out
}

func TestAMoveOfTheStatusHasItsEntryAndItsMoment(t *testing.T) {
	t.Parallel()
	a := editable(t)
	task := a.create(t, "/tasks", aTask)
	bob := headers{"X-Catalogue-User": "bob"}

	p := a.patch(t, task, `{"status": "done"}`).refused(t, 409, "status_move_not_allowed")
	require.Equal(t, []string{"in_progress", "blocked", "cancelled"}, p.Errors[0].Allowed)
	require.Equal(t, "status", p.Errors[0].Field)

	require.NotContains(t, a.patch(t, task, `{"status": "in_progress"}`).thing(t, 200), "closed_at")
	done := a.patch(t, task, `{"status": "done", "title": "u"}`, bob).thing(t, 200)
	require.Equal(t, done["updated_at"], done["closed_at"])
	same := a.patch(t, task, `{"status": "done", "title": "v"}`, bob).thing(t, 200)
	require.Equal(t, done["closed_at"], same["closed_at"], "no move")
	p = a.patch(t, task, `{"status": "cancelled"}`).refused(t, 409, "status_move_not_allowed")
	require.Equal(t, []string{"open"}, p.Errors[0].Allowed)
	require.NotContains(t, a.patch(t, task, `{"status": "open"}`).thing(t, 200), "closed_at")
	require.Contains(t, a.patch(t, task, `{"status": "cancelled"}`).thing(t, 200), "closed_at")

	require.Equal(t, []string{
		"open in_progress ann", "in_progress done bob", "done open ann", "open cancelled ann",
	}, a.entries(t, task))
	require.Equal(t, 1, a.count(t, "history", bson.D{{Key: "action", Value: "task.created"}, {Key: "to", Value: "open"}}))
	require.Equal(t, 2, a.count(t, "history", bson.D{
		{Key: "action", Value: "task.changed"}, {Key: "fields", Value: bson.A{"title"}}, {Key: "by", Value: "bob"},
	}))
	for _, doc := range mongotest.Everything(t, a.db.Collection("history"), bson.D{{Key: "to", Value: "cancelled"}}) {
		require.Equal(t, a.stored(t, "tasks", task)["dateModified"], bson.DateTime(doc.Lookup("at").DateTime()),
			"an entry is of the moment of its write")
	}
}

func TestATaskMayBeClosedFromItsBeginning(t *testing.T) {
	t.Parallel()
	a := editable(t)
	made := a.write(t, http.MethodPost, "/tasks", `{"title": "t", "priority": 1, "status": "done"}`).thing(t, 201)
	require.Equal(t, made["created_at"], made["closed_at"])
	require.Empty(t, a.entries(t, "/tasks/"+made.text("id")))
}

func TestWhatIsRefusedLeavesNoTrace(t *testing.T) {
	t.Parallel()
	a := editable(t)
	task := a.create(t, "/tasks", aTask)
	before := a.stored(t, "tasks", task)
	a.patch(t, task, `{"status": "done", "title": "u"}`).refused(t, 409, "status_move_not_allowed")
	a.patch(t, task, `{"status": "blocked", "title": ""}`).refused(t, 422, "field_invalid")
	a.patch(t, task, `{"status": "blocked", "creative_id": "`+bson.NewObjectID().Hex()+`"}`).refused(t, 422, "field_invalid")
	require.Equal(t, before, a.stored(t, "tasks", task))
	require.Equal(t, 1, a.count(t, "history", bson.D{}))
	for _, body := range []string{
		`{"title": "t", "priority": 1, "creative_id": "` + bson.NewObjectID().Hex() + `"}`, `{"title": "t", "priority": 9}`,
	} {
		require.Equal(t, 422, a.write(t, http.MethodPost, "/tasks", body).status)
	}
	require.Equal(t, 1, a.count(t, "tasks", bson.D{}))
	require.Equal(t, 1, a.count(t, "history", bson.D{}))
}
