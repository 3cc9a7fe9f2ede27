package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/creatives"
	"catalogue/internal/mongotest"
	"catalogue/internal/seeding"
	"catalogue/pagination"
)

// seeded serves made data.
func seeded(t *testing.T, creatives, tasks int) *api {
	t.Helper()
	db := mongotest.Database(t)
	seed(t, db, seeding.Options{Creatives: creatives, Tasks: tasks, Seed: 1})
	return serveDatabase(t, db)
}

// firstTask is a task with long threads: its number is 0.
func (a *api) firstTask(t *testing.T) string {
	t.Helper()
	var doc struct {
		ID bson.ObjectID `bson:"_id"`
	}
	require.NoError(t, a.db.Collection("tasks").FindOne(t.Context(), bson.D{{Key: "_id", Value: bson.D{{Key: "$exists", Value: true}}}}).Decode(&doc))
	return doc.ID.Hex()
}

func TestWrongParametersAreReportedAllAtOnce(t *testing.T) {
	t.Parallel()
	a := seeded(t, 10, 2)
	task := a.firstTask(t)
	for _, c := range []struct{ query, want string }{
		{"limit=0", "limit=limit_invalid"},
		{"limit=-1", "limit=limit_invalid"},
		{"limit=201", "limit=limit_invalid"},
		{"limit=1.5", "limit=limit_invalid"},
		{"limit=abc", "limit=limit_invalid"},
		{"limit=0x10", "limit=limit_invalid"},
		{"limit=1e3", "limit=limit_invalid"},
		{"limit=%2B5", "limit=limit_invalid"},
		{"limit=05", "limit=limit_invalid"},
		{"limit=%205", "limit=limit_invalid"},
		{"limit=9223372036854775807", "limit=limit_invalid"},
		{"limit=%D9%A5", "limit=limit_invalid"},
		{"limit=", "limit=parameter_empty"},
		{"limit", "limit=parameter_empty"},
		{"limit=5&limit=5", "limit=parameter_repeated"},
		{"sort=", "sort=parameter_empty"},
		{"sort=nothing", "sort=sort_unknown"},
		{"sort=--created_at", "sort=sort_unknown"},
		{"sort=%2Bcreated_at", "sort=sort_unknown"},
		{"sort=Created_at", "sort=sort_unknown"},
		{"sort=_id", "sort=sort_unknown"},
		{"sort=$where", "sort=sort_unknown"},
		{"cursor=", "cursor=parameter_empty"},
		{"cursor=garbage", "cursor=cursor_malformed"},
		{"cursor=%00", "cursor=cursor_malformed"},
		{"cursor=" + strings.Repeat("A", 97<<10), "cursor=cursor_malformed"},
		{"page=2", "page=parameter_unknown"},
		{"Limit=5", "Limit=parameter_unknown"},
		{"=5", "=parameter_unknown"},
		{"limit=0&sort=x&cursor=y&zz=1&aa=2", "sort=sort_unknown limit=limit_invalid cursor=cursor_malformed aa=parameter_unknown zz=parameter_unknown"},
	} {
		for _, path := range []string{"/creatives", "/creatives/gallery", "/tasks", "/tasks/" + task + "/comments", "/tasks/" + task + "/history"} {
			res := a.get(t, path+"?"+c.query)
			require.Equal(t, http.StatusUnprocessableEntity, res.status, "%s?%.60s", path, c.query)
			p := res.problem(t)
			require.Equal(t, c.want, p.codes(), "%s?%.60s", path, c.query)
			require.Equal(t, p.Errors[0].Code, p.Code, "the problem's code is that of the first")
			require.NotEmpty(t, p.Detail)
		}
	}
}

func TestAQueryThatCannotBeParsedIsNotPageOne(t *testing.T) {
	t.Parallel()
	a := seeded(t, 3, 1)
	for _, query := range []string{"limit=5;sort=name", "cursor=%ZZ", "limit=%"} {
		res := a.get(t, "/creatives?"+query)
		require.Equal(t, http.StatusUnprocessableEntity, res.status, query)
		require.Equal(t, "query_malformed", res.problem(t).Code)
	}
}

func TestAnUnknownSortListsTheAllowedOnes(t *testing.T) {
	t.Parallel()
	a := seeded(t, 1, 1)
	p := a.get(t, "/tasks?sort=x").problem(t)
	require.Equal(t, []string{
		"created_at", "-created_at", "updated_at", "-updated_at", "due_at", "-due_at", "closed_at", "-closed_at",
		"priority", "-priority", "title", "-title",
	}, p.Errors[0].Allowed)
}

