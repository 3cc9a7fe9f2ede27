// Package httpserver is the HTTP edge: the engine, what every request goes through, and the graceful stop.
package httpserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
)

// The limits of a connection.
const (
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 2 * time.Minute
	// Bodies and answers may take this much longer than the request's own time. Less than the request's time would
	// end long requests: net/http takes the end of ReadTimeout for the client's leaving.
	readAllowance  = 20 * time.Second
	writeAllowance = 30 * time.Second
	// A cursor is at most 96 KiB of URL, and headers of proxies come on top.
	maxHeaderBytes = 256 << 10
	// When the server takes no more connections, one that is just made has this long to send its request.
	silentGrace = 200 * time.Millisecond
)

// Options are what a Server needs.
type Options struct {
	Logger         *slog.Logger
	Readiness      Readiness
	TrustedProxies []string      // addresses and networks whose X-Forwarded-For is believed; none where empty
	RequestTimeout time.Duration // how long a request may take
	ShutdownGrace  time.Duration // how long a stop may take, after which requests that go on are cut off
	// ShutdownDrain is how much of that the server goes on taking connections, with /readyz at 503: as long as load
	// balancers take to see it.
	ShutdownDrain time.Duration
	NewRequestID  func() string // nil for random ones
	// Foreign are routes whose clients know errors of another form only. The zero value is none.
	Foreign Foreign
}

// Foreign are the routes below a path whose errors have another form. Their handlers answer queries that cannot be read
// by themselves.
type Foreign struct {
	Prefix string                          // such as /api/v1/
	Fail   func(c *gin.Context, err error) // answers for paths and methods that there are none of
}

// covers reports whether a path is below the prefix.
func (f Foreign) covers(path string) bool { return f.Prefix != "" && strings.HasPrefix(path, f.Prefix) }

// Server is the HTTP server.
type Server struct {
	engine   *gin.Engine
	http     *http.Server
	log      *slog.Logger
	grace    time.Duration
	drain    time.Duration
	stopping atomic.Bool
	silent   silentConns
}

// New makes a server with the routes /healthz and /readyz. It fails where a trusted proxy is no address or network.
func New(o Options) (*Server, error) {
	if o.NewRequestID == nil {
		o.NewRequestID = rand.Text
	}
	s := &Server{
		engine: gin.New(), log: slog.New(LogHandler(o.Logger.Handler())), grace: o.ShutdownGrace, drain: o.ShutdownDrain,
		silent: silentConns{open: map[net.Conn]struct{}{}},
	}
	if err := s.engine.SetTrustedProxies(o.TrustedProxies); err != nil {
		return nil, fmt.Errorf("the trusted proxies: %w", err)
	}
	s.engine.RedirectTrailingSlash = false
	s.engine.RedirectFixedPath = false
	s.engine.HandleMethodNotAllowed = true
	s.engine.Use(
		s.sayGoodbye(), identify(o.NewRequestID), accessLog(s.log), answerProblems(s.log), recoverPanics(), strictQuery(o.Foreign),
		deadline(o.RequestTimeout),
	)
	s.engine.NoRoute(o.Foreign.handle(noRoute))
	s.engine.NoMethod(o.Foreign.handle(noMethod))
	s.registerHealth(o.Readiness)
	s.http = &http.Server{
		Handler:           headAsGet(s.engine),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       o.RequestTimeout + readAllowance,
		WriteTimeout:      o.RequestTimeout + writeAllowance,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		ConnState:         s.silent.track,
	}
	return s, nil
}

// Routes is where handlers are registered, before Run.
func (s *Server) Routes() gin.IRouter { return s.engine }

// Handler is the whole server but its connections, for tests.
func (s *Server) Handler() http.Handler { return s.http.Handler }

// Run serves until ctx is done and then stops: /readyz answers 503, and after the drain time the listener closes,
// accepted requests end, idle and silent connections are closed. After the grace time everything is closed. Run
// closes the listener.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	served := make(chan error, 1)
	go func() { served <- s.http.Serve(listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve HTTP: %w", err)
	case <-ctx.Done():
	}
	s.stop(context.WithoutCancel(ctx), listener)
	if err := <-served; !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("serve HTTP: %w", err)
	}
	return nil
}

// stop lets go of the connections in order. net/http's Shutdown comes last: from its first moment on it drops every
// request that it has not yet read, also on connections that were accepted long before.
func (s *Server) stop(ctx context.Context, listener net.Listener) {
	began := time.Now()
	s.stopping.Store(true)
	s.log.InfoContext(ctx, "stopping", slog.String("drain", s.drain.String()), slog.String("grace", s.grace.String()))
	ctx, cancel := context.WithTimeout(ctx, s.grace)
	defer cancel()
	pause(ctx, s.drain)
	_ = listener.Close() // Serve tells what it has to say
	pause(ctx, silentGrace)
	s.silent.closeAll()
	if err := s.http.Shutdown(ctx); err != nil {
		s.log.WarnContext(ctx, "requests are cut off", slog.Any("error", err))
		_ = s.http.Close() // its errors are those of connections that are gone
	}
	s.log.InfoContext(ctx, "stopped", slog.String("after", time.Since(began).Round(time.Millisecond).String()))
}

// pause waits, at most until ctx is done.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// sayGoodbye ends each connection with its answer while the server stops, so that its client sends the next request
// elsewhere.
func (s *Server) sayGoodbye() gin.HandlerFunc {
	return func(c *gin.Context) {
		if s.stopping.Load() {
			c.Header("Connection", "close")
		}
	}
}
