package problem

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
)

// document is the shape of RFC 9457, with our members behind the standard ones.
type document struct {
	Type      string       `json:"type"`
	Title     string       `json:"title"`
	Status    int          `json:"status"`
	Detail    string       `json:"detail,omitempty"`
	Instance  string       `json:"instance,omitempty"`
	Code      Code         `json:"code"`
	RequestID string       `json:"request_id,omitempty"`
	Errors    []FieldError `json:"errors,omitempty"`
}

// Write answers with the problem document. instance is the path of the request.
func Write(w http.ResponseWriter, p *Problem, instance, requestID string) {
	status := p.Status()
	title := http.StatusText(status)
	if status == StatusClientClosed {
		title = "Client Closed Request"
	}
	doc := document{
		Type: "about:blank", Title: title, Status: status, Detail: p.Detail,
		Instance: instance, Code: p.Code, RequestID: requestID, Errors: p.Errors,
	}
	body, err := json.Marshal(doc)
	if err != nil { // plain strings and numbers only: cannot happen, and must not hide the status if it does
		body = []byte(`{"type":"about:blank","code":"internal"}`)
	}
	h := w.Header()
	h.Set("Content-Type", ContentType)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(p.RetryAfter.Seconds()))))
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have left; there is nobody to tell
}
