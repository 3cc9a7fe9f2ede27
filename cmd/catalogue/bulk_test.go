package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/mongotest"
)

// itemResult is what became of one of many.
type itemResult struct {
	Status int    `json:"status"`
	ID     string `json:"id"`
	Rev    int64  `json:"rev"`
	Error  *struct {
		Code   string `json:"code"`
		Detail string `json:"detail"`
		Errors []struct {
			Field   string   `json:"field"`
			Code    string   `json:"code"`
			Allowed []string `json:"allowed"`
		} `json:"errors"`
	} `json:"error"`
}

// said is an item's result in short: its status, and the codes of what is wrong.
func (r itemResult) said() string {
	if r.Error == nil {
		return strconv.Itoa(r.Status)
	}
	out := []string{strconv.Itoa(r.Status), r.Error.Code}
	for _, e := range r.Error.Errors {
		out = append(out, e.Field+"="+e.Code)
	}
	return strings.Join(out, " ")
}

func (r response) items(t require.TestingT, status int) []itemResult {
	require.Equal(t, status, r.status, "%s", r.body)
	var out struct {
		Data []itemResult `json:"data"`
	}
	require.NoError(t, json.Unmarshal(r.body, &out))
	return out.Data
}

func (a *api) bulk(t require.TestingT, items ...string) response {
	return a.write(t, http.MethodPost, "/creatives/bulk", `{"items": [`+strings.Join(items, ",")+`]}`)
}

const createItem = `{"op": "create", "data": ` + aCreative + `}`

func TestBulkDoesEachOfItsOperationsInOrder(t *testing.T) {
	t.Parallel()
	a := editable(t)
	made := a.bulk(t, createItem, createItem).items(t, 200)
	first, second := made[0], made[1]
	require.Equal(t, 201, first.Status)
	require.Equal(t, int64(1), first.Rev)
	require.NotEqual(t, first.ID, second.ID)

	got := a.bulk(t,
		`{"op": "patch", "id": "`+first.ID+`", "rev": 1, "data": {"name": "a"}}`,
		`{"op": "patch", "id": "`+strings.ToUpper(first.ID)+`", "rev": 2.0, "data": {"name": "b"}}`,
		`{"op": "patch", "id": "`+first.ID+`", "data": {"name": "b"}}`,
		`{"op": "delete", "id": "`+second.ID+`", "rev": 1}`,
		createItem,
		`{"op": "patch", "id": "`+first.ID+`", "rev": null, "data": {}}`,
	)
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	results := got.items(t, 200)
	require.Len(t, results, 6)
	for i, want := range []itemResult{
		{Status: 200, ID: first.ID, Rev: 2},
		{Status: 200, ID: first.ID, Rev: 3},
		{Status: 200, ID: first.ID, Rev: 3},
		{Status: 204, ID: second.ID},
		{Status: 201, ID: results[4].ID, Rev: 1},
		{Status: 200, ID: first.ID, Rev: 3},
	} {
		require.Equal(t, want, results[i], i)
	}
	require.Equal(t, "b", a.get(t, "/creatives/"+first.ID).thing(t, 200)["name"])
	require.Equal(t, 404, a.get(t, "/creatives/"+second.ID).status)
	require.Equal(t, 1, a.count(t, "tombstones", bson.D{}))
}