func TestTotalsComeOnTheFirstPageAlone(t *testing.T) {
	t.Parallel()
	a := seeded(t, 120, 1)
	task := a.firstTask(t)

	first := a.page(t, "/creatives?limit=50")
	require.Equal(t, int64(120), *first.Meta.Total)
	require.Equal(t, "estimated", *first.Meta.TotalKind)

	second := a.get(t, "/creatives?limit=50&cursor="+*first.Meta.NextCursor)
	require.Contains(t, string(second.body), `"total":null,"total_kind":null}`, "the keys of meta are always there")

	comments := a.page(t, "/tasks/"+task+"/comments?limit=50")
	require.Equal(t, int64(120), *comments.Meta.Total)
	require.Equal(t, "exact", *comments.Meta.TotalKind, "a list with a fixed filter is counted")

	whole := a.page(t, "/creatives?limit=200")
	require.Equal(t, int64(120), *whole.Meta.Total)
	require.Equal(t, "exact", *whole.Meta.TotalKind, "a page that holds the whole list is its own count")
	require.Nil(t, whole.Meta.NextCursor)
}

func TestAListThatIsExactlyAPageHasNoNext(t *testing.T) {
	t.Parallel()
	a := seeded(t, 50, 0)
	p := a.page(t, "/creatives")
	require.Len(t, p.Data, 50)
	require.Nil(t, p.Meta.NextCursor)
}

func TestAnEmptyListIsAnEmptyList(t *testing.T) {
	t.Parallel()
	a := serveDatabase(t, mongotest.Database(t))
	res := a.get(t, "/tasks")
	require.JSONEq(t, `{"data":[],"meta":{"next_cursor":null,"total":0,"total_kind":"exact"}}`, string(res.body))
	require.Equal(t, "no-store", res.header.Get("Cache-Control"))
	require.Equal(t, "application/json", strings.Split(res.header.Get("Content-Type"), ";")[0])
}

func TestUnknownParentsAreNotFoundAfterTheParametersAndTheCursor(t *testing.T) {
	t.Parallel()
	a := seeded(t, 1, 2)
	task := a.firstTask(t)
	unknown := bson.NewObjectID().Hex()
	cursor := *a.page(t, "/tasks/"+task+"/comments?limit=1").Meta.NextCursor
	for _, id := range []string{unknown, "x", "0123", strings.Repeat("0", 24), "%00", "..", unknown + "0", "g" + unknown[1:]} {
		for _, list := range []string{"/comments", "/history"} {
			path := "/tasks/" + id + list
			res := a.get(t, path)
			require.Equal(t, http.StatusNotFound, res.status, path)
			require.Equal(t, "not_found", res.problem(t).Code)
			require.Equal(t, "limit_invalid", a.get(t, path+"?limit=0").problem(t).Code, path)
		}
		res := a.get(t, "/tasks/"+id+"/comments?cursor="+cursor)
		require.Equal(t, "cursor_mismatch", res.problem(t).Code, id)
	}
	require.Equal(t, http.StatusNotFound, a.get(t, "/tasks//comments").status)
	require.Equal(t, http.StatusNotFound, a.get(t, "/creatives/"+unknown).status)
	require.Equal(t, http.StatusNotFound, a.get(t, "/tasks/x").status)
	require.Equal(t, http.StatusNotFound, a.get(t, "/creatives/").status)
}

func TestIdsInPathsMayBeWrittenInOtherWays(t *testing.T) {
	t.Parallel()
	a := seeded(t, 1, 1)
	task := a.firstTask(t)
	upper := strings.ToUpper(task)
	escaped := fmt.Sprintf("%%%02X%s", task[0], task[1:])
	require.Equal(t, http.StatusOK, a.get(t, "/tasks/"+upper).status)
	require.Equal(t, http.StatusOK, a.get(t, "/tasks/"+escaped).status)
	first := a.get(t, "/tasks/"+upper+"/comments?limit=7")
	link := first.header.Get("Link")
	require.Contains(t, link, "/tasks/"+task+"/comments?limit=7&cursor=", "links carry lower case")
	target := regexp.MustCompile(`^<(.*)>; rel="next"$`).FindStringSubmatch(link)
	require.NotNil(t, target, link)
	next := a.page(t, strings.TrimPrefix(target[1], a.url))
	require.Len(t, next.Data, 7)
	require.NotEqual(t, a.page(t, "/tasks/"+task+"/comments?limit=7").ids(t), next.ids(t))
}

func TestTheLinkIsTheWholeNextURL(t *testing.T) {
	t.Parallel()
	a := seeded(t, 20, 0)
	res := a.get(t, "/creatives?limit=5&sort=-metrics.spend")
	require.True(t, strings.HasPrefix(res.header.Get("Link"), "<"+a.url+"/creatives?sort=-metrics.spend&limit=5&cursor="), res.header.Get("Link"))
	require.Empty(t, a.get(t, "/creatives?limit=200").header.Get("Link"), "no next page, no link")
}

