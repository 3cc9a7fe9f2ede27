package follower

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	// longestPause bounds the back-off after failures. What a server asks for in Retry-After may be longer.
	longestPause = 30 * time.Second
	// rateLimitPause follows a 429 that has no Retry-After: what crawlers of this feed wait.
	rateLimitPause = 10 * time.Second
	// longestRetryAfter bounds what Retry-After is believed to say.
	longestRetryAfter = 24 * time.Hour
	// largestEntry bounds an answer, by the number of its rows: the API takes no body above 1 MiB.
	largestEntry = 2 << 20
	// shownBody is how much of a refusal's body its error shows.
	shownBody = 300
)

// ErrOffset says that the server refuses an offset with 404. The copy can only be started anew.
var ErrOffset = errors.New("the server does not take the offset any more")

// client asks one feed, and repeats what may go well another time.
type client struct {
	http         *http.Client
	base         string // of the feed: http://host/api/v1/creatives
	limit        int
	mode, fields string
	giveUp       time.Duration // how long nothing but failures are borne; 0 is for ever
	firstPause   time.Duration
	timeout      time.Duration // of one request
	note         func(string)
}

// page is a page of the feed. Offsets that it does not have are nil.
type page struct {
	rows       []entry
	next, prev *string
}

// wirePage is a page as it comes.
type wirePage struct {
	Data *[]json.RawMessage `json:"data"`
	Next wireLink           `json:"next_page"`
	Prev wireLink           `json:"prev_page"`
}

// wireLink has links, too. Only its offset is used: behind a proxy the links may lead nowhere.
type wireLink struct {
	Offset *string `json:"offset"`
}

// full reports whether the walk goes on at once. A page that is not full is the end for now.
func (p page) full(limit int) bool { return len(p.rows) >= limit }

// page asks for the page behind an offset; "" is the beginning of the direction.
func (c *client) page(ctx context.Context, offset string, descending bool) (page, error) {
	query := url.Values{
		"limit": {strconv.Itoa(c.limit)}, "offset": {offset}, "mode": {c.mode}, "opt_fields": {c.fields}, "descending": {""},
	}
	if descending {
		query.Set("descending", "1")
	}
	var wire wirePage
	err := c.get(ctx, c.base+"?"+query.Encode(), int64(c.limit+1)*largestEntry, &wire)
	if refused, ok := errors.AsType[*refusal](err); ok && refused.status == http.StatusNotFound && offset != "" {
		return page{}, fmt.Errorf("%w: %q: %w", ErrOffset, offset, err)
	}
	if err != nil {
		return page{}, err
	}
	return c.readPage(wire, offset, descending)
}

func (c *client) readPage(wire wirePage, offset string, descending bool) (page, error) {
	if wire.Data == nil {
		return page{}, fmt.Errorf("%s does not answer as a feed: there is no data", c.base)
	}
	out := page{rows: make([]entry, 0, len(*wire.Data)), next: wire.Next.Offset, prev: wire.Prev.Offset}
	for _, raw := range *wire.Data {
		row, err := parseEntry(raw)
		if err != nil {
			return page{}, fmt.Errorf("%s, behind offset %q: %w", c.base, offset, err)
		}
		out.rows = append(out.rows, row)
	}
	ended := descending && len(out.rows) == 0
	if out.next == nil && !ended {
		return page{}, fmt.Errorf("%s does not answer as a feed: there is no next_page.offset behind offset %q", c.base, offset)
	}
	if len(out.rows) > 0 && out.full(c.limit) && *out.next == offset {
		return page{}, fmt.Errorf("%s does not move on: its next offset is %q again", c.base, offset)
	}
	return out, nil
}

// belongs asks for one object, and reports whether it is there and its mode is that of the feed.
func (c *client) belongs(ctx context.Context, id string) (bool, error) {
	var detail struct {
		Data struct {
			Mode string `json:"mode"`
		} `json:"data"`
	}
	err := c.get(ctx, c.base+"/"+url.PathEscape(id)+"?opt_fields=mode", largestEntry, &detail)
	if refused, ok := errors.AsType[*refusal](err); ok && refused.status == http.StatusNotFound {
		return false, nil
	}
	test := detail.Data.Mode == "test"
	switch c.mode {
	case "_all_":
		return true, err
	case "test":
		return test, err
	default:
		return !test, err
	}
}