func TestOneBadItemSpoilsNoneOfTheOthers(t *testing.T) {
	t.Parallel()
	a := editable(t)
	there := strings.TrimPrefix(a.create(t, "/creatives", aCreative[:len(aCreative)-1]+`, "source": {"system": "s", "id": "1"}}`), "/creatives/")
	nobody := bson.NewObjectID().Hex()
	item := func(rest string) string {
		return strings.ReplaceAll(strings.ReplaceAll(rest, "$there", there), "$nobody", nobody)
	}
	bad := []struct{ item, want string }{
		{`5`, "422 field_type =field_type"},
		{`null`, "422 field_type =field_type"},
		{`[]`, "422 field_type =field_type"},
		{`{}`, "422 field_invalid op=field_invalid"},
		{`{"op": "replace"}`, "422 field_invalid op=field_invalid"},
		{`{"op": 5}`, "422 field_type op=field_type"},
		{`{"Op": "create", "data": {}}`, "422 field_unknown Op=field_unknown op=field_invalid"},
		{`{"op": "create"}`, "422 field_invalid data=field_invalid"},
		{`{"op": "create", "data": null}`, "422 field_invalid data=field_invalid"},
		{`{"op": "create", "data": 5}`, "422 field_type data=field_type"},
		{`{"op": "create", "op": "create", "data": {}}`, "422 field_repeated op=field_repeated"},
		{`{"op": "create", "id": "$there", "rev": 1, "data": {}, "x": 1}`, "422 field_unknown x=field_unknown id=field_invalid rev=field_invalid"},
		{
			`{"op": "create", "data": {"name": "a", "status": "x", "zz": 1}}`,
			"422 field_unknown data.zz=field_unknown data.status=field_invalid data.format=field_invalid",
		},
		{
			`{"op": "create", "data": {"name": "a", "name": "b", "status": "\ud800", "format": "image"}}`,
			"422 field_repeated data.name=field_repeated data.status=field_text",
		},
		{
			`{"op": "create", "data": {"name": "a", "status": "active", "format": "text", "source": {"system": "s", "id": "1"}}}`,
			"409 source_taken data.source=source_taken",
		},
		{`{"op": "patch", "data": {}}`, "422 field_invalid id=field_invalid"},
		{`{"op": "patch", "id": "5", "data": {}}`, "422 field_type id=field_type"},
		{`{"op": "patch", "id": "$there"}`, "422 field_invalid data=field_invalid"},
		{`{"op": "patch", "id": "$there", "data": {"rev": 5}}`, "422 field_read_only data.rev=field_read_only"},
		{`{"op": "patch", "id": "$there", "data": {"name": null}}`, "422 field_invalid data.name=field_invalid"},
		{`{"op": "patch", "id": "$there", "data": {"metrics": {"spend": 1}}}`, "422 field_invalid data.metrics.currency=field_invalid"},
		{`{"op": "patch", "id": "$there", "rev": "1", "data": {}}`, "422 field_type rev=field_type"},
		{`{"op": "patch", "id": "$there", "rev": 0, "data": {}}`, "422 field_invalid rev=field_invalid"},
		{`{"op": "patch", "id": "$there", "rev": 2, "data": {}}`, "412 precondition_failed"},
		{`{"op": "patch", "id": "$nobody", "rev": 2, "data": {}}`, "404 not_found"},
		{`{"op": "delete"}`, "422 field_invalid id=field_invalid"},
		{`{"op": "delete", "id": "$there", "data": {}}`, "422 field_invalid data=field_invalid"},
		{`{"op": "delete", "id": "$there", "rev": 7}`, "412 precondition_failed"},
		{`{"op": "delete", "id": "$nobody"}`, "404 not_found"},
	}
	var items []string
	for _, b := range bad {
		items = append(items, item(b.item), createItem)
	}
	results := a.bulk(t, items...).items(t, 207)
	require.Len(t, results, len(items))
	for i, b := range bad {
		require.Equal(t, b.want, results[2*i].said(), b.item)
		require.NotEmpty(t, results[2*i].Error.Detail)
		require.Empty(t, results[2*i].ID)
		require.Equal(t, 201, results[2*i+1].Status, "the one behind %s", b.item)
	}
	require.Equal(t, len(bad)+1, a.count(t, "creatives", bson.D{}))
	require.Equal(t, `"1"`, a.get(t, "/creatives/"+there).header.Get("ETag"))
}

func TestTheErrorsOfOneItemAreBounded(t *testing.T) {
	t.Parallel()
	a := editable(t)
	var names []string
	for i := range 1000 {
		names = append(names, fmt.Sprintf(`"x%d": 1`, i))
	}
	result := a.bulk(t, `{"op": "create", "data": {`+strings.Join(names, ",")+`}}`).items(t, 207)[0]
	require.Len(t, result.Error.Errors, 10)
}

// What the time does not suffice for is not done, and the same key goes on behind what is.
func TestAKeyGoesOnWhereTheTimeWasUp(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions)
	db := mongotest.Database(t)
	require.NotNil(t, serveDatabase(t, db))
	a := serveWith(t, db, settings{requestTimeout: 1200 * time.Millisecond})
	for n := 100; ; n *= 2 {
		before := a.count(t, "creatives", bson.D{})
		if attempts := a.persevere(t, n, before); attempts > 1 {
			return
		}
		require.Less(t, n, 1000, "the database is too quick to tell")
	}
}

// persevere sends n items under one key until all are done, and tells how often it had to. before is how many creatives
// there are.
func (a *api) persevere(t *testing.T, n, before int) (attempts int) {
	t.Helper()
	items := make([]string, n)
	for i := range items {
		items[i] = createItem
		if i%10 == 3 {
			items[i] = `{"op": "patch", "id": "` + bson.NewObjectID().Hex() + `", "data": {}}` // writes nothing, and is a result all the same
		}
	}
	body := `{"items": [` + strings.Join(items, ",") + `]}`
	send := func() response {
		return a.write(t, http.MethodPost, "/creatives/bulk", body, headers{"Idempotency-Key": "night-" + strconv.Itoa(n)})
	}
	for done := 0; ; {
		attempts++
		res := send()
		results := res.items(t, 207)
		require.Len(t, results, n)
		late := 0
		for i, r := range results {
			switch {
			case r.Status == 503:
				late++
				require.Equal(t, "query_timeout", r.Error.Code)
			case i%10 == 3:
				require.Equal(t, 404, r.Status)
			default:
				require.Equal(t, 201, r.Status)
			}
			require.True(t, late == 0 || r.Status == 503, "those that are late are the last ones")
		}
		require.Greater(t, n-late, done, "each attempt goes on")
		done = n - late
		require.Equal(t, done-(done+6)/10, a.count(t, "creatives", bson.D{})-before, "none is made twice")
		require.Empty(t, res.header.Get("Idempotent-Replayed"))
		if late == 0 {
			replay := send()
			require.Equal(t, string(res.body), string(replay.body), "and then it is the answer")
			require.Equal(t, "true", replay.header.Get("Idempotent-Replayed"))
			return attempts
		}
	}
}
