package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/mongotest"
)

func TestTheSamePostTwentyTimesAtOnceMakesOneObject(t *testing.T) {
	t.Parallel()
	a := patient(t)
	task := a.create(t, "/tasks", aTask)
	for path, body := range map[string]string{
		"/creatives": aCreative, "/tasks": `{"title": "u", "priority": 2}`, task + "/comments": `{"body": "b"}`,
		"/creatives/bulk": `{"items": [` + createItem + `,` + createItem + `]}`,
	} {
		before := a.everything(t)
		answers := together(20, func(int) response {
			return a.write(t, http.MethodPost, path, body, headers{"Idempotency-Key": "k"})
		})
		first := 0
		for _, res := range answers {
			require.Contains(t, []int{200, 201}, res.status, "%s", res.body)
			require.Equal(t, string(answers[0].body), string(res.body), "all get the winner's answer")
			require.Equal(t, answers[0].header.Get("Location"), res.header.Get("Location"))
			require.Equal(t, answers[0].header.Get("ETag"), res.header.Get("ETag"))
			if res.header.Get("Idempotent-Replayed") == "" {
				first++
			}
		}
		require.Equal(t, 1, first)
		made := 1
		if strings.HasSuffix(path, "bulk") {
			made = 2
		}
		require.Equal(t, before+made, a.everything(t), path)
	}
}

// everything counts the objects of all kinds.
func (a *api) everything(t *testing.T) int {
	t.Helper()
	return a.count(t, "creatives", bson.D{}) + a.count(t, "tasks", bson.D{}) + a.count(t, "comments", bson.D{})
}

func TestAKeyIsScopedToCallerAndRoute(t *testing.T) {
	t.Parallel()
	a := editable(t)
	first, second := a.create(t, "/tasks", aTask), a.create(t, "/tasks", aTask)
	key := headers{"Idempotency-Key": "k"}
	body := `{"body": "b"}`
	one := a.write(t, http.MethodPost, first+"/comments", body, key)
	one.thing(t, 201)
	for _, other := range []response{
		a.write(t, http.MethodPost, second+"/comments", body, key),
		a.write(t, http.MethodPost, first+"/comments", body, key, headers{"X-Catalogue-User": "bob"}),
		a.write(t, http.MethodPost, first+"/comments", body, headers{"Idempotency-Key": "K"}),
		a.write(t, http.MethodPost, first+"/comments", body),
		a.write(t, http.MethodPost, "/tasks", aTask, key),
		a.write(t, http.MethodPost, "/creatives", aCreative, key),
	} {
		other.thing(t, 201)
		require.Empty(t, other.header.Get("Idempotent-Replayed"))
		require.NotEqual(t, one.header.Get("Location"), other.header.Get("Location"))
	}
	upper := "/tasks/" + strings.ToUpper(first[len("/tasks/"):]) + "/comments"
	require.Equal(t, "true", a.write(t, http.MethodPost, upper, body, key).header.Get("Idempotent-Replayed"), "one task, one name")
}

func TestBodiesAreComparedByTheirMeaning(t *testing.T) {
	t.Parallel()
	a := editable(t)
	send := func(body string) response {
		return a.write(t, http.MethodPost, "/tasks", body, headers{"Idempotency-Key": "k"})
	}
	first := send(`{"title": "\u00e9", "priority": 1, "description": null}`)
	first.thing(t, 201)
	for _, same := range []string{
		`{"title": "\u00e9", "priority": 1, "description": null}`, ` { "description" : null, "priority": 1.0, "title": "é"}`, `{"priority":10e-1,"description":null,"title":"\u00E9"}`,
	} {
		again := send(same)
		require.Equal(t, 201, again.status)
		require.Equal(t, string(first.body), string(again.body))
		require.Equal(t, first.header.Get("Location"), again.header.Get("Location"))
		require.Equal(t, `"1"`, again.header.Get("ETag"))
		require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	}
	for _, another := range []string{`{"title": "e", "priority": 1, "description": null}`, `{"title": "é", "priority": 2, "description": null}`} {
		send(another).refused(t, 422, "idempotency_key_reused")
	}
	a.patch(t, first.header.Get("Location"), `{"title": "z"}`).thing(t, 200)
	require.Equal(t, string(first.body), string(send(`{"title": "é", "priority": 1, "description": null}`).body), "the answer of then")
}

