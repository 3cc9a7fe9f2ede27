package httpserver_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"catalogue/internal/httpserver"
	"catalogue/internal/problem"
)

func testLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestStopLetsRequestsFinishAndClosesTheRest(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}), make(chan struct{})
	s := start(t, httpserver.Options{}, func(r gin.IRouter) {
		catalogue(r)
		r.GET("/slow", httpserver.Handle(func(c *gin.Context) error {
			close(entered)
			<-release
			return httpserver.WriteJSON(c, http.StatusOK, "done")
		}))
	})
	silent, idle, half, busy := s.dial(), s.dial(), s.dial(), s.dial()
	_, err := io.WriteString(idle, "GET /things HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	read(t, idle, false)
	_, err = io.WriteString(half, "GET /things HTTP/1.1\r\nHo")
	require.NoError(t, err)
	_, err = io.WriteString(busy, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	<-entered

	begin := time.Now()
	s.stop()
	requireClosed(t, silent)
	requireClosed(t, idle)
	requireClosed(t, half)
	require.Less(t, time.Since(begin), 3*time.Second, "net/http by itself waits for five seconds")
	select {
	case err := <-s.done:
		require.Fail(t, "it did not wait for the request", "%v", err)
	default:
	}
	close(release)
	answer, body := read(t, busy, false)
	require.Equal(t, 200, answer.StatusCode)
	require.Contains(t, body, "done")
	require.NoError(t, <-s.done)
}

func TestRequestsThatComeWhileTheServerDrainsAreAnswered(t *testing.T) {
	t.Parallel()
	s := start(t, httpserver.Options{ShutdownDrain: patience / 2}, catalogue)
	before := s.dial()
	s.stop()
	s.log.one(t, "stopping")

	_, err := io.WriteString(before, "GET /things HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	answer, _ := read(t, before, false)
	require.Equal(t, 200, answer.StatusCode)
	require.True(t, answer.Close, "the client is asked to go elsewhere")

	probe := s.dial() // a new connection, as load balancers make them
	_, err = io.WriteString(probe, "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	answer, body := read(t, probe, false)
	require.Equal(t, 503, answer.StatusCode)
	require.Contains(t, body, "stopping")
}

func TestARequestThatIsOnItsWayAtTheStopIsAnswered(t *testing.T) {
	t.Parallel()
	s := start(t, httpserver.Options{}, catalogue)
	conn := s.dial()
	s.stop()
	s.log.one(t, "stopping")
	_, err := io.WriteString(conn, "GET /things HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	answer, _ := read(t, conn, false)
	require.Equal(t, 200, answer.StatusCode)
}

func TestStopEndsAfterTheGraceTime(t *testing.T) {
	t.Parallel()
	entered, left := make(chan struct{}), make(chan struct{})
	s := start(t, httpserver.Options{ShutdownGrace: 100 * time.Millisecond}, func(r gin.IRouter) {
		r.GET("/slow", httpserver.Handle(func(c *gin.Context) error {
			close(entered)
			<-c.Request.Context().Done()
			close(left)
			return c.Request.Context().Err()
		}))
	})
	conn := s.dial()
	_, err := io.WriteString(conn, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	<-entered
	s.stop()
	require.NoError(t, <-s.done)
	requireClosed(t, conn)
	<-left
}

func TestRunReportsABrokenListener(t *testing.T) {
	t.Parallel()
	server := newServer(t, httpserver.Options{}, io.Discard)
	err := server.Run(t.Context(), brokenListener{})
	require.ErrorContains(t, err, "serve HTTP")
}

func TestLongCursorsPassAndHugeHeadersDoNot(t *testing.T) {
	t.Parallel()
	s := start(t, httpserver.Options{}, catalogue)
	answer, _ := s.get("/things?cursor=" + strings.Repeat("x", 96<<10))
	require.Equal(t, 200, answer.StatusCode)
	answer, _ = s.send("GET /things HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("x", 200<<10) + "\r\n\r\n")
	require.Equal(t, 200, answer.StatusCode)
	answer, _ = s.send("GET /things HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("x", 300<<10) + "\r\n\r\n")
	require.Equal(t, 431, answer.StatusCode)
}

func TestReadyNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		err   error
		want  string
		never string
	}{
		{"a problem is shown", problem.New(problem.DatabaseUnavailable, "the index tasks_title is missing"), "tasks_title", ""},
		{"its status does not matter", problem.New("indexes_missing", "the index tasks_title is missing"), "indexes_missing", ""},
		{"another error is not", errors.New("dial 10.1.2.3"), "not_ready", "10.1.2.3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, httpserver.Options{Readiness: ready(func(context.Context) error { return c.err })}, nil)
			answer, body := s.get("/readyz")
			require.Equal(t, 503, answer.StatusCode)
			require.Equal(t, "application/problem+json", answer.Header.Get("Content-Type"))
			require.NotEmpty(t, answer.Header.Get("Retry-After"))
			require.Contains(t, body, c.want)
			if c.never != "" {
				require.NotContains(t, body, c.never)
				require.Equal(t, "dial 10.1.2.3", s.log.one(t, "not ready")["error"])
			}
			health, _ := s.get("/healthz")
			require.Equal(t, 200, health.StatusCode)
		})
	}
}

func TestReadyGivesUpOnALookThatHangs(t *testing.T) {
	t.Parallel()
	s := start(t, httpserver.Options{Readiness: ready(func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	})}, nil)
	begin := time.Now()
	answer, _ := s.get("/readyz")
	require.Equal(t, 503, answer.StatusCode)
	require.Less(t, time.Since(begin), patience/2)
}

func TestProbesThatComeTogetherLookOnce(t *testing.T) {
	t.Parallel()
	var looks, waiting atomic.Int32
	release := make(chan struct{})
	server := newServer(t, httpserver.Options{Readiness: ready(func(context.Context) error {
		looks.Add(1)
		<-release
		return nil
	})}, io.Discard)
	probes := make(chan int, 20)
	for range cap(probes) {
		go func() {
			waiting.Add(1)
			probes <- serve(t.Context(), server, "/readyz").Code
		}()
	}
	require.Eventually(t, func() bool { return waiting.Load() == 20 && looks.Load() > 0 }, patience, time.Millisecond)
	close(release)
	for range cap(probes) {
		require.Equal(t, 200, <-probes)
	}
	require.Less(t, looks.Load(), int32(20))
}

// A probe that gives up leaves the look to those who still wait.
func TestProbeThatLeavesTakesNobodyAlong(t *testing.T) {
	t.Parallel()
	looking, release := make(chan struct{}, 2), make(chan struct{}) // the second may come too late to join
	server := newServer(t, httpserver.Options{Readiness: ready(func(ctx context.Context) error {
		looking <- struct{}{}
		<-release
		return ctx.Err()
	})}, io.Discard)
	ctx, leave := context.WithCancel(t.Context())
	first, second := make(chan int, 1), make(chan int, 1)
	go func() { first <- serve(ctx, server, "/readyz").Code }()
	<-looking
	go func() { second <- serve(t.Context(), server, "/readyz").Code }()
	leave()
	require.Equal(t, 499, <-first)
	close(release)
	require.Equal(t, 200, <-second)
}

func TestReadyWhileStopping(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}), make(chan struct{})
	server := newServer(t, httpserver.Options{}, io.Discard)
	server.Routes().GET("/slow", func(*gin.Context) { close(entered); <-release })
	s := run(t, server)
	conn := s.dial()
	_, err := io.WriteString(conn, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	<-entered

	s.stop()
	require.Eventually(t, func() bool { return serve(t.Context(), server, "/readyz").Code == 503 }, patience, time.Millisecond)
	require.Contains(t, serve(t.Context(), server, "/readyz").Body.String(), "stopping")
	require.Equal(t, 200, serve(t.Context(), server, "/healthz").Code)
	close(release)
	require.NoError(t, <-s.done)
}
