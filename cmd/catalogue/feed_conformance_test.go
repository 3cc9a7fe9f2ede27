package main

import (
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/feed"
	"catalogue/internal/mongotest"
	"catalogue/tasks"
)

func TestFeed01Envelope(t *testing.T) {
	t.Parallel()
	a := servedTasks(t, planted(3)...)
	for _, path := range []string{"tasks", "creatives", "comments"} {
		res := a.get(t, "/api/v1/"+path+"?descending=1&limit=2")
		require.Equal(t, http.StatusOK, res.status)
		require.Equal(t, "application/json", res.header.Get("Content-Type"))
		require.Equal(t, "no-store", res.header.Get("Cache-Control"))
		require.Contains(t, string(res.body), `{"data":[`)
	}
	answer := decodeObject(t, a.get(t, "/api/v1/tasks?descending=1&limit=2").body)
	require.ElementsMatch(t, []string{"data", "next_page", "prev_page"}, slices.Collect(maps.Keys(answer)))
	for _, name := range []string{"next_page", "prev_page"} {
		link := decodeObject(t, answer[name])
		require.ElementsMatch(t, []string{"offset", "path", "uri"}, slices.Collect(maps.Keys(link)))
	}
	p := a.feedAt(t, "/api/v1/tasks?limit=2")
	require.True(t, strings.HasPrefix(p.Next.Path, "/api/v1/tasks?"), p.Next.Path)
	require.Equal(t, a.url+p.Next.Path, p.Next.URI, "absolute, on the host as it came")
	require.Equal(t, hexIDs(2, 3), a.feedAt(t, p.Next.Path).ids(t), "the link leads on")
	require.Empty(t, a.feedAt(t, "/api/v1/comments").Data)
	require.Contains(t, string(a.get(t, "/api/v1/comments").body), `"data":[]`, "never null")

	b := serveFeed(t, a.db, feedSettings{publicURL: "https://catalogue.example/x"})
	p = b.feedAt(t, "/api/v1/tasks")
	require.Equal(t, "https://catalogue.example/x"+p.Next.Path, p.Next.URI)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodHead, "/api/v1/tasks").status)
}

func TestFeed02PrevPage(t *testing.T) {
	t.Parallel()
	a := servedTasks(t, planted(6)...)
	offset := *a.feedAt(t, "/api/v1/tasks?limit=2").Next.Offset
	for query, has := range map[string]bool{
		"": false, "limit=2": false, "mode=test": false, "descending=&offset=": false,
		"descending=1": true, "descending=0": true, "offset=" + offset: true, "descending=1&offset=" + offset: true,
	} {
		require.Equal(t, has, a.feedAt(t, "/api/v1/tasks?"+query).Prev != nil, query)
	}
	forward := url.Values{
		"offset": {offset}, "limit": {"2"}, "mode": {"_all_"}, "opt_fields": {"title,status"},
	}
	p := a.feedPage(t, "tasks", forward)
	require.Equal(t, hexIDs(2, 4), p.ids(t))
	next, prev := queryOf(t, p.Next), queryOf(t, p.Prev)
	require.False(t, next.Has("descending"), "next_page goes on in the same direction")
	require.Equal(t, "1", prev.Get("descending"), "prev_page turns round")
	for _, name := range []string{"limit", "mode"} {
		require.Equal(t, forward[name], next[name])
		require.Equal(t, forward[name], prev[name])
	}
	require.Equal(t, "status,title", prev.Get("opt_fields"))
	require.Equal(t, []string{feedID(1).Hex(), feedID(0).Hex()}, a.feedAt(t, p.Prev.Path).ids(t))

	p = a.feedAt(t, "/api/v1/tasks?descending=0&limit=2&offset="+offset)
	require.Equal(t, "1", queryOf(t, p.Next).Get("descending"))
	require.False(t, queryOf(t, p.Prev).Has("descending"))
}