func TestRefusalsFreeTheKey(t *testing.T) {
	t.Parallel()
	a := editable(t)
	key := headers{"Idempotency-Key": "k"}
	source := `, "source": {"system": "s", "id": "1"}}`
	taken := a.create(t, "/creatives", aCreative[:len(aCreative)-1]+source)
	body := strings.Replace(aCreative, `"n"`, `"m"`, 1)
	a.write(t, http.MethodPost, "/creatives", "{}", key).refused(t, 422, "field_invalid")
	a.write(t, http.MethodPost, "/creatives", body[:len(body)-1]+source, key).refused(t, 409, "source_taken")
	require.Zero(t, a.count(t, "idempotency_keys", bson.D{}))
	require.Equal(t, 204, a.write(t, http.MethodDelete, taken, "").status)
	made := a.write(t, http.MethodPost, "/creatives", body[:len(body)-1]+source, key)
	made.thing(t, 201)
	require.Empty(t, made.header.Get("Idempotent-Replayed"))

	creative := bson.NewObjectID()
	of := `{"title": "t", "priority": 1, "creative_id": "` + creative.Hex() + `"}`
	a.write(t, http.MethodPost, "/tasks", of, key).refused(t, 422, "field_invalid")
	plant(t, a.db, "creatives", bson.D{{Key: "_id", Value: creative}})
	a.write(t, http.MethodPost, "/tasks", of, key).thing(t, 201)
	a.write(t, http.MethodPost, "/tasks", of, key).thing(t, 201)
	require.Equal(t, 1, a.count(t, "tasks", bson.D{}))
}

func TestAnAnswerOfManyIsKeptAlsoWhereSomeWereRefused(t *testing.T) {
	t.Parallel()
	a := editable(t)
	there := strings.TrimPrefix(a.create(t, "/creatives", aCreative), "/creatives/")
	body := `{"items": [{"op": "patch", "id": "` + there + `", "data": {}}, {"op": "delete", "id": "` + bson.NewObjectID().Hex() + `"},
		{"op": "delete", "id": "` + there + `"}]}`
	send := func() response {
		return a.write(t, http.MethodPost, "/creatives/bulk", body, headers{"Idempotency-Key": "k"})
	}
	first := send()
	results := first.items(t, 207)
	require.Equal(t, []int{200, 404, 204}, []int{results[0].Status, results[1].Status, results[2].Status})
	again := send()
	require.Equal(t, 207, again.status)
	require.Equal(t, string(first.body), string(again.body))
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	require.Equal(t, 1, a.count(t, "tombstones", bson.D{}))
}

// A process that died in the middle of many has left the results of what it did; the key goes on behind them.
func TestAKeyThatADeadProcessHeldGoesOn(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions)
	db := mongotest.Database(t)
	a := serveDatabase(t, db)
	body := `{"items": [` + createItem + `, {"op": "delete", "id": "` + bson.NewObjectID().Hex() + `"}, ` + createItem + `]}`
	send := func() response {
		return a.write(t, http.MethodPost, "/creatives/bulk", body, headers{"Idempotency-Key": "k"})
	}
	first := send().items(t, 207)
	second, err := bson.ObjectIDFromHex(first[2].ID)
	require.NoError(t, err)
	// As the database was before the last item: its object is not there, nor its result.
	_, err = db.Collection("creatives").DeleteOne(t.Context(), bson.D{{Key: "_id", Value: second}})
	require.NoError(t, err)
	results := bson.A{}
	for _, r := range []string{`{"status":201,"id":"` + first[0].ID + `","rev":1}`, `{"status":404,"error":{"code":"not_found","detail":"d"}}`} {
		results = append(results, bson.Binary{Data: []byte(r)})
	}
	_, err = db.Collection("idempotency_keys").UpdateOne(t.Context(), bson.D{}, bson.A{
		bson.D{{Key: "$unset", Value: "answer"}},
		bson.D{{Key: "$set", Value: bson.D{
			{Key: "state", Value: "pending"},
			{Key: "token", Value: bson.NewObjectID()},
			{Key: "leased_until", Value: "$$NOW"},
			{Key: "results", Value: results},
			{Key: "next", Value: int64(2)},
		}}},
	})
	require.NoError(t, err)
	again := send().items(t, 207)
	require.Equal(t, first[0], again[0])
	require.Equal(t, 404, again[1].Status)
	require.Equal(t, 201, again[2].Status)
	require.NotEqual(t, first[2].ID, again[2].ID)
	require.Equal(t, 2, a.count(t, "creatives", bson.D{}))
}
