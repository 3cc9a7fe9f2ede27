package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/creatives"
	"catalogue/internal/mongotest"
	"catalogue/pagination"
	"catalogue/tasks"
)

// filtered is one meaning in the forms in which clients may write it, and as the database is asked directly.
type filtered struct {
	name          string
	path          string
	react, jquery string
	short         url.Values
	direct        bson.D
}

var filters = []filtered{
	{
		name: "a status and a lower bound", path: "/creatives",
		react:  `{"combinator":"and","rules":[{"field":"status","operator":"in","value":"active,paused"},{"field":"metrics.spend","operator":">=","value":"100"}]}`,
		jquery: `{"condition":"AND","rules":[{"id":"x","field":"metrics.spend","operator":"greater_or_equal","value":100},{"id":"y","field":"status","operator":"in","value":["paused","active"]}]}`,
		short:  url.Values{"status": {"active,paused"}, "metrics.spend.gte": {"100"}},
		direct: bson.D{
			{Key: "status", Value: bson.D{{Key: "$in", Value: bson.A{"active", "paused"}}}},
			{Key: "metrics.spend", Value: bson.D{{Key: "$gte", Value: 100}}},
		},
	},
	{
		name: "words of a name, in any case", path: "/creatives/gallery",
		react:  `{"rules":[{"field":"name","operator":"contains","value":"SALE"},{"field":"name","operator":"contains","value":"spring"}],"combinator":"and"}`,
		jquery: `{"condition":"AND","rules":[{"field":"name","operator":"contains","value":"spring"},{"field":"name","operator":"contains","value":"SALE"}]}`,
		short:  url.Values{"q": {"SALE spring"}},
		direct: bson.D{{Key: "$and", Value: bson.A{
			bson.D{{Key: "name", Value: bson.Regex{Pattern: "sale", Options: "i"}}}, bson.D{{Key: "name", Value: bson.Regex{Pattern: "Spring"}}},
		}}},
	},
	{
		name: "a day and later", path: "/tasks",
		react:  `{"combinator":"and","rules":[{"field":"created_at","operator":">=","value":"2025-03-01"}]}`,
		jquery: `{"condition":"AND","rules":[{"field":"created_at","operator":"greater_or_equal","value":"2025-03-01"}]}`,
		short:  url.Values{"created_at.gte": {"2025-03-01"}},
		direct: bson.D{{Key: "created_at", Value: bson.D{{Key: "$gte", Value: time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)}}}},
	},
}

func (f filtered) sorts() pagination.Sorts {
	if f.path == "/tasks" {
		return tasks.List().Sorts
	}
	return creatives.List().Sorts
}

func (f filtered) collection() string {
	if f.path == "/tasks" {
		return tasks.Collection
	}
	return creatives.Collection
}

// requireFilteredWalks walks a filtered list in every order and compares it with the filtered list sorted in memory.
func (a *api) requireFilteredWalks(t *testing.T, f filtered, query url.Values, limit int) {
	t.Helper()
	docs := mongotest.Everything(t, a.db.Collection(f.collection()), f.direct)
	require.NotEmpty(t, docs)
	for _, order := range bothWays(f.sorts()) {
		var want []string
		for _, id := range mongotest.SortedIDs(t, docs, order.Field, holds(order.Kind), order.Descending) {
			want = append(want, id.Hex())
		}
		query.Set("sort", order.String())
		require.Equal(t, want, a.walkFiltered(t, f.path, query, limit, len(docs)/limit+1), "%s sort=%s", f.name, order)
	}
}

func TestFilteredWalksEqualTheFilteredSortedLists(t *testing.T) {
	t.Parallel()
	a := seeded(t, 400, 200)
	for _, f := range filters {
		a.requireFilteredWalks(t, f, url.Values{"filter": {f.react}}, 7)
		a.requireFilteredWalks(t, f, maps.Clone(f.short), 200)
	}
}

func TestFilteredWalksOfImportedFilesEqualTheFilteredSortedLists(t *testing.T) {
	t.Parallel()
	a := imported(t)
	for _, f := range []filtered{
		{
			name: "paintings", path: "/creatives", short: url.Values{"tag": {"painting"}},
			direct: bson.D{{Key: "tags", Value: "painting"}},
		},
		{
			name: "advertisements in dollars or without a date", path: "/creatives/gallery",
			short: url.Values{"filter": {`{"combinator":"or","rules":[{"field":"metrics.currency","operator":"=","value":"USD"},{"field":"created_at","operator":"null"}]}`}},
			direct: bson.D{{Key: "$or", Value: bson.A{
				bson.D{{Key: "metrics.currency", Value: "USD"}}, bson.D{{Key: "created_at", Value: nil}},
			}}},
		},
		{
			name: "bugs that are not done", path: "/tasks", short: url.Values{"type": {"bug"}, "status.ne": {"done"}},
			direct: bson.D{{Key: "type", Value: "bug"}, {Key: "status", Value: bson.D{{Key: "$ne", Value: "done"}}}},
		},
	} {
		a.requireFilteredWalks(t, f, f.short, 200)
	}
}

