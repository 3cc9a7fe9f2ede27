package problem

import (
	"bytes"
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
	WriteStatus(w, p, p.Status(), instance, requestID)
}

// WriteStatus is Write with a status that the route has fixed, whatever the problem is: a check of readiness answers
// 503 for each of its reasons.
func WriteStatus(w http.ResponseWriter, p *Problem, status int, instance, requestID string) {
	title := http.StatusText(status)
	if status == StatusClientClosed {
		title = "Client Closed Request"
	}
	body := encode(document{
		Type: "about:blank", Title: title, Status: status, Detail: p.Detail,
		Instance: Short(instance), Code: p.Code, RequestID: requestID, Errors: p.Errors,
	})
	h := w.Header()
	h.Set("Content-Type", ContentType)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	for name, value := range p.Header {
		h.Set(name, value)
	}
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(p.RetryAfter.Seconds()))))
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have left; there is nobody to tell
}

// encode writes texts as they are: what goes into an HTML page is for the page to escape.
func encode(doc document) []byte {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(doc); err != nil { // plain strings and numbers only: cannot happen, and must not hide the status if it does
		return []byte(`{"type":"about:blank","code":"internal"}`)
	}
	return body.Bytes()
}