func TestFeed03EmptyPage(t *testing.T) {
	t.Parallel()
	a := servedTasks(t, planted(3)...)
	end := *a.feedAt(t, "/api/v1/tasks").Next.Offset
	for _, sent := range []string{end, "2000000000", "2000000000.50", "2060-10-16T10:16:08+03:00", "2060-10-16T10:16:08 03:00"} {
		p := a.feedPage(t, "tasks", url.Values{"offset": {sent}})
		require.Empty(t, p.Data)
		require.Equal(t, sent, *p.Next.Offset, "exactly as sent")
		require.Equal(t, sent, queryOf(t, p.Next).Get("offset"))
		require.Equal(t, sent, *p.Prev.Offset)
	}
	p := a.feedAt(t, "/api/v1/comments")
	require.Empty(t, *p.Next.Offset, "none was sent")
	require.Nil(t, p.Prev)

	p = a.feedPage(t, "tasks", url.Values{"descending": {"1"}, "offset": {strconv.Itoa(start)}})
	require.Empty(t, p.Data)
	require.Nil(t, p.Next, "the end of a backward walk")
	require.NotNil(t, p.Prev)
	p = a.feedAt(t, "/api/v1/comments?descending=1")
	require.Nil(t, p.Next)
	require.Empty(t, *p.Prev.Offset)
}

func TestFeed04UnknownParameters(t *testing.T) {
	t.Parallel()
	a := servedTasks(t, planted(3)...)
	p := a.feedAt(t, "/api/v1/tasks?feed=changes&opt_pretty=1&sort=-title&cursor=x&limit=2&Limit=1")
	require.Equal(t, hexIDs(0, 2), p.ids(t))
	require.ElementsMatch(t, []string{"limit", "offset"}, slices.Collect(maps.Keys(queryOf(t, p.Next))), "not repeated")

	plain := a.get(t, "/api/v1/tasks")
	crawler := a.get(t, "/api/v1/tasks?descending=&offset=&opt_fields=&mode=&limit=")
	require.Equal(t, string(plain.body), string(crawler.body), "an empty parameter is absent")

	p = a.feedAt(t, "/api/v1/tasks?limit=1&limit=2&descending=1&descending=")
	require.Equal(t, hexIDs(0, 2), p.ids(t), "the last of a repeated parameter counts")
}

func TestFeed05Items(t *testing.T) {
	t.Parallel()
	a := servedTasks(t,
		entry(0, start+0.125, "live",
			bson.E{Key: "title", Value: "<b>\"é\" & co"}, bson.E{Key: "status", Value: "open"},
			bson.E{Key: "priority", Value: int64(0)}, bson.E{Key: "creative_id", Value: feedID(77)},
			bson.E{Key: "due_at", Value: bson.DateTime(1000)}, bson.E{Key: "secret", Value: "x"},
			bson.E{Key: "source", Value: bson.D{{Key: "system", Value: "s"}, {Key: "id", Value: "1"}}}),
		entry(1, start+1, "live", bson.E{Key: "title", Value: nil}, bson.E{Key: "priority", Value: "high"}),
	)
	items := func(fields string) []string {
		p := a.feedPage(t, "tasks", url.Values{"opt_fields": {fields}})
		out := make([]string, len(p.Data))
		for i, item := range p.Data {
			out[i] = string(item)
		}
		return out
	}
	const (
		first  = `{"id":"000000000000000000000000","dateModified":"2025-10-16T07:16:08.125Z"`
		second = `{"id":"000000000000000000000001","dateModified":"2025-10-16T07:16:09.000Z"`
	)
	require.Equal(t, []string{first + `}`, second + `}`}, items(""))
	require.Equal(t, []string{first + `}`, second + `}`}, items("id,dateModified,secret,_id,feed,Title, title"))
	require.Equal(t, []string{
		first + `,"priority":0,"public_modified":1760598968.125,"title":"<b>\"é\" & co"}`,
		second + `,"public_modified":1760598969}`, // absent, null and a wrong type are absent
	}, items("title,public_modified,priority,title,unknown"))
	require.Equal(t, first+`,"creative_id":"00000000000000000000004d","due_at":"1970-01-01T00:00:01.000Z",`+ //nolint:testifylint // in this order
		`"source":{"system":"s","id":"1"}}`, items("creative_id,due_at,source,rev")[0])

	p := a.feedPage(t, "tasks", url.Values{"opt_fields": {"title,id,unknown,public_modified,dateModified,status,title"}})
	require.Equal(t, "public_modified,status,title", queryOf(t, p.Next).Get("opt_fields"))
	require.False(t, queryOf(t, a.feedPage(t, "tasks", url.Values{"opt_fields": {"id,unknown"}}).Next).Has("opt_fields"))
}

