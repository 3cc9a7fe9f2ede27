// Package follower keeps a copy of one feed of the catalogue in a folder, as an outside system does: by offsets alone,
// with a backward walk over what there is and a forward walk over what changes, both at once.
//
// The copy holds each object as the feed last showed it. Of an object that was deleted, became a draft or changed its
// mode, the feed says nothing: Verify finds those.
//
// # The folder
//
//	copy.jsonl     an entry of the feed a line, with id, dateModified, public_modified and the fields asked for.
//	               Lines are added at the end; of several with one id the last counts. It is rewritten with the lines
//	               that count where most do not, and when the follower ends.
//	position.json  version (1), feed (url, mode, opt_fields), begun, forward and backward (the offsets that the walks go on
//	               with), backward_done, bytes: how much of copy.jsonl is safe, and during a compaction compacted:
//	               bytes and sha256 of the copy that takes its place.
//	lock           locked with flock while a follower works there; it stays, and is empty.
//	*.tmp          a file that is being written; cleared away at the next start.
//
// A page is written to copy.jsonl and made safe (fsync) before position.json is. That one is replaced: written under
// another name, fsync, renamed, fsync of the folder. So a follower that was killed anywhere goes on with the page that it
// had not finished: what copy.jsonl holds behind bytes, a torn line included, is cut off and asked for again.
//
// A compaction writes the new copy and makes it safe, names it in position.json as compacted, renames it, and names its
// size alone. After a kill in between, a copy of at least bytes is the old one, and a shorter one with the size and the
// digest of compacted the new one: both are whole. Any other copy that is shorter than bytes, or is not there, has lost
// lines that the offsets are past. It is refused with ErrShort. With Mend its whole lines are kept and the position is
// put back to the beginning before anything else, so that a walk brings again what is lost; Verify does it at once.
package follower

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// The bounds of a page: the server serves no larger one, and one that it cut would look like the last.
const (
	LeastLimit = 1
	MostLimit  = 1000
)

// DefaultFirstPause is the pause after a first failure. It doubles with each further one, up to 30 s.
const DefaultFirstPause = 500 * time.Millisecond

// DefaultTimeout bounds one request with its whole answer. A slower one is repeated.
const DefaultTimeout = time.Minute

// Options say which feed is copied where.
type Options struct {
	URL      string   // the server's address, http or https, without /api/v1
	Resource string   // creatives, tasks or comments
	Mode     string   // "" for the objects that are no tests, test for those, _all_ for both
	Fields   []string // opt_fields; public_modified need not be named
	Dir      string   // the folder, made where there is none
	Limit    int      // rows a page, LeastLimit to MostLimit

	Once       bool          // Follow returns when it has caught up
	Interval   time.Duration // between a page that was not full and the next look
	GiveUp     time.Duration // the longest time without an answer that is borne; 0 bears any
	FirstPause time.Duration // DefaultFirstPause where 0
	Timeout    time.Duration // of one request with its whole answer; DefaultTimeout where 0
	Restart    bool          // what is in the folder is dropped first
	Moved      bool          // a copy of this feed from another address is taken over: it has the same objects and offsets
	Mend       bool          // a copy that has lost a part is taken, and walked for from the beginning

	Progress func(Progress) // told after each page, one call at a time; nil is not told
	Note     func(string)   // told of what is borne, such as failures, possibly by two at once; nil is not told
}

// Progress is how far a follower is.
type Progress struct {
	Rows    int // that came in this page
	Entries int // objects in the copy
	// CaughtUp says that the page was the forward walk's last for now.
	CaughtUp bool
}

// Follower is one process's hold on a folder. Make it with Open. One of Follow and Verify runs at a time.
type Follower struct {
	options Options
	client  *client
	store   *store

	progress sync.Mutex // one call at a time
}

// Open takes the folder. It fails with ErrBusy where another follower has it, ErrOther where it is a copy of something
// else, ErrMoved where it is one from another address, ErrShort where a part of it is lost, and ErrDamaged where its
// files cannot be read.
func Open(o Options) (*Follower, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	o.FirstPause = cmp.Or(o.FirstPause, DefaultFirstPause)
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	fields := slices.Sorted(slices.Values(append([]string{publicModified}, o.Fields...)))
	feed := identity{
		URL:       strings.TrimRight(o.URL, "/") + "/api/v1/" + o.Resource,
		Mode:      o.Mode,
		OptFields: strings.Join(slices.Compact(fields), ","),
	}
	s, err := openStore(o, feed)
	if err != nil {
		return nil, err
	}
	// a transport of its own, whose connections end with the follower; both walks keep theirs
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second,
	}
	return &Follower{options: o, store: s, client: &client{
		http: &http.Client{Transport: transport}, base: feed.URL, limit: o.Limit, mode: o.Mode, fields: feed.OptFields,
		giveUp: o.GiveUp, firstPause: o.FirstPause, timeout: o.Timeout, note: o.Note,
	}}, nil
}

// Check reports every mistake at once.
func (o Options) Check() error {
	var mistakes []error
	if err := checkAddress(o.URL); err != nil {
		mistakes = append(mistakes, err)
	}
	if o.Resource == "" || strings.ContainsAny(o.Resource, "/?#%") {
		mistakes = append(mistakes, fmt.Errorf("the resource %q is no name", o.Resource))
	}
	if o.Dir == "" {
		mistakes = append(mistakes, errors.New("the folder has no name"))
	}
	if o.Limit < LeastLimit || o.Limit > MostLimit {
		mistakes = append(mistakes, fmt.Errorf("the limit %d is not from %d to %d", o.Limit, LeastLimit, MostLimit))
	}
	if o.Interval <= 0 {
		mistakes = append(mistakes, errors.New("the interval is not positive"))
	}
	if o.GiveUp < 0 || o.FirstPause < 0 || o.Timeout < 0 {
		mistakes = append(mistakes, errors.New("a time is negative"))
	}
	return errors.Join(mistakes...)
}

func checkAddress(text string) error {
	address, err := url.Parse(text)
	if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		return errors.New("the address of the server is none such as http://127.0.0.1:8080")
	}
	if address.User != nil || address.RawQuery != "" || address.Fragment != "" {
		return errors.New("the address of the server must have no credentials, query or fragment")
	}
	return nil
}

// Close leaves the copy with one line an object, and the folder to other followers.
func (f *Follower) Close() error {
	f.client.http.CloseIdleConnections()
	return f.store.close()
}

// Entries returns how many objects the copy holds.
func (f *Follower) Entries() int { return f.store.entries() }
