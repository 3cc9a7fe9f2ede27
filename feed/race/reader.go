package race

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/instant"
)

const (
	pageLimit = 1000
	// pollInterval is how soon a follower that has caught up asks again. A crawler sleeps for seconds; one that asks
	// all the time is the one to show what can be lost.
	pollInterval = 10 * time.Millisecond
	// settle is how much longer than the delay followers go on after the last write.
	settle = 100 * time.Millisecond
	// catchUp bounds how long a follower may take to come to the end after that.
	catchUp = 30 * time.Second
	// maxPageBytes bounds what is read of an answer: a page is some 100 bytes a row.
	maxPageBytes = 4 << 20
	// shownBytes of an answer that is no page go into the error.
	shownBytes = 200
)

// Sightings are when a follower first saw each version, by this process's clock.
type Sightings map[Version]time.Time

// finish tells followers that the writing has ended, and from when on the feed shows all of it.
type finish struct {
	ended chan struct{}
	from  time.Time // set before ended is closed
}

func (f *finish) announce(from time.Time) {
	f.from = from
	close(f.ended)
}

// shown reports whether a page that was asked for at a moment could show every write.
func (f *finish) shown(asked time.Time) bool {
	select {
	case <-f.ended:
		return asked.After(f.from)
	default:
		return false
	}
}

// follower reads one feed forward, by the offsets that it gets.
type follower struct {
	client *http.Client
	feed   string // the address of the feed
}

// follow reads from the beginning of the feed until it has seen the end of it after the finish.
func (f follower) follow(ctx context.Context, end *finish) (Sightings, error) {
	seen := Sightings{}
	offset := ""
	for {
		asked := time.Now()
		got, err := f.page(ctx, offset)
		if err != nil {
			return nil, err
		}
		now := time.Now()
		for _, v := range got.versions {
			if _, again := seen[v]; !again {
				seen[v] = now
			}
		}
		offset = got.next
		shown := end.shown(asked)
		switch full := len(got.versions) >= pageLimit; {
		case shown && !full:
			return seen, nil
		case shown && asked.Sub(end.from) > catchUp:
			return nil, fmt.Errorf("the follower did not come to the end of the feed within %s", catchUp)
		case !full:
			if err := wait(ctx, pollInterval); err != nil {
				return nil, err
			}
		}
	}
}

// page is what a follower needs of a page.
type page struct {
	versions []Version
	next     string // the offset
}

func (f follower) page(ctx context.Context, offset string) (page, error) {
	query := url.Values{"limit": {strconv.Itoa(pageLimit)}}
	if offset != "" {
		query.Set("offset", offset)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.feed+"?"+query.Encode(), http.NoBody)
	if err != nil {
		return page{}, err
	}
	res, err := f.client.Do(req)
	if err != nil {
		return page{}, fmt.Errorf("read the feed: %w", err)
	}
	defer func() { _ = res.Body.Close() }() // it has been read
	body, err := io.ReadAll(io.LimitReader(res.Body, maxPageBytes))
	if err != nil {
		return page{}, fmt.Errorf("read the feed: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return page{}, fmt.Errorf("the feed answers %s to the offset %q: %.*s", res.Status, offset, shownBytes, body)
	}
	return parsePage(body)
}

func parsePage(body []byte) (page, error) {
	var wire struct {
		Data []struct {
			ID           bson.ObjectID   `json:"id"`
			DateModified instant.Instant `json:"dateModified"`
		} `json:"data"`
		NextPage *struct {
			Offset string `json:"offset"`
		} `json:"next_page"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return page{}, fmt.Errorf("a page of the feed: %w", err)
	}
	if wire.NextPage == nil || (wire.NextPage.Offset == "" && len(wire.Data) > 0) {
		return page{}, errors.New("a page of the feed has no offset of the next one")
	}
	out := page{versions: make([]Version, len(wire.Data)), next: wire.NextPage.Offset}
	for i, row := range wire.Data {
		out.versions[i] = Version{ID: row.ID, Stamp: row.DateModified}
	}
	return out, nil
}