// TestFeed05EveryField: each top-level field of a resource can be asked for.
func TestFeed05EveryField(t *testing.T) {
	t.Parallel()
	a := servedTasks(t)
	for path, fields := range map[string]string{
		"tasks": "assignee,closed_at,created_at,created_by,creative_id,description,due_at,mode,priority,public_modified,rev," +
			"source,status,title,type,updated_at",
		"creatives": "attributes,created_at,ended_at,format,launched_at,media,metrics,mode,name,public_modified,rev,source," +
			"status,tags,updated_at",
		"comments": "author,body,created_at,entity_id,entity_type,mode,public_modified,rev",
	} {
		require.Equal(t, fields, queryOf(t, a.feedPage(t, path, url.Values{"opt_fields": {fields}}).Next).Get("opt_fields"))
	}
}

// TestFeed05StoredDates: a stored dateModified that does not fit shows public_modified in its place.
func TestFeed05StoredDates(t *testing.T) {
	t.Parallel()
	var rows []bson.D
	for i, stored := range []any{nil, "2026-01-01", true, bson.DateTime(math.MaxInt64), bson.DateTime(-62135596800001), 5.0} {
		rows = append(rows, bson.D{
			{Key: "_id", Value: feedID(i)},
			{Key: "feed", Value: "live"},
			{Key: "public_modified", Value: start + 0.001},
			{Key: "dateModified", Value: stored},
		})
	}
	rows = append(rows, bson.D{
		{Key: "_id", Value: feedID(len(rows))}, {Key: "feed", Value: "live"}, {Key: "public_modified", Value: start + 0.001},
	})
	a := servedTasks(t, rows...)
	p := a.feedAt(t, "/api/v1/tasks")
	require.Len(t, p.Data, len(rows))
	for i, item := range p.Data {
		want := `{"id":"` + feedID(i).Hex() + `","dateModified":"2025-10-16T07:16:08.001Z"}`
		require.JSONEq(t, want, string(item), "%v", rows[i])
		detail := decodeObject(t, decodeObject(t, a.get(t, "/api/v1/tasks/"+feedID(i).Hex()).body)["data"])
		require.Equal(t, `"2025-10-16T07:16:08.001Z"`, string(detail["dateModified"]))
	}
}

func TestFeed06Mode(t *testing.T) {
	t.Parallel()
	a := servedTasks(t,
		entry(0, start, "live"), entry(1, start+1, "test"), entry(2, start+2, ""), entry(3, start+3, "live"),
		entry(4, start+4, "hidden"))
	for mode, want := range map[string][]int{"": {0, 3}, "real": {0, 3}, "test": {1}, "_all_": {0, 1, 3}, "TEST": {0, 3}, "a&b=c": {0, 3}} {
		p := a.feedPage(t, "tasks", url.Values{"mode": {mode}})
		var ids []string
		for _, n := range want {
			ids = append(ids, feedID(n).Hex())
		}
		require.Equal(t, ids, p.ids(t), mode)
		require.Equal(t, mode, queryOf(t, p.Next).Get("mode"), "the raw value is repeated")
		require.Equal(t, mode != "", queryOf(t, p.Next).Has("mode"))
	}
}

func TestFeed07Order(t *testing.T) {
	t.Parallel()
	a := servedTasks(t,
		append(entry(0, start+2, "live"), bson.E{Key: "title", Value: "by public_modified"}),
		bson.D{
			{Key: "_id", Value: feedID(1)},
			{Key: "feed", Value: "live"},
			{Key: "public_modified", Value: start + 1},
			{Key: "dateModified", Value: bson.DateTime(1900000000000)},
		},
		bson.D{
			{Key: "_id", Value: feedID(2)},
			{Key: "feed", Value: "live"},
			{Key: "public_modified", Value: start + 3},
			{Key: "dateModified", Value: bson.DateTime(0)},
		})
	up := []string{feedID(1).Hex(), feedID(0).Hex(), feedID(2).Hex()}
	down := []string{feedID(2).Hex(), feedID(0).Hex(), feedID(1).Hex()}
	for descending, want := range map[string][]string{"": up, "1": down, "0": down, "false": down, "x": down} {
		p := a.feedPage(t, "tasks", url.Values{"descending": {descending}})
		require.Equal(t, want, p.ids(t), descending)
		if descending != "" {
			require.Equal(t, "1", queryOf(t, p.Next).Get("descending"))
		}
	}
}