func TestLongValuesMakeLongCursorsAndNoLink(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	long := strings.Repeat("é", 5000) // 10 kB
	for i := range 3 {
		plant(t, db, "creatives", bson.D{{Key: "_id", Value: bson.NewObjectID()}, {Key: "name", Value: long + strconv.Itoa(i)}})
	}
	a := serveDatabase(t, db)
	res := a.get(t, "/creatives?limit=1&sort=name")
	require.Empty(t, res.header.Get("Link"))
	require.Len(t, a.walk(t, "/creatives", "name", 1, 3), 3, "a list accepts every cursor that it issued")
}

func TestOtherMethodsAndRoutesAreProblems(t *testing.T) {
	t.Parallel()
	a := seeded(t, 1, 1)
	wrong := a.do(t, http.MethodPut, "/creatives")
	require.Equal(t, http.StatusMethodNotAllowed, wrong.status)
	require.Equal(t, "GET, HEAD, POST", wrong.header.Get("Allow"))
	require.Equal(t, "method_not_allowed", wrong.problem(t).Code)
	require.Equal(t, "not_found", a.get(t, "/nothing").problem(t).Code)
	require.Equal(t, http.StatusNotFound, a.get(t, "/creatives/gallery/").status, "no redirect for a slash")
	head := a.do(t, http.MethodHead, "/creatives")
	require.Equal(t, http.StatusOK, head.status)
	require.Empty(t, head.body)
}

func TestRowsThatDoNotFitKeepTheirPlace(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	decimal, err := bson.ParseDecimal128("2.5")
	require.NoError(t, err)
	spends := []any{1.5, decimal, "much"}
	if mongotest.Has(t, mongotest.NaN) {
		spends = append(spends, math.NaN())
	}
	ids := make([]bson.ObjectID, len(spends))
	want := make([]string, len(spends))
	for i, spend := range spends {
		ids[i] = bson.NewObjectID()
		want[i] = ids[i].Hex()
		plant(t, db, "creatives", bson.D{
			{Key: "_id", Value: ids[i]},
			{Key: "name", Value: fmt.Sprint("row ", i)},
			{Key: "status", Value: 7},
			{Key: "created_at", Value: bson.DateTime(math.MaxInt64)},
			{Key: "metrics", Value: bson.D{{Key: "spend", Value: spend}, {Key: "clicks", Value: 3.0}}},
		})
	}
	a := serveDatabase(t, db)
	p := a.page(t, "/creatives?sort=metrics.spend")
	require.Equal(t, want, p.ids(t))
	require.JSONEq(t, `{"id":"`+ids[0].Hex()+`","name":"row 0","metrics":{"spend":1.5,"clicks":3}}`, string(p.Data[0]))
	for i := 1; i < len(want); i++ {
		require.JSONEq(t, fmt.Sprintf(`{"id":%q,"name":"row %d","metrics":{"clicks":3}}`, ids[i].Hex(), i), string(p.Data[i]))
	}
}

func TestASingleObjectIsShownWhole(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	id := bson.NewObjectID()
	plant(t, db, "creatives", bson.D{
		{Key: "_id", Value: id},
		{Key: "name", Value: "Summer <b>&</b> sun"},
		{Key: "status", Value: "active"},
		{Key: "created_at", Value: time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.FixedZone("", 7200))},
		{Key: "media", Value: bson.D{}},
		{Key: "metrics", Value: nil},
		{Key: "tags", Value: bson.A{}},
		{Key: "attributes", Value: bson.D{{Key: "medium", Value: "ink"}}},
		{Key: "source", Value: bson.D{{Key: "system", Value: "s"}, {Key: "id", Value: "1"}, {Key: "digest", Value: "hidden"}}},
	})
	a := serveDatabase(t, db)
	res := a.get(t, "/creatives/"+id.Hex())
	require.Equal(t, compact(t, `{"data":{"id":"`+id.Hex()+`","name":"Summer <b>&</b> sun","status":"active",
		"created_at":"2026-01-02T01:04:05.678Z","attributes":{"medium":"ink"},"source":{"system":"s","id":"1"}}}`),
		strings.TrimSpace(string(res.body)), "absent values and empty parents are left out")
	require.Equal(t, "no-store", res.header.Get("Cache-Control"))
}

func TestTheGalleryIsLight(t *testing.T) {
	t.Parallel()
	a := seeded(t, 50, 0)
	allowed := map[string]bool{
		"id": true, "name": true, "status": true, "format": true, "media": true, "metrics": true,
		"created_at": true, "updated_at": true, "launched_at": true,
	}
	seen := map[string]bool{}
	for _, item := range a.page(t, "/creatives/gallery").Data {
		for key := range decodeObject(t, item) {
			require.True(t, allowed[key], key)
			seen[key] = true
		}
	}
	require.Equal(t, allowed, seen)
}

