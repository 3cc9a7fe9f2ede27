package main

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/mongotest"
	"catalogue/tasks"
)

func TestFeed10OffsetForm(t *testing.T) {
	t.Parallel()
	a := servedTasks(t,
		entry(0, start, "live"), entry(1, start+0.5, "live"), entry(2, start+0.5, "live"), entry(3, start+0.5, "live"),
		entry(4, start+1, "live"))
	id := func(n int) string { return feedID(n).Hex() }
	for limit, want := range map[string]string{
		"1": "1760598968.0.1." + md5Of(id(0)),
		"3": "1760598968.5.2." + md5Of(id(1), id(2)),
		"4": "1760598968.5.3." + md5Of(id(1), id(2), id(3)),
		"5": "1760598969.0.1." + md5Of(id(4)),
		"2": "1760598968.5.0.00000000" + id(1), // inside a group larger than the limit
	} {
		require.Equal(t, want, *a.feedAt(t, "/api/v1/tasks?limit="+limit).Next.Offset, "limit %s", limit)
	}
	p := a.feedAt(t, "/api/v1/tasks?descending=1&limit=3")
	require.Equal(t, "1760598969.0.1."+md5Of(id(4)), *p.Prev.Offset, "prev_page uses the first row")
	require.Equal(t, "1760598968.5.2."+md5Of(id(2), id(3)), *p.Next.Offset, "sorted ids, whatever the direction")

	second := a.feedAt(t, "/api/v1/tasks?limit=3&offset=1760598968.5.2."+md5Of(id(1), id(2)))
	require.Equal(t, []string{id(3), id(4)}, second.ids(t))
	require.Equal(t, "1760598968.5.1."+md5Of(id(3)), *second.Prev.Offset, "of what this page serves")
	third := a.feedAt(t, "/api/v1/tasks?limit=3&descending=1&offset="+*second.Prev.Offset)
	require.Equal(t, []string{id(2), id(1), id(0)}, third.ids(t))
}

// TestFeed10PlainDecimals: whatever is stored is told in plain digits that are accepted again.
func TestFeed10PlainDecimals(t *testing.T) {
	t.Parallel()
	var rows []bson.D
	for n, at := range []any{0.0, 5e-324, 1e-7, 0.001, int32(7), int64(1760598968), 1760598968.123, 1e11, 253402300799.999} {
		rows = append(rows, append(entry(n, 0, ""), bson.E{Key: "feed", Value: "live"}))
		rows[n][1].Value = at
	}
	a := servedTasks(t, rows...)
	require.Equal(t, hexIDs(0, len(rows)), a.feedWalk(t, nil, 1))
	for p := a.feedAt(t, "/api/v1/tasks?limit=1"); len(p.Data) > 0; p = a.feedAt(t, p.Next.Path) {
		require.Regexp(t, `^[0-9]+\.[0-9]+\.1\.[0-9a-f]{32}$`, *p.Next.Offset)
	}
}

// TestFeed10RowsWithoutAPlace: what other programs store under the feed's names is passed over, and shortens no page.
func TestFeed10RowsWithoutAPlace(t *testing.T) {
	t.Parallel()
	rows := planted(10)
	for _, at := range []any{bson.A{start + 3}, bson.NewDecimal128(0x3040000000000000, 5), "text", nil, -5.0, 1e300, bson.DateTime(5)} {
		rows = append(rows, bson.D{{Key: "_id", Value: bson.NewObjectID()}, {Key: "feed", Value: "live"}, {Key: "public_modified", Value: at}})
	}
	rows = append(rows, bson.D{{Key: "_id", Value: "text"}, {Key: "feed", Value: "live"}, {Key: "public_modified", Value: start + 4}})
	a := servedTasks(t, rows...)
	for _, limit := range []int{1, 3, 4, 100} {
		require.Equal(t, hexIDs(0, 10), a.feedWalk(t, nil, limit))
	}
}

