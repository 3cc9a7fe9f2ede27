package seeding

import (
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/comments"
	"catalogue/creatives"
	"catalogue/history"
	"catalogue/tasks"
)

// longThreads is how many comments and moves every hundredth task gets: more than a page.
const longThreads = 120

var (
	titles = [...]string{"Resize for stories", "Перевірити переклад", "Légende à revoir", "Le\u0301gende a\u0300 revoir", "校正する", "Fix the safe area 📱", "Export", ""}
	users  = [...]string{"anna", "björn", "chen", "daria", "éloïse"}
	types  = [...]string{"design", "copy", "review", "export"}
	moves  = [...]string{tasks.StatusOpen, tasks.StatusInProgress, tasks.StatusBlocked, tasks.StatusInProgress, tasks.StatusDone}
	bodies = [...]string{"Looks good to me.", "Чи можна зробити світліше?", "Trop sombre — à refaire.", "👍", "The logo is cut on small screens.\nSee the second frame."}
)

func (m *maker) task(o Options) bson.D {
	created := m.moment()
	m.ownMode = m.mode()
	status := moves[m.IntN(len(moves))]
	title := titles[m.IntN(len(titles))]
	if title == "" || m.IntN(2) == 0 {
		title += fmt.Sprintf("Task #%d", m.number)
	}
	doc := bson.D{
		{Key: "_id", Value: m.id},
		{Key: "title", Value: title},
		{Key: "status", Value: status},
		{Key: "priority", Value: int64(m.IntN(5))},
		{Key: "type", Value: types[m.IntN(len(types))]},
		{Key: "mode", Value: m.ownMode},
	}
	doc = m.maybe(doc, 98, "created_at", created)
	doc = m.maybe(doc, 95, "updated_at", created.Add(time.Duration(m.IntN(1000))*time.Hour))
	doc = m.maybe(doc, 40, "due_at", created.Add(time.Duration(m.IntN(30))*24*time.Hour).Truncate(24*time.Hour))
	doc = m.maybe(doc, 70, "assignee", users[m.IntN(len(users))])
	doc = m.maybe(doc, 90, "created_by", users[m.IntN(len(users))])
	if status == tasks.StatusDone {
		doc = append(doc, bson.E{Key: "closed_at", Value: created.Add(time.Duration(m.IntN(500)) * time.Hour)})
	}
	if o.Creatives > 0 && m.IntN(4) > 0 {
		doc = append(doc, bson.E{
			Key: "creative_id", Value: objectID(creatives.Collection, o.Seed, m.IntN(o.Creatives)),
		})
	}
	return doc
}

// thread is how many comments or moves the task has.
func (m *maker) thread(most int) int {
	if m.number%100 == 0 {
		return longThreads
	}
	return m.IntN(most + 1)
}

func (m *maker) comments() []bson.D {
	at := m.moment()
	var out []bson.D
	for i := range m.thread(5) {
		if m.IntN(3) > 0 { // the others are of one moment with the comment before
			at = at.Add(time.Duration(m.IntN(100_000)) * time.Millisecond)
		}
		out = append(out, bson.D{
			{Key: "_id", Value: m.below(comments.Collection, i)},
			{Key: "entity_type", Value: tasks.Entity},
			{Key: "entity_id", Value: m.id},
			{Key: "author", Value: users[m.IntN(len(users))]},
			{Key: "body", Value: bodies[m.IntN(len(bodies))]},
			{Key: "mode", Value: m.ownMode},
			{Key: "created_at", Value: at},
		})
	}
	return out
}

func (m *maker) history() []bson.D {
	at, from := m.moment(), ""
	var out []bson.D
	for i := range 1 + m.thread(4) {
		at = at.Add(time.Duration(m.IntN(100)) * time.Hour)
		to := moves[i%len(moves)]
		entry := bson.D{
			{Key: "_id", Value: m.below(history.Collection, i)},
			{Key: "entity_type", Value: tasks.Entity},
			{Key: "entity_id", Value: m.id},
			{Key: "action", Value: history.ActionStatusChanged},
		}
		if from != "" {
			entry = append(entry, bson.E{Key: "from", Value: from})
		}
		out = append(out, append(entry,
			bson.E{Key: "to", Value: to}, bson.E{Key: "at", Value: at}, bson.E{Key: "by", Value: users[m.IntN(len(users))]}))
		from = to
	}
	return out
}

// below is the id of the n-th thing below the task: the task's number is in the part that a real id takes from
// its machine, so that the ids of two tasks never meet.
func (m *maker) below(collection string, n int) bson.ObjectID {
	id := objectID(collection, m.seed, n)
	id[4], id[5], id[6] = byte(m.number>>16), byte(m.number>>8), byte(m.number)
	return id
}