func TestHistoryShowsStatusMovesOnly(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	task := bson.NewObjectID()
	plant(t, db, "tasks", bson.D{{Key: "_id", Value: task}, {Key: "title", Value: "x"}})
	for _, action := range []string{"task.status_changed", "task.assigned"} {
		plant(t, db, "history", bson.D{
			{Key: "entity_type", Value: "task"},
			{Key: "entity_id", Value: task},
			{Key: "action", Value: action},
			{Key: "to", Value: "done"},
			{Key: "at", Value: time.Now()},
		})
	}
	a := serveDatabase(t, db)
	p := a.page(t, "/tasks/"+task.Hex()+"/history")
	require.Len(t, p.Data, 1)
	require.Equal(t, int64(1), *p.Meta.Total)
}

func TestACursorKeepsToItsLimitWhereThatChanges(t *testing.T) {
	t.Parallel()
	a := seeded(t, 30, 0)
	all := a.page(t, "/creatives?limit=30").ids(t)
	first := a.page(t, "/creatives?limit=3")
	rest := a.page(t, "/creatives?limit=200&cursor="+url.QueryEscape(*first.Meta.NextCursor))
	require.Equal(t, all[3:], rest.ids(t))
}

func TestListsAnswerWithoutTheirIndexes(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	for i := range 5 {
		plant(t, db, "tasks", bson.D{{Key: "title", Value: strconv.Itoa(i)}})
	}
	a := serveAsIs(t, db, 10*time.Second)
	require.Len(t, a.walk(t, "/tasks", "-title", 2, 5), 5)
}

func TestAnIndexDroppedWhileServingCostsNothingButTheHint(t *testing.T) {
	t.Parallel()
	a := seeded(t, 20, 0)
	require.NoError(t, a.db.Collection("creatives").Indexes().DropAll(context.Background()))
	require.Len(t, a.walk(t, "/creatives", "-created_at", 7, 20), 20)
}

func TestAForeignHostIsNotSaidBackInALink(t *testing.T) {
	t.Parallel()
	a := seeded(t, 5, 0)
	address := strings.TrimPrefix(a.url, "http://")
	for _, head := range []string{
		"GET http://a>;rel=\"x\",<b/creatives?limit=1 HTTP/1.1\r\nHost: good\r\n",
		"GET http://[fe80::1%25%20%3E]/creatives?limit=1 HTTP/1.1\r\nHost: good\r\n",
		"GET /creatives?limit=1 HTTP/1.0\r\n",
	} {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		require.NoError(t, err)
		_, err = io.WriteString(conn, head+"Connection: close\r\n\r\n")
		require.NoError(t, err)
		answer, err := io.ReadAll(conn)
		require.NoError(t, err)
		require.NoError(t, conn.Close())
		require.Contains(t, string(answer), " 200 OK", head)
		require.NotContains(t, string(answer), "Link:", head)
	}
}

func TestWhatIsSaidOfWrongRequestsIsBounded(t *testing.T) {
	t.Parallel()
	a := seeded(t, 1, 1)
	var many strings.Builder
	for i := range 9000 {
		many.WriteString("&x" + strconv.Itoa(i) + "=1")
	}
	long := strings.Repeat("%01", 30_000)
	for _, target := range []string{
		"/creatives?" + many.String(), "/creatives?sort=" + long, "/creatives?" + long + "=1", "/creatives/" + long, "/" + long,
		"/tasks/" + long + "/comments",
	} {
		res := a.get(t, target)
		require.Contains(t, []int{http.StatusUnprocessableEntity, http.StatusNotFound}, res.status)
		require.Less(t, len(res.body), 16<<10, "%.40s", target)
	}
}

func TestOnlyWhatIsShownIsFetched(t *testing.T) {
	t.Parallel()
	list := creatives.Gallery()
	shown := list.Query(bson.NilObjectID, list.Default, pagination.Start[bson.RawValue](), 1).Projection
	require.Contains(t, shown, bson.E{Key: "name", Value: int32(1)})
	require.NotContains(t, shown, bson.E{Key: "attributes", Value: int32(1)})

	hidden := pagination.Asc(pagination.Sort{Field: "source.id", Kind: pagination.String})
	fetched := list.Query(bson.NilObjectID, hidden, pagination.Start[bson.RawValue](), 1).Projection
	require.Contains(t, fetched, bson.E{Key: "source.id", Value: int32(1)}, "a sort that items do not show is fetched too")
}
