package httpserver

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"catalogue/internal/problem"
)

// accessLog writes one line a request. The query is left out: a cursor holds values of rows.
func accessLog(log *slog.Logger) gin.HandlerFunc {
	return func(c *gin.Context) {
		begin, ctx := time.Now(), c.Request.Context()
		c.Next()
		status := c.Writer.Status()
		if clientLeft(ctx) { // whatever was written, nobody may have read it
			status = problem.StatusClientClosed
		}
		method, bytes := c.Request.Method, max(c.Writer.Size(), 0) // -1 where nothing was written
		if isHead(ctx) {
			method, bytes = http.MethodHead, 0
		}
		code := ""
		if last := c.Errors.Last(); last != nil {
			code = string(problem.Of(last.Err).Code)
		}
		log.LogAttrs(ctx, accessLevel(status, c.FullPath()), "request",
			slog.String("method", method),
			slog.String("route", c.FullPath()),
			slog.String("path", problem.Short(c.Request.URL.EscapedPath())),
			slog.Int("status", status),
			slog.String("code", code),
			slog.Float64("duration_ms", float64(time.Since(begin).Microseconds())/1000),
			slog.Int("bytes", bytes),
			slog.String("client_ip", c.ClientIP()),
		)
	}
}

// accessLevel follows the class of the status. A client that left is nobody's mistake, a server that is not ready has
// its own line about that, and probes that succeed say nothing new.
func accessLevel(status int, route string) slog.Level {
	switch {
	case status >= http.StatusInternalServerError && route != readyPath:
		return slog.LevelError
	case status == problem.StatusClientClosed:
		return slog.LevelInfo
	case status >= http.StatusBadRequest:
		return slog.LevelWarn
	case route == healthPath || route == readyPath:
		return slog.LevelDebug
	default:
		return slog.LevelInfo
	}
}
