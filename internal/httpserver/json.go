package httpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/gin-gonic/gin"
)

// WriteJSON answers with v, not to be stored by caches. It encodes before the status is sent: what cannot be encoded
// is an error, not an empty 200. Texts are written as they are, without escapes for HTML.
func WriteJSON(c *gin.Context, status int, v any) error {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	h := c.Writer.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	c.Writer.WriteHeader(status)
	_, _ = c.Writer.Write(body.Bytes()) // it fails where the client has left: there is nobody to tell
	return nil
}
