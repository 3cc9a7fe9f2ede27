package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
)

const (
	clients   = 256      // that can ask at once, each on a connection that it keeps
	pageBytes = 64 << 10 // a page of 50 creatives fits
	shownBody = 500      // bytes of a wrong answer that its error shows
)

// Page is an answer of a list.
type Page struct {
	Body []byte
}

// newClient has connections of its own, so that those of one service do not outlive it.
func newClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		MaxIdleConns: clients, MaxIdleConnsPerHost: clients, DisableCompression: true,
	}}
}

// Page gets one page; target is path and query. Any status but 200 is an error that shows the answer's beginning. The
// body is read to its end and not parsed.
func (s *Service) Page(ctx context.Context, target string) (Page, error) {
	res, err := s.get(ctx, target)
	if err != nil {
		return Page{}, err
	}
	defer func() { _ = res.Body.Close() }()
	body := bytes.NewBuffer(make([]byte, 0, max(res.ContentLength+bytes.MinRead, pageBytes)))
	if _, err := body.ReadFrom(res.Body); err != nil {
		return Page{}, fmt.Errorf("read %s: %w", target, err)
	}
	if res.StatusCode != http.StatusOK {
		return Page{}, fmt.Errorf("%s answers %d: %s", target, res.StatusCode, body.Next(shownBody))
	}
	return Page{Body: body.Bytes()}, nil
}

func (s *Service) get(ctx context.Context, target string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+target, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", target, err)
	}
	res, err := s.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", target, err)
	}
	return res, nil
}

// NextCursor is empty on the last page. It looks at the end of the body alone, where meta stands: a client that walks
// does not pay for items that it does not read.
func (p Page) NextCursor() (string, error) {
	const key = `"next_cursor":`
	at := bytes.LastIndex(p.Body, []byte(key))
	if at < 0 {
		return "", errors.New("the page has no next_cursor")
	}
	value := p.Body[at+len(key):]
	if bytes.HasPrefix(value, []byte("null")) {
		return "", nil
	}
	rest, opened := bytes.CutPrefix(value, []byte(`"`))
	cursor, _, closed := bytes.Cut(rest, []byte(`"`))
	if !opened || !closed || bytes.IndexByte(cursor, '\\') >= 0 { // cursors are base64url, which needs no escapes
		return "", fmt.Errorf("the page's next_cursor is %.40q", value)
	}
	return string(cursor), nil
}