// refusal is an answer that another try would not change.
type refusal struct {
	path   string
	status int
	text   string // the beginning of the body, or the status in words
}

func (e *refusal) Error() string { return fmt.Sprintf("%s: %d: %s", e.path, e.status, e.text) }

// failure may be over at the next try.
type failure struct {
	cause error
	wait  time.Duration // what the server asks for; 0 leaves it to the back-off
	alive bool          // the server is well, and only too busy for this client
}

func (e *failure) Error() string { return e.cause.Error() }
func (e *failure) Unwrap() error { return e.cause }

// get decodes an answer of 200, after as many tries as it takes.
func (c *client) get(ctx context.Context, address string, most int64, into any) error {
	var failing time.Time // since when
	for try := 0; ; try++ {
		err := c.try(ctx, address, most, into)
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		failed, ok := errors.AsType[*failure](err)
		if !ok {
			return err
		}
		switch {
		case failed.alive:
			failing, try = time.Time{}, 0
		case failing.IsZero():
			failing = time.Now()
		case c.giveUp > 0 && time.Since(failing) >= c.giveUp:
			return fmt.Errorf("given up after %s: %w", c.giveUp, err)
		}
		pause := failed.wait
		if pause == 0 {
			pause = backOff(c.firstPause, try)
		}
		c.note(fmt.Sprintf("%v; the next try is in %s", err, pause.Round(time.Millisecond)))
		if err := rest(ctx, pause, nil); err != nil {
			return err
		}
	}
}

// try asks once.
func (c *client) try(ctx context.Context, address string, most int64, into any) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return fmt.Errorf("ask %s: %w", address, err)
	}
	request.Header.Set("Accept", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		return &failure{cause: fmt.Errorf("no answer: %w", err)}
	}
	defer func() { _ = response.Body.Close() }() // it has been read, or is of no use
	body, err := io.ReadAll(io.LimitReader(response.Body, most+1))
	if err != nil {
		return &failure{cause: fmt.Errorf("the answer of %s is cut off: %w", c.base, err)}
	}
	if response.StatusCode != http.StatusOK {
		return unwelcome(response, body)
	}
	if int64(len(body)) > most {
		return fmt.Errorf("the answer of %s is larger than %d bytes", address, most)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s does not answer as a feed: %w", c.base, err)
	}
	return nil
}

// unwelcome sorts answers other than 200 into failures and refusals.
func unwelcome(response *http.Response, body []byte) error {
	text := strings.TrimSpace(string(body[:min(len(body), shownBody)]))
	refused := &refusal{
		path: response.Request.URL.Path, status: response.StatusCode, text: cmp.Or(text, http.StatusText(response.StatusCode)),
	}
	wait := retryAfter(response.Header.Get("Retry-After"), time.Now())
	switch status := response.StatusCode; {
	case status == http.StatusTooManyRequests:
		if wait == 0 {
			wait = rateLimitPause
		}
		return &failure{cause: refused, wait: wait, alive: true}
	case status == http.StatusNotImplemented: // the engine has no feed, and will not get one
		return refused
	case status >= http.StatusInternalServerError, status == http.StatusRequestTimeout:
		return &failure{cause: refused, wait: wait}
	default:
		return refused
	}
}

// retryAfter reads seconds or a date. It is 0 where there is neither, or nothing to wait for.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(value); err == nil {
		return time.Duration(min(max(seconds, 0), int(longestRetryAfter/time.Second))) * time.Second
	}
	if date, err := http.ParseTime(value); err == nil {
		return min(max(date.Sub(now), 0), longestRetryAfter)
	}
	return 0
}

// backOff doubles with each try up to longestPause. Half of it is chance, so that followers do not come all at once.
func backOff(first time.Duration, try int) time.Duration {
	pause := longestPause
	if try < 20 { // the shift must not overflow
		pause = min(first<<try, longestPause)
	}
	return pause/2 + rand.N(pause/2+1) //nolint:gosec // chance spreads the tries, it guards nothing
}

// rest waits until the time is over or wake is closed. It ends early with the context's error.
func rest(ctx context.Context, pause time.Duration, wake <-chan struct{}) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}
