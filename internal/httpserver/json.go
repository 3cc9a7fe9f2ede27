package httpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
)

// EncodeJSON writes v as answers have it, with a line feed at its end. Texts are written as they are, without escapes for
// HTML.
func EncodeJSON(v any) ([]byte, error) {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	return body.Bytes(), nil
}

// WriteJSON answers with v, not to be stored by caches. It encodes before the status is sent: what cannot be encoded
// is an error, not an empty 200.
func WriteJSON(c *gin.Context, status int, v any) error {
	body, err := EncodeJSON(v)
	if err != nil {
		return err
	}
	WriteBody(c.Writer, status, body)
	return nil
}

// WriteBody answers with JSON that is encoded already, not to be stored by caches.
func WriteBody(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // it fails where the client has left: there is nobody to tell
}
