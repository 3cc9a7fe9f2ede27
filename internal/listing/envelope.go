package listing

import (
	"bytes"
	"encoding/json"

	"catalogue/internal/httpserver"
	"catalogue/internal/instant"
	"catalogue/pagination"
)

// envelope is the answer of every list: {"data": [items…], "meta": {…}}.
type envelope struct {
	items []json.RawMessage
	meta  meta
}

// meta has its three keys always; the totals are set on the first page only.
type meta struct {
	NextCursor *string               `json:"next_cursor"`
	Total      *int64                `json:"total"`
	TotalKind  *pagination.TotalKind `json:"total_kind"`
	TotalAsOf  *instant.Instant      `json:"total_as_of,omitempty"` // of a cached total
}

// newEnvelope makes the answer. next is empty on the last page, total is nil on every page but the first.
func newEnvelope(items []json.RawMessage, next string, total *pagination.Total) envelope {
	out := envelope{items: items}
	if next != "" {
		out.meta.NextCursor = &next
	}
	if total == nil {
		return out
	}
	out.meta.Total, out.meta.TotalKind = total.Count, &total.Kind
	if total.AsOf != nil {
		if at, err := instant.FromTime(*total.AsOf); err == nil {
			out.meta.TotalAsOf = &at
		}
	}
	return out
}

// encode puts the items in as they are: encoding/json would read each of them again.
func (e envelope) encode() ([]byte, error) {
	meta, err := httpserver.EncodeJSON(e.meta)
	if err != nil {
		return nil, err
	}
	body := make([]byte, 0, e.size()+len(meta))
	body = append(body, `{"data":[`...)
	for i, item := range e.items {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, item...)
	}
	body = append(body, `],"meta":`...)
	body = append(body, bytes.TrimSuffix(meta, []byte("\n"))...)
	return append(body, "}\n"...), nil
}

// size is about that of the answer without its meta.
func (e envelope) size() int {
	n := len(`{"data":[],"meta":}`) + 1
	for _, item := range e.items {
		n += len(item) + 1
	}
	return n
}