func TestFeed11Reading(t *testing.T) {
	t.Parallel()
	a := servedTasks(t, entry(2, start, "live"), entry(4, start, "live"), entry(9, start+1, "live"))
	id := func(n int) string { return feedID(n).Hex() }
	read := func(offset string) []string { return a.feedPage(t, "tasks", url.Values{"offset": {offset}}).ids(t) }
	both := "1760598968.0.2." + md5Of(id(2), id(4))

	require.Equal(t, []string{id(9)}, read(both), "those served are hidden")
	require.Equal(t, []string{id(4), id(9)}, read("1760598968.0.1."+md5Of(id(2))))
	require.Equal(t, []string{id(9)}, read(strings.ToUpper(both)), "hex digits in any case")
	for _, other := range []string{"1760598968.0.1." + md5Of(id(4)), "1760598968.0.3." + md5Of(id(2), id(4), id(9)), "1760598968.0.2." + md5Of("x")} {
		require.Equal(t, []string{id(2), id(4), id(9)}, read(other), "others than those served: the whole group again")
	}

	plant(t, a.db, tasks.Collection, entry(5, start, "live"))
	require.Equal(t, []string{id(5), id(9)}, read(both), "one came behind those served")
	plant(t, a.db, tasks.Collection, entry(1, start, "live"))
	require.Equal(t, []string{id(1), id(2), id(4), id(5), id(9)}, read(both), "one came before: never skipped")
	_, err := a.db.Collection(tasks.Collection).DeleteMany(t.Context(), bson.M{"public_modified": start})
	require.NoError(t, err)
	require.Equal(t, []string{id(9)}, read(both), "an offset whose objects are gone is still good")
	require.Equal(t, []string{id(9)}, read("1760598968.0.0.00000000"+id(4)))
}

func TestFeed12PlainOffsets(t *testing.T) {
	t.Parallel()
	a := servedTasks(t,
		entry(0, start, "live"), entry(1, start+0.123, "live"), entry(2, start+0.124, "live"), entry(3, start+1, "live"))
	for offset, first := range map[string]int{
		"1760598967": 0, "0": 0, "20260101": 0,
		"1760598968": 1, "1760598968.0": 1, "1760598968.122": 1,
		"1760598968.123": 2, "1760598968.124": 3, "1760598969": 4, "99999999999999999999": 4,
		"2025-10-16T07:16:08Z": 1, "2025-10-16T10:16:08+03:00": 1, "2025-10-16T10:16:08 03:00": 1, "2025-10-16T07:16:08": 1,
		"2025-10-16T07:16:08.123Z": 2, "2025-10-16T07:16:08.123999": 2, "2025-10-16": 0, "1969-07-20T20:17:40Z": 0,
	} {
		forward := a.feedPage(t, "tasks", url.Values{"offset": {offset}})
		require.Equal(t, hexIDs(first, 4), forward.ids(t), offset)
	}
	raw := a.feedAt(t, "/api/v1/tasks?offset=2025-10-16T10:16:08.123+03:00") // the + arrives as a space
	require.Equal(t, hexIDs(2, 4), raw.ids(t))

	back := func(offset string) []string {
		ids := a.feedPage(t, "tasks", url.Values{"offset": {offset}, "descending": {"1"}}).ids(t)
		slices.Reverse(ids)
		return ids
	}
	require.Equal(t, hexIDs(0, 1), back("1760598968.123"), "exclusive in both directions")
	require.Equal(t, hexIDs(0, 2), back("2025-10-16T07:16:08.123999Z"), "behind the millisecond that it is cut to")
	require.Empty(t, back("1969-07-20"))
}

