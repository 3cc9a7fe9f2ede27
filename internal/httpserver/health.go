package httpserver

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/singleflight"

	"catalogue/internal/problem"
)

const (
	healthPath = "/healthz"
	readyPath  = "/readyz"

	// readyTimeout is shorter than what orchestrators usually wait for a probe.
	readyTimeout    = 1500 * time.Millisecond
	readyRetryAfter = 2 * time.Second
)

// Readiness tells whether requests can be served. Its error names what is missing; the text of a *problem.Problem is
// shown, that of any other error only logged. It must not wait behind the requests: give it connections of its own.
type Readiness interface {
	Ready(ctx context.Context) error
}

// NotReady makes an error for Readiness whose text is shown.
func NotReady(detail string) error { return &problem.Problem{Code: problem.NotReady, Detail: detail} }

type state struct {
	Status string `json:"status"`
}

// registerHealth serves /healthz, which says that the process is up and asks nobody, and /readyz.
func (s *Server) registerHealth(readiness Readiness) {
	s.engine.GET(healthPath, Handle(func(c *gin.Context) error {
		return WriteJSON(c, http.StatusOK, state{Status: "ok"})
	}))
	r := &readyHandler{server: s, readiness: readiness}
	s.engine.GET(readyPath, Handle(r.get))
}

type readyHandler struct {
	server    *Server
	readiness Readiness
	probes    singleflight.Group // probes that come together share one look
}

func (r *readyHandler) get(c *gin.Context) error {
	ctx := c.Request.Context()
	err := r.check(ctx)
	if clientLeft(ctx) {
		return ctx.Err()
	}
	if err == nil {
		return WriteJSON(c, http.StatusOK, state{Status: "ready"})
	}
	p := notReady(err)
	if p.Cause != nil {
		r.server.log.WarnContext(ctx, "not ready", slog.Any("error", p.Cause))
	}
	problem.WriteStatus(c.Writer, p, http.StatusServiceUnavailable, c.Request.URL.EscapedPath(), RequestID(ctx))
	return nil
}

// check gives up after readyTimeout also where the look itself does not.
func (r *readyHandler) check(ctx context.Context) error {
	if r.server.stopping.Load() {
		return NotReady("The server is stopping.")
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	look := r.probes.DoChan("", func() (any, error) {
		// The look belongs to all who wait for it: one of them may leave.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTimeout)
		defer cancel()
		return nil, r.readiness.Ready(ctx)
	})
	select {
	case result := <-look:
		return result.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func notReady(err error) *problem.Problem {
	p, ok := errors.AsType[*problem.Problem](err)
	if !ok {
		p = &problem.Problem{Code: problem.NotReady, Detail: "The server is not ready; the log has the cause.", Cause: err}
	}
	shown := *p
	shown.RetryAfter = max(p.RetryAfter, readyRetryAfter)
	return &shown
}
