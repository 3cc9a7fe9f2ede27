package httpserver

import (
	"context"
	"log/slog"

	"github.com/gin-gonic/gin"
)

const (
	requestIDHeader  = "X-Request-Id"
	maxRequestIDSize = 128
)

type requestIDKey struct{}

// RequestID returns the id of the request that ctx belongs to, or nothing.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// identify gives each request an id: the caller's where it is sane, so that one id leads through several services,
// else a new one.
func identify(newID func() string) gin.HandlerFunc {
	return func(c *gin.Context) {
		id := c.Request.Header.Get(requestIDHeader)
		if !saneRequestID(id) {
			id = newID()
		}
		c.Request = c.Request.WithContext(context.WithValue(c.Request.Context(), requestIDKey{}, id))
		c.Header(requestIDHeader, id)
	}
}

// saneRequestID accepts visible ASCII: nothing that breaks a line of a log or a header.
func saneRequestID(id string) bool {
	if id == "" || len(id) > maxRequestIDSize {
		return false
	}
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return true
}

// LogHandler adds the id of the context's request to every line that next writes.
func LogHandler(next slog.Handler) slog.Handler {
	if _, ok := next.(requestIDHandler); ok {
		return next
	}
	return requestIDHandler{next}
}

type requestIDHandler struct{ slog.Handler }

// Handle adds the id and hands the record on.
func (h requestIDHandler) Handle(ctx context.Context, r slog.Record) error {
	if id := RequestID(ctx); id != "" {
		r = r.Clone()
		r.AddAttrs(slog.String("request_id", id))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs keeps the wrapper.
func (h requestIDHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return requestIDHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup keeps the wrapper.
func (h requestIDHandler) WithGroup(name string) slog.Handler {
	return requestIDHandler{h.Handler.WithGroup(name)}
}