func TestFeed13InvalidOffsets(t *testing.T) {
	t.Parallel()
	a := servedTasks(t, planted(2)...)
	hash := md5Of("x")
	for _, offset := range []string{
		"latest", "nan", "inf", "-inf", "1e9", " 5", "+5", "5 ", "-5", "٥", "1760598968.", "1760598968,5", "\x00", "1;2", "%",
		"1760598968.1." + hash, "1760598968.0.1.g" + hash[1:], "1760598968.0.1." + hash[1:], "1760598968.0.1." + hash + "0",
		"1760598968.0.-1." + hash, "1760598968.0.1001." + hash, "1760598968.0.99999999999999999999." + hash, "1760598968.0.0." + hash,
		"nan.0.1." + hash, "1.0.1.1." + hash, "2026-02-30", "31.01.2026",
	} {
		for _, descending := range []string{"", "1"} {
			res := a.get(t, "/api/v1/tasks?"+url.Values{"offset": {offset}, "descending": {descending}}.Encode())
			require.Equal(t, http.StatusNotFound, res.status, "%q: %s", offset, res.body)
			location, name, description := res.feedError(t)
			require.Equal(t, "querystring offset", location+" "+name)
			require.Equal(t, "Invalid offset provided: "+offset, description)
		}
	}
	require.Equal(t, `{"status":"error","errors":[{"location":"querystring","name":"offset",`+ //nolint:testifylint // to the letter
		`"description":"Invalid offset provided: <X>"}]}`+"\n", string(a.get(t, "/api/v1/tasks?offset=<X>").body))
	for _, oversized := range []string{strings.Repeat("9", 600), strings.Repeat("9", 400), "1." + strings.Repeat("0", 20_000)} {
		res := a.get(t, "/api/v1/tasks?offset="+oversized)
		require.Equal(t, http.StatusNotFound, res.status)
		require.Less(t, len(res.body), 1000, "an oversized offset is not said back whole")
	}
	for _, query := range []string{"offset=%ZZ", "offset=1;limit=2", "%", "limit=2&x=%f"} {
		for _, path := range []string{"/api/v1/tasks", "/api/v1/tasks/" + feedID(0).Hex()} {
			res := a.get(t, path+"?"+query)
			require.Equal(t, http.StatusNotFound, res.status, "%s: never page one", query)
			location, _, _ := res.feedError(t)
			require.Equal(t, "querystring", location)
		}
	}
}

// crawler is a client as the feed has them: it goes by offsets, starts in both directions at once, and keeps the last
// dateModified of each object.
type crawler struct {
	a     *api
	limit int
	copy  map[string]string // id → dateModified
	seen  int
}

func (c *crawler) ask(t require.TestingT, offset, descending string) feedPage {
	query := url.Values{
		"offset": {offset}, "descending": {descending}, "limit": {strconv.Itoa(c.limit)}, "mode": {"_all_"}, "opt_fields": {""},
	}
	p := c.a.feedPage(t, "tasks", query)
	require.LessOrEqual(t, len(p.Data), c.limit)
	if descending == "" {
		require.NotNil(t, p.Next, "a forward page always leads on")
	}
	if len(p.Data) > 0 {
		require.NotNil(t, p.Next)
		seconds, _, _ := strings.Cut(*p.Next.Offset, ".")
		require.Regexp(t, `^[0-9]+$`, seconds, "whole seconds are the first part of an offset")
	}
	for _, item := range p.Data {
		row := decodeObject(t, item)
		c.seen++
		c.copy[string(row["id"])] = max(c.copy[string(row["id"])], string(row["dateModified"]))
	}
	return p
}

// run starts in both directions and reads to both ends; between is called between the pages.
func (c *crawler) run(t require.TestingT, between func()) {
	first := c.ask(t, "", "1")
	require.NotNil(t, first.Prev, "the start of the forward walk")
	forward, back := *first.Prev.Offset, first.Next
	for pages := 0; ; pages++ {
		require.Less(t, pages, 10_000, "the walks do not end")
		if back != nil {
			back = c.ask(t, *back.Offset, "1").Next // none where the page is empty
		}
		p := c.ask(t, forward, "")
		forward = *p.Next.Offset
		if back == nil && len(p.Data) < c.limit { // caught up, as it believes
			return
		}
		between()
	}
}

