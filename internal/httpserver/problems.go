package httpserver

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"catalogue/internal/problem"
)

// Handle makes a gin handler of one that returns its error. The error is answered and logged in one place.
func Handle(handler func(c *gin.Context) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := handler(c); err != nil {
			Fail(c, err)
		}
	}
}

// Fail ends the request with an error, for handlers and what stands before them.
func Fail(c *gin.Context, err error) {
	_ = c.Error(err) // it returns its argument
	c.Abort()
}

// answerProblems is the one place where an error becomes an answer, and where its cause is logged.
func answerProblems(log *slog.Logger) gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Next()
		last := c.Errors.Last()
		if last == nil {
			return
		}
		ctx := c.Request.Context()
		p := problem.Of(last.Err)
		if clientLeft(ctx) { // whatever went wrong then is a consequence
			p = problem.New(problem.ClientClosedRequest, "The client left before the answer.")
		}
		logCause(ctx, log, p)
		if !c.Writer.Written() { // else there is no telling any more: the status is out
			problem.Write(c.Writer, p, c.Request.URL.EscapedPath(), RequestID(ctx))
		}
	}
}

func logCause(ctx context.Context, log *slog.Logger, p *problem.Problem) {
	status := p.Status()
	if status < http.StatusInternalServerError {
		return // the client's doing; the access log has it
	}
	attrs := []slog.Attr{slog.String("code", string(p.Code)), slog.Any("error", p.Cause)}
	if panicked, ok := errors.AsType[panicError](p.Cause); ok {
		attrs = append(attrs, slog.String("stack", string(panicked.stack)))
	}
	log.LogAttrs(ctx, slog.LevelError, "request failed", attrs...)
}

// clientLeft reports whether the connection is gone. The request's deadline ends its context in another way.
func clientLeft(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// handle is Handle for what belongs to no route: an error below the foreign path is answered in its form.
func (f Foreign) handle(handler func(c *gin.Context) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		err := handler(c)
		if err != nil && f.covers(c.Request.URL.Path) {
			f.Fail(c, err)
			return
		}
		Fail(c, err)
	}
}

func noRoute(c *gin.Context) error {
	return problem.New(problem.NotFound, "There is nothing at %q.", problem.Short(c.Request.URL.EscapedPath()))
}

// noMethod finds the header Allow as gin has set it, from the routes there are. HEAD is answered wherever GET is.
func noMethod(c *gin.Context) error {
	allowed := strings.Split(c.Writer.Header().Get("Allow"), ", ")
	if slices.Contains(allowed, http.MethodGet) && !slices.Contains(allowed, http.MethodHead) {
		allowed = append(allowed, http.MethodHead)
	}
	slices.Sort(allowed)
	list := strings.Join(allowed, ", ")
	c.Header("Allow", list)
	return problem.New(problem.MethodNotAllowed, "%s is not possible here; allowed: %s.", c.Request.Method, list)
}