// TestFeed08Merge: `_all_` is one order by (public_modified, _id), also where both modes have a timestamp.
func TestFeed08Merge(t *testing.T) {
	t.Parallel()
	var rows []bson.D
	for n := range 40 {
		rows = append(rows, entry(n, start+float64(n/7), []string{"live", "test", "test", "live", "live"}[n%5]))
	}
	a := servedTasks(t, rows...)
	for _, limit := range []int{1, 2, 3, 7, 40, 100} {
		require.Equal(t, hexIDs(0, 40), a.feedWalk(t, url.Values{"mode": {"_all_"}}, limit))
		back := a.feedWalk(t, url.Values{"mode": {"_all_"}, "descending": {"1"}}, limit)
		slices.Reverse(back)
		require.Equal(t, hexIDs(0, 40), back)
	}
}

// TestFeed08Index: one index without a condition serves both directions, by the plan that the database tells.
func TestFeed08Index(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.ExplainPlans)
	index := feed.Index(tasks.Collection)
	require.Equal(t, "feed_1_public_modified_1__id_1", index.Name())
	require.Nil(t, index.Partial)
	a := servedTasks(t, planted(5)...)
	for _, direction := range []int32{1, -1} {
		var plan bson.M
		require.NoError(t, a.db.RunCommand(t.Context(), bson.D{{Key: "explain", Value: bson.D{
			{Key: "find", Value: tasks.Collection},
			{Key: "filter", Value: bson.D{
				{Key: "feed", Value: "live"},
				{Key: "public_modified", Value: bson.D{{Key: "$gte", Value: start}, {Key: "$lte", Value: start + 3}}},
			}},
			{Key: "sort", Value: bson.D{{Key: "public_modified", Value: direction}, {Key: "_id", Value: direction}}},
			{Key: "hint", Value: index.Name()},
		}}, {Key: "verbosity", Value: "queryPlanner"}}).Decode(&plan))
		text, err := bson.MarshalExtJSON(plan, false, false)
		require.NoError(t, err)
		require.Contains(t, string(text), "IXSCAN")
		require.NotContains(t, string(text), `"SORT"`)
	}
}

// TestFeed08WithoutItsIndex: an index that is dropped under the server costs time, not answers.
func TestFeed08WithoutItsIndex(t *testing.T) {
	t.Parallel()
	a := servedTasks(t, planted(30)...)
	require.Len(t, a.feedWalk(t, nil, 7), 30)
	require.NoError(t, a.db.Collection(tasks.Collection).Indexes().DropOne(t.Context(), "feed_1_public_modified_1__id_1"))
	require.Equal(t, hexIDs(0, 30), a.feedWalk(t, nil, 7))
	b := serveFeed(t, a.db, feedSettings{noIndexes: true})
	require.Equal(t, hexIDs(0, 30), b.feedWalk(t, nil, 7))
}

func TestFeed09Limit(t *testing.T) {
	t.Parallel()
	a := servedTasks(t, planted(1010)...)
	for limit, want := range map[string]struct {
		rows   int
		linked string
	}{
		"": {100, ""}, "1": {1, "1"}, "7": {7, "7"}, "100": {100, "100"}, "1000": {1000, "1000"}, "1001": {1000, "1000"},
		"99999999999999999999999": {1000, "1000"}, "0": {1, "1"}, "-5": {1, "1"}, "-99999999999999999999999": {1, "1"}, "007": {7, "7"},
	} {
		p := a.feedPage(t, "tasks", url.Values{"limit": {limit}})
		require.Len(t, p.Data, want.rows, limit)
		require.Equal(t, want.linked, queryOf(t, p.Next).Get("limit"), "the limit in force is repeated, the default is not")
		require.Equal(t, want.linked != "", queryOf(t, p.Next).Has("limit"))
	}
	for _, limit := range []string{"x", "1.5", "1.0", "1e2", "0x10", "+5", " 5", "5 ", "1_0", "٥", "--1", "-", "null"} {
		res := a.get(t, "/api/v1/tasks?"+url.Values{"limit": {limit}}.Encode())
		require.Equal(t, http.StatusBadRequest, res.status, limit)
		location, name, _ := res.feedError(t)
		require.Equal(t, "querystring limit", location+" "+name)
	}
	res := a.get(t, "/api/v1/tasks?limit=x&offset=y")
	require.Equal(t, http.StatusNotFound, res.status, "a bad offset is reported before a bad limit")
	_, name, _ := res.feedError(t)
	require.Equal(t, "offset", name)
}