func newCrawler(a *api, limit int) *crawler {
	return &crawler{a: a, limit: limit, copy: map[string]string{}}
}

// stored is what a copy of the database's tasks should hold.
func storedTasks(t require.TestingT, a *api) map[string]string {
	out := map[string]string{}
	for _, doc := range mongotest.Everything(t, a.db.Collection(tasks.Collection), bson.D{}) {
		at := doc.Lookup("dateModified").Time().UTC().Format("2006-01-02T15:04:05.000Z")
		out[`"`+doc.Lookup("_id").ObjectID().Hex()+`"`] = `"` + at + `"`
	}
	return out
}

// TestCrawlerReadsToTheEnd: on a quiet feed each object is seen once, whatever the groups.
func TestCrawlerReadsToTheEnd(t *testing.T) {
	t.Parallel()
	var rows []bson.D
	for n := range 60 {
		rows = append(rows, entry(n, start+float64([]int{0, 0, 0, 1, 2, 3, 3}[n%7]+n/20*10), []string{"live", "test"}[n%2]))
	}
	a := servedTasks(t, rows...)
	for limit := 1; limit <= 7; limit++ {
		c := newCrawler(a, limit)
		c.run(t, func() {})
		require.Equal(t, storedTasks(t, a), c.copy)
		require.Equal(t, len(rows), c.seen, "limit %d: each once", limit)
	}
	empty := servedTasks(t)
	c := newCrawler(empty, 5)
	c.run(t, func() {})
	require.Empty(t, c.copy)
}

// TestCrawlerDuringWrites: with writes between its pages it ends with the last state of everything.
func TestCrawlerDuringWrites(t *testing.T) {
	t.Parallel()
	a := servedTasks(t, planted(80)...)
	for _, limit := range []int{3, 10} {
		clock, writes := start+1000*float64(limit), 0
		c := newCrawler(a, limit)
		between := func() {
			if writes++; writes > 20 {
				return
			}
			clock += float64(writes%3) / 1000 // some share a timestamp
			set := bson.M{"$set": bson.M{"public_modified": clock, "dateModified": bson.DateTime(clock*1000 + 0.5)}}
			_, err := a.db.Collection(tasks.Collection).UpdateByID(t.Context(), feedID(writes*37%80), set)
			require.NoError(t, err)
		}
		c.run(t, between)
		require.Equal(t, storedTasks(t, a), c.copy)
	}
}

// TestCrawlerKeepsItsPosition: whatever offset was given out is accepted in both directions, however old, also when all
// objects are gone; and a refusal of anything else is a 404.
func TestCrawlerKeepsItsPosition(t *testing.T) {
	t.Parallel()
	var rows []bson.D
	for n := range 30 {
		rows = append(rows, entry(n, start+float64(n/6), "live"))
	}
	a := servedTasks(t, rows...)
	given := map[string]bool{}
	for limit := 1; limit <= 8; limit++ {
		for _, descending := range []string{"", "1"} {
			query := url.Values{"limit": {strconv.Itoa(limit)}, "descending": {descending}}
			for {
				p := a.feedPage(t, "tasks", query)
				for _, link := range []*feedLink{p.Next, p.Prev} {
					if link != nil {
						given[*link.Offset] = true
					}
				}
				if len(p.Data) == 0 {
					break
				}
				query.Set("offset", *p.Next.Offset)
			}
		}
	}
	require.Greater(t, len(given), 50)
	_, err := a.db.Collection(tasks.Collection).DeleteMany(t.Context(), bson.D{})
	require.NoError(t, err)
	for offset := range given {
		for _, descending := range []string{"", "1"} {
			p := a.feedPage(t, "tasks", url.Values{"offset": {offset}, "descending": {descending}})
			require.Empty(t, p.Data)
		}
	}
}