func TestEveryFormOfAFilterIsOneFilter(t *testing.T) {
	t.Parallel()
	a := seeded(t, 400, 200)
	for _, f := range filters {
		forms := []url.Values{{"filter": {f.react}}, {"filter": {f.jquery}}, maps.Clone(f.short)}
		var first page
		for i, query := range forms {
			query.Set("limit", "1")
			p := a.page(t, f.path+"?"+query.Encode())
			if i == 0 {
				first = p
				require.Equal(t, "exact", *p.Meta.TotalKind)
			}
			require.Equal(t, first.ids(t), p.ids(t), f.name)
			require.Equal(t, first.Meta.Total, p.Meta.Total, f.name)
			require.NotNil(t, first.Meta.NextCursor, "%s: %d of %d", f.name, len(p.Data), *p.Meta.Total)
			// The cursor of one form goes on in any other: it carries the meaning, not the spelling.
			query.Set("cursor", *first.Meta.NextCursor)
			next := a.page(t, f.path+"?"+query.Encode())
			require.NotEqual(t, first.ids(t), next.ids(t))
		}
		if f.path == "/creatives/gallery" {
			continue // it has no search of its own
		}
		body := fmt.Sprintf(`{"filter":%s,"limit":1}`, f.jquery)
		require.Equal(t, first.ids(t), a.post(t, f.path+"/search", body).page(t, body).ids(t), "the same answer either way")
	}
}

func TestACursorOfOneFilterIsRefusedWithAnother(t *testing.T) {
	t.Parallel()
	a := seeded(t, 100, 0)
	cursor := *a.page(t, "/creatives?limit=1&status=active").Meta.NextCursor
	for _, other := range []string{"", "&status=paused", "&status=active&format=image", "&status.ne=active"} {
		p := a.get(t, "/creatives?limit=1&cursor="+cursor+other).problem(t)
		require.Equal(t, "cursor_mismatch", p.Code, other)
		require.Contains(t, p.Detail, "another filter")
	}
	require.Equal(t, http.StatusOK, a.get(t, "/creatives?limit=9&cursor="+cursor+"&status=active").status)
}

func TestWrongRulesAreReportedAllAtOnceWithTheirPaths(t *testing.T) {
	t.Parallel()
	a := seeded(t, 3, 3)
	wrong := `{"combinator":"and","rules":[{"field":"nme","operator":"=","value":"x"},{"combinator":"or","rules":[
		{"field":"metrics.spend","operator":">","value":"abc"},{"field":"created_at","operator":"=","value":"2026-1-"},
		{"field":"status","operator":"contains","value":"a"},{"field":"$where","operator":"=","value":1}]}]}`
	res := a.get(t, "/creatives?limit=0&filter="+url.QueryEscape(wrong))
	require.Equal(t, http.StatusUnprocessableEntity, res.status)
	p := res.problem(t)
	require.Equal(t, "limit=limit_invalid rules[0].field=rule_field_unknown rules[1].rules[0].value=rule_value_invalid "+
		"rules[1].rules[1].value=rule_value_invalid rules[1].rules[2].operator=rule_operator_unsupported "+
		"rules[1].rules[3].field=rule_field_unknown", p.codes())

	body := a.post(t, "/creatives/search", `{"filter":`+wrong+`}`)
	require.Equal(t, http.StatusUnprocessableEntity, body.status)
	require.Len(t, body.problem(t).Errors, 5)
}

