package httpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"catalogue/internal/httpserver"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode) // it would print every route
	goleak.VerifyTestMain(m)
}

const patience = 10 * time.Second

// running is a server on a real socket.
type running struct {
	t    *testing.T
	addr string
	log  *logBuffer
	stop context.CancelFunc
	done chan error
}

// start runs a server with the routes until the test ends.
func start(t *testing.T, o httpserver.Options, routes func(r gin.IRouter)) *running {
	t.Helper()
	log := &logBuffer{}
	server := newServer(t, o, log)
	if routes != nil {
		routes(server.Routes())
	}
	s := run(t, server)
	s.log = log
	return s
}

func run(t *testing.T, server *httpserver.Server) *running {
	t.Helper()
	s := &running{t: t, done: make(chan error, 1)}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.addr = listener.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.done <- server.Run(ctx, listener)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return s
}

func newServer(t *testing.T, o httpserver.Options, log io.Writer) *httpserver.Server {
	t.Helper()
	o.Logger = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if o.RequestTimeout == 0 {
		o.RequestTimeout = patience
	}
	if o.ShutdownGrace == 0 {
		o.ShutdownGrace = patience
	}
	if o.Readiness == nil {
		o.Readiness = ready(func(context.Context) error { return nil })
	}
	server, err := httpserver.New(o)
	require.NoError(t, err)
	return server
}

// serve asks the server without a connection.
func serve(ctx context.Context, server *httpserver.Server, target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	server.Handler().ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody))
	return w
}

type brokenListener struct{ net.Listener }

func (brokenListener) Accept() (net.Conn, error) { return nil, errors.New("out of order") }
func (brokenListener) Close() error              { return nil }

type ready func(ctx context.Context) error

func (r ready) Ready(ctx context.Context) error { return r(ctx) }

// dial opens a connection that ends with the test.
func (s *running) dial() net.Conn {
	s.t.Helper()
	conn, err := new(net.Dialer).DialContext(s.t.Context(), "tcp", s.addr)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = conn.Close() })
	require.NoError(s.t, conn.SetDeadline(time.Now().Add(patience)))
	return conn
}

// send writes a request as it is and returns the answer with its body read.
func (s *running) send(request string) (answer, string) {
	s.t.Helper()
	conn := s.dial()
	_, err := io.WriteString(conn, request)
	require.NoError(s.t, err)
	return read(s.t, conn, strings.HasPrefix(request, http.MethodHead))
}

func (s *running) get(target string) (answer, string) {
	s.t.Helper()
	return s.send("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n")
}

// answer is a response whose body has been read.
type answer struct {
	StatusCode    int
	Header        http.Header
	ContentLength int64
	Close         bool // it is the connection's last
}

func read(t *testing.T, conn net.Conn, head bool) (answer, string) {
	t.Helper()
	request := &http.Request{Method: http.MethodGet}
	if head {
		request.Method = http.MethodHead
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), request)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return answer{response.StatusCode, response.Header, response.ContentLength, response.Close}, string(body)
}

// requireClosed waits until the other end has closed the connection.
func requireClosed(t *testing.T, conn net.Conn) {
	t.Helper()
	_, err := io.Copy(io.Discard, conn)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "it is still open")
}

// logBuffer collects the lines of a JSON log.
type logBuffer struct {
	mu    sync.Mutex
	bytes bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes.String()
}

// lines returns the lines with that message.
func (b *logBuffer) lines(t *testing.T, msg string) []map[string]any {
	t.Helper()
	var found []map[string]any
	for text := range strings.Lines(b.String()) {
		var line map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &line))
		if line["msg"] == msg {
			found = append(found, line)
		}
	}
	return found
}

// one waits for the one line with that message: the access log is written after the answer is out.
func (b *logBuffer) one(t *testing.T, msg string) map[string]any {
	t.Helper()
	require.Eventually(t, func() bool { return len(b.lines(t, msg)) > 0 }, patience, time.Millisecond)
	lines := b.lines(t, msg)
	require.Len(t, lines, 1)
	return lines[0]
}
