package follower_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
)

// firstMoment is when the test's clock begins, in milliseconds. It ticks with every change.
const firstMoment = 1_760_598_968_000

// object is what the test's server stores.
type object struct {
	id, mode, text string
	modified       int64 // milliseconds
}

// testFeed is a small server with the wire format of the feed of creatives.
type testFeed struct {
	url string

	hooks sync.RWMutex // held for reading while a request is answered
	meet  meetFunc
	reply replyFunc

	mu       sync.Mutex
	objects  map[string]object
	clock    int64
	hidden   map[string]bool // held back: there, but in no page
	requests []string        // path and query
}

// meetFunc sees every request before it is answered; true says that it has answered it.
type meetFunc func(number int, w http.ResponseWriter, r *http.Request) bool

// replyFunc sees requests whose answer is made and not sent.
type replyFunc func(number int, r *http.Request)

// onMeet and onReply wait for the requests that are being answered: those of killed followers, too.
func (f *testFeed) onMeet(hook meetFunc) {
	f.hooks.Lock()
	defer f.hooks.Unlock()
	f.meet = hook
}

func (f *testFeed) onReply(hook replyFunc) {
	f.hooks.Lock()
	defer f.hooks.Unlock()
	f.reply = hook
}

func newTestFeed(t interface{ Cleanup(func()) }, objects int) *testFeed {
	f := &testFeed{objects: map[string]object{}, clock: firstMoment, hidden: map[string]bool{}}
	for i := range objects {
		f.save(fmt.Sprintf("id%05d", i), "first")
	}
	web := httptest.NewServer(f)
	t.Cleanup(web.Close)
	f.url = web.URL
	return f
}

// save creates or changes an object.
func (f *testFeed) save(id, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clock++
	f.objects[id] = object{id: id, text: text, modified: f.clock}
}

func (f *testFeed) remove(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.objects, id)
}

// edit changes an object without a stamp.
func (f *testFeed) edit(id string, change func(*object)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.objects[id]
	change(&o)
	f.objects[id] = o
}

func (f *testFeed) asked() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.requests)
}

// lines are the entries of the feed as a copy should have them, by id.
func (f *testFeed) lines() map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string]string{}
	for id, o := range f.objects {
		if o.mode == "" {
			out[id] = string(o.encode())
		}
	}
	return out
}

func (o object) encode() []byte {
	return fmt.Appendf(nil, `{"id":%q,"dateModified":%q,"public_modified":%s,"text":%q}`,
		o.id, time.UnixMilli(o.modified).UTC().Format(time.RFC3339Nano),
		strconv.FormatFloat(float64(o.modified)/1000, 'f', -1, 64), o.text)
}

func (f *testFeed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.hooks.RLock()
	defer f.hooks.RUnlock()
	f.mu.Lock()
	f.requests = append(f.requests, r.URL.RequestURI())
	number := len(f.requests)
	f.mu.Unlock()
	if f.meet != nil && f.meet(number, w, r) {
		return
	}
	path := strings.TrimPrefix(r.URL.Path, "/api/v1/creatives")
	var status int
	var answer any
	if id, detail := strings.CutPrefix(path, "/"); detail {
		status, answer = f.detail(id)
	} else {
		status, answer = f.page(r)
	}
	if f.reply != nil {
		f.reply(number, r)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // the client may be gone
}

func (f *testFeed) detail(id string) (status int, answer any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o, there := f.objects[id]
	if !there {
		return 404, map[string]any{"status": "error"}
	}
	return 200, map[string]any{"data": map[string]any{"id": id, "mode": o.mode}}
}

func (f *testFeed) page(r *http.Request) (status int, answer any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	query := r.URL.Query()
	offset, descending := query.Get("offset"), query.Get("descending") != ""
	at, ok := parseOffset(offset, descending)
	if !ok {
		return 404, map[string]any{"status": "error", "errors": []any{map[string]any{
			"location": "querystring", "name": "offset", "description": "Invalid offset provided: " + offset,
		}}}
	}
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil {
		return 400, map[string]any{"status": "error"}
	}
	rows := f.rows(at, descending, limit)
	data := []json.RawMessage{}
	for _, o := range rows {
		data = append(data, o.encode())
	}
	out := map[string]any{"data": data}
	next, prev := offset, offset
	if len(rows) > 0 {
		prev, next = printOffset(rows[0].modified), printOffset(rows[len(rows)-1].modified)
	}
	if len(rows) > 0 || !descending {
		out["next_page"] = map[string]any{"offset": next, "path": "/nowhere", "uri": "http://0.0.0.0/nowhere"}
	}
	if descending || offset != "" {
		out["prev_page"] = map[string]any{"offset": prev, "path": "/nowhere", "uri": "http://0.0.0.0/nowhere"}
	}
	return 200, out
}

func (f *testFeed) rows(at int64, descending bool, limit int) []object {
	var rows []object
	for _, o := range f.objects {
		if o.mode == "" && !f.hidden[o.id] && (descending && o.modified < at || !descending && o.modified > at) {
			rows = append(rows, o)
		}
	}
	slices.SortFunc(rows, func(a, b object) int {
		if descending {
			a, b = b, a
		}
		return cmp.Compare(a.modified, b.modified)
	})
	return rows[:min(limit, len(rows))]
}

// An offset is opaque to clients.
func printOffset(modified int64) string { return fmt.Sprintf("at %d+", modified) }

func parseOffset(offset string, descending bool) (at int64, ok bool) {
	switch {
	case offset == "" && descending:
		return 1 << 62, true
	case offset == "":
		return 0, true
	}
	digits, begins := strings.CutPrefix(offset, "at ")
	digits, ends := strings.CutSuffix(digits, "+")
	at, err := strconv.ParseInt(digits, 10, 64)
	return at, begins && ends && err == nil
}

// requireEqualCopy compares the copy on disk, one line an object, with the feed.
func requireEqualCopy(t require.TestingT, f *testFeed, dir string) {
	lines := copyLines(t, dir)
	held := map[string]string{}
	for _, line := range lines {
		held[idOf(t, line)] = line
	}
	require.Len(t, lines, len(held), "one line an object")
	require.Equal(t, f.lines(), held)
}

func idOf(t require.TestingT, line string) string {
	var row struct {
		ID string `json:"id"`
	}
	require.NoError(t, json.Unmarshal([]byte(line), &row), line)
	return row.ID
}