func TestShortFormsThatAreWrongNameTheirParameter(t *testing.T) {
	t.Parallel()
	a := seeded(t, 3, 3)
	for query, want := range map[string]string{
		"metrics.spend.lt=abc":   "metrics.spend.lt=rule_value_invalid",
		"created_at.gte=2026-1-": "created_at.gte=rule_value_invalid",
		"status=lost":            "status=rule_value_invalid",
		"status=":                "status=parameter_empty",
		"status=draft&status=x":  "status=parameter_repeated",
		"statu=active":           "statu=parameter_unknown",
		"tz=EST":                 "tz=tz_invalid",
		"filter=":                "filter=parameter_empty",
		"filter=x":               "filter=rule_json_malformed",
	} {
		res := a.get(t, "/creatives?"+query)
		require.Equal(t, http.StatusUnprocessableEntity, res.status, query)
		require.Equal(t, want, res.problem(t).codes(), query)
	}
	for name, near := range map[string]string{
		"statu": "status", "spend.gte": "metrics.spend.gte", "metric.spend.lt": "metrics.spend.lt",
		"createdat.gte": "created_at.gte", "width.gt": "media.width.gt", "lmit": "limit",
	} {
		require.Equal(t, near, a.get(t, "/creatives?"+name+"=1").problem(t).Errors[0].Allowed[0], "the nearest known name of %s", name)
	}
	require.Equal(t, "filter=parameter_unknown", a.get(t, "/tasks/"+a.firstTask(t)+"/comments?filter={}").problem(t).codes())
}

func TestTheLimitsHoldForFilterAndShortFormsTogether(t *testing.T) {
	t.Parallel()
	a := seeded(t, 3, 3)
	words := url.QueryEscape(strings.Repeat("ab ", 85))
	require.Equal(t, http.StatusOK, a.get(t, "/creatives?q="+words).status)
	var rules []string
	for range 90 {
		rules = append(rules, `{"field":"mode","operator":"=","value":"live"}`)
	}
	filter := url.QueryEscape(`{"combinator":"and","rules":[` + strings.Join(rules, ",") + `]}`)
	require.Equal(t, http.StatusOK, a.get(t, "/creatives?filter="+filter).status)
	require.Equal(t, "filter=rule_limit", a.get(t, "/creatives?q="+words+"&filter="+filter).problem(t).codes())

	long := strings.Repeat("draft,", 2000)
	require.Equal(t, "filter=rule_limit", a.get(t, "/creatives?status="+long+"&status.ne=draft&q="+words+"&name="+long).problem(t).codes())
}

func TestBodiesOfSearches(t *testing.T) {
	t.Parallel()
	a := seeded(t, 20, 3)
	for body, want := range map[string]struct {
		status int
		codes  string
	}{
		``:                                     {400, ""},
		`{`:                                    {400, ""},
		`{} {}`:                                {400, ""},
		"{\"sort\":\"\xff\"}":                  {400, ""},
		`null`:                                 {422, "=body_member_invalid"},
		`[]`:                                   {422, "=body_member_invalid"},
		`{}`:                                   {200, ""},
		`{"filter":null,"limit":5.0}`:          {200, ""},
		`{"filter":{"rules":[]}}`:              {200, ""},
		`{"filter":{}}`:                        {422, "filter=rule_malformed"},
		`{"combinator":"and","rules":[]}`:      {422, "combinator=parameter_unknown rules=parameter_unknown"},
		`{"Limit":5}`:                          {422, "Limit=parameter_unknown"},
		`{"limit":5,"limit":6}`:                {422, "limit=parameter_repeated"},
		`{"limit":"5"}`:                        {422, "limit=body_member_invalid"},
		`{"limit":1.5,"sort":7,"cursor":true}`: {422, "sort=body_member_invalid limit=body_member_invalid cursor=body_member_invalid"},
		`{"limit":1e1}`:                        {200, ""},
		`{"limit":201}`:                        {422, "limit=limit_invalid"},
		`{"sort":"nothing","tz":"EST"}`:        {422, "sort=sort_unknown tz=tz_invalid"},
		`{"status":"active"}`:                  {422, "status=parameter_unknown"},
	} {
		res := a.post(t, "/creatives/search", body)
		require.Equal(t, want.status, res.status, body)
		if want.codes != "" {
			require.Equal(t, want.codes, res.problem(t).codes(), body)
		}
	}
	require.Equal(t, "body_malformed", a.post(t, "/tasks/search", "x").problem(t).Code)
	require.Equal(t, "body_too_large", a.post(t, "/tasks/search", `{"cursor":"`+strings.Repeat("A", 64<<10)+`"}`).problem(t).Code)
	require.Equal(t, http.StatusRequestEntityTooLarge, a.post(t, "/tasks/search", strings.Repeat(" ", 65<<10)).status)
	require.Equal(t, "a=parameter_unknown limit=parameter_unknown", a.post(t, "/tasks/search?limit=5&a=1", `{}`).problem(t).codes())
	require.Empty(t, a.post(t, "/creatives/search", `{"limit":1}`).header.Get("Link"))
	require.Equal(t, http.StatusMethodNotAllowed, a.do(t, http.MethodPut, "/creatives/search").status)
}

func TestARelativeFilterKeepsTheMomentOfItsFirstPage(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	var mu sync.Mutex
	now := time.Date(2026, 3, 10, 12, 0, 30, 0, time.UTC)
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	for hours := range 10 { // the last ones are older than two days, or soon will be
		plant(t, db, "tasks", bson.D{{Key: "title", Value: "t"}, {Key: "created_at", Value: now.Add(-time.Duration(hours) * 6 * time.Hour)}})
	}
	serveDatabase(t, db)
	a := serveWith(t, db, settings{now: clock})
	filter := "&filter=" + url.QueryEscape(`{"rules":[{"field":"created_at","operator":"last_days_interval","value":2}],"combinator":"and"}`)
	first := a.page(t, "/tasks?limit=3"+filter)
	require.Equal(t, int64(9), *first.Meta.Total, "48 hours back from 12:00, the seconds cut")
	mu.Lock()
	now = now.Add(24 * time.Hour)
	mu.Unlock()
	rest := a.page(t, "/tasks?limit=200&cursor="+*first.Meta.NextCursor+filter)
	require.Len(t, rest.Data, 6, "the page goes on in the first one's two days")
	require.Equal(t, int64(5), *a.page(t, "/tasks?limit=3"+filter).Meta.Total, "a new walk has its own")
}

func TestFieldsDescribeAScreen(t *testing.T) {
	t.Parallel()
	a := seeded(t, 1, 1)
	res := a.get(t, "/creatives/fields")
	require.Equal(t, http.StatusOK, res.status)
	var fields []map[string]any
	require.NoError(t, json.Unmarshal(res.body, &fields), "a bare array")
	byName := map[string]map[string]any{}
	for _, f := range fields {
		byName[fmt.Sprint(f["name"])] = f
	}
	require.Len(t, byName, len(creatives.Fields().Fields))
	require.Equal(t, true, byName["status"]["indexed"])
	require.Equal(t, false, byName["metrics.currency"]["indexed"])
	require.Equal(t, "select", byName["status"]["valueEditorType"])
	require.Len(t, byName["status"]["values"], 4, "those that the rules of the type allow")

	tag := res.header.Get("ETag")
	require.NotEmpty(t, tag)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.url+"/creatives/fields", http.NoBody)
	require.NoError(t, err)
	req.Header.Set("If-None-Match", `"other", W/`+tag)
	again, err := a.client.Do(req)
	require.NoError(t, err)
	require.NoError(t, again.Body.Close())
	require.Equal(t, http.StatusNotModified, again.StatusCode)

	jquery := a.get(t, "/tasks/fields?format=jquery")
	require.Equal(t, http.StatusOK, jquery.status)
	var rules []map[string]any
	require.NoError(t, json.Unmarshal(jquery.body, &rules))
	require.Contains(t, rules[0], "id")
	require.NotEqual(t, tag, jquery.header.Get("ETag"))
	require.Equal(t, "format=format_unknown", a.get(t, "/tasks/fields?format=xml").problem(t).codes())
}

func TestSearchesThatAreAbortedLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	a := seeded(t, 3000, 0)
	for i := range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url+fmt.Sprintf("/creatives?q=s&metrics.clicks.gte=%d", i), http.NoBody)
		require.NoError(t, err)
		go cancel()
		if res, err := a.client.Do(req); err == nil {
			require.NoError(t, res.Body.Close())
		}
		cancel()
	}
	require.Equal(t, http.StatusOK, a.get(t, "/creatives?q=s").status)
}

// FuzzSearchNeverFails sends any body to both searches, and as a filter in a URL.
func FuzzSearchNeverFails(f *testing.F) {
	db := mongotest.Database(f)
	a := serveDatabase(f, db)
	plant(f, db, "creatives", bson.D{{Key: "name", Value: "a"}, {Key: "tags", Value: bson.A{"x"}}}, bson.D{{Key: "name", Value: 5}})
	for _, seed := range []string{"", "{}", `{"filter":{}}`, `{"limit":1e400}`, `{"sort":"\u0000"}`, strings.Repeat("[", 1000)} {
		f.Add(seed)
	}
	for _, c := range filters {
		f.Add(`{"filter":` + c.react + `}`)
		f.Add(`{"filter":` + c.jquery + `,"sort":"-name"}`)
		f.Add(c.react)
	}
	f.Fuzz(func(t *testing.T, body string) {
		require.Less(t, a.post(t, "/creatives/search", body).status, 500)
		require.Less(t, a.get(t, "/creatives?filter="+url.QueryEscape(body)).status, 500)
	})
}
