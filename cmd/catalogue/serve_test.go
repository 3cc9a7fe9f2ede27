package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"catalogue/indexes"
	"catalogue/internal/config"
	"catalogue/internal/counting"
	"catalogue/internal/mongodb"
	"catalogue/internal/mongotest"
	"catalogue/pagination"
)

const patience = 20 * time.Second

// served is the program's serve command while it runs.
type served struct {
	t    *testing.T
	url  string
	log  *syncBuffer
	stop context.CancelFunc
	code chan int
}

// startServe runs serve until the test ends, and returns when it listens.
func startServe(t *testing.T, environ []string) *served {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &served{t: t, log: &syncBuffer{}, stop: cancel, code: make(chan int, 1)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.code <- run(ctx, []string{"serve"}, environ, io.Discard, s.log)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	require.Eventually(t, func() bool { return len(logLines(t, s.log.String(), "listening")) == 1 },
		patience, time.Millisecond, s.log)
	s.url, _ = logLines(t, s.log.String(), "listening")[0]["url"].(string)
	return s
}

// get asks once and returns the status and the body. It fails where that takes longer than a request may.
func (s *served) get(path string) (int, string) {
	s.t.Helper()
	return get(s.t, s.url+path)
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	status, body, err := fetch(t.Context(), url)
	require.NoError(t, err)
	return status, body
}

// fetch may run beside the test. It fails where a 503 does not say when to try again.
func fetch(ctx context.Context, url string) (status int, body string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, "", err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode == http.StatusServiceUnavailable && response.Header.Get("Retry-After") == "" {
		return 0, "", errors.New("a 503 without Retry-After")
	}
	all, err := io.ReadAll(response.Body)
	return response.StatusCode, string(all), err
}

func (s *served) awaitOK(path string) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		status, _, err := fetch(s.t.Context(), s.url+path)
		return err == nil && status == http.StatusOK
	}, patience, 10*time.Millisecond, s.log)
}

func TestServe(t *testing.T) {
	t.Parallel()
	environ := databaseEnviron(t, mongotest.URI(t))
	s := startServe(t, environ)
	s.awaitOK("/readyz")
	status, body := s.get("/creatives")
	require.Equal(t, 200, status)
	require.Contains(t, body, `"data":[]`)

	addr := strings.TrimPrefix(s.url, "http://")
	health := runProgram(t.Context(), []string{"CATALOGUE_HTTP_ADDR=" + addr}, "health")
	require.Equal(t, outcome{0, "ready\n", ""}, health)

	require.Len(t, logLines(t, s.log.String(), "configuration"), 1)
	require.Contains(t, s.log.String(), "CATALOGUE_CURSOR_KEY is not set", "a random key is worth a warning")

	taken := runProgram(t.Context(), append(environ, "CATALOGUE_HTTP_ADDR="+addr), "serve")
	require.Equal(t, exitFailure, taken.code)
	require.Contains(t, taken.stderr, addr+" is in use by another program")

	s.stop()
	require.Zero(t, <-s.code, s.log)
}

func TestServeChecksIndexesWithoutBuildingThem(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	environ := append(databaseEnviron(t, mongotest.URI(t)), d.environ...)
	s := startServe(t, append(environ, "CATALOGUE_INDEXES=check"))
	status, body := s.get("/readyz")
	require.Equal(t, 503, status)
	require.Contains(t, body, declaredIndexes()[0].String())
	status, _ = s.get("/creatives")
	require.Equal(t, 200, status, "the lists answer all the same")

	health := runProgram(t.Context(), []string{"CATALOGUE_HTTP_ADDR=" + strings.TrimPrefix(s.url, "http://")}, "health")
	require.Equal(t, exitFailure, health.code)
	require.Contains(t, health.stderr, declaredIndexes()[0].String())

	d.buildVersionWith(t)
	s.awaitOK("/readyz")
}

func TestServeThroughAnOutage(t *testing.T) {
	t.Parallel()
	uri, proxy := mongotest.NewProxy(t)
	proxy.Cut()
	s := startServe(t, append(databaseEnviron(t, uri), "CATALOGUE_REQUEST_TIMEOUT=2s"))
	for range 2 {
		begin := time.Now()
		status, body := s.get("/tasks")
		require.Equal(t, 503, status, body)
		require.Contains(t, body, `"code":"database_unavailable"`)
		require.Less(t, time.Since(begin), 2*time.Second, "inside the request's deadline")
		status, body = s.get("/readyz")
		require.Equal(t, 503, status)
		require.Contains(t, body, `"code":"database_unavailable"`)
		status, _ = s.get("/healthz")
		require.Equal(t, 200, status)

		proxy.Restore()
		s.awaitOK("/readyz")
		s.awaitOK("/tasks")
		proxy.Cut()
	}
}

// fullPool serves through a pool of one connection behind a proxy; its probe goes another way.
func fullPool(t *testing.T) (url string, proxy *mongotest.Proxy, log *syncBuffer) {
	t.Helper()
	uri, proxy := mongotest.NewProxy(t)
	base := config.Base{MongoDBURI: config.Secret(uri), MongoDBDatabase: mongotest.Database(t).Name(), MongoDBMaxPool: 1}
	client, err := mongodb.Connect(t.Context(), databaseOptions(base))
	require.NoError(t, err)
	base.MongoDBURI = config.Secret(mongotest.URI(t))
	probe, err := openProbe(base)
	require.NoError(t, err)
	state := indexes.NewState(probe.Database(), nil, time.Now)
	log = &syncBuffer{}
	logger := (&app{stderr: log}).logger(base)
	counts := counting.New(counting.Options{Counter: pagination.Counter{Timeout: 100 * time.Millisecond}, Now: time.Now})
	t.Cleanup(counts.Close)
	server, err := (&app{now: time.Now}).newServer(config.Config{
		Base: base, CursorKeys: []config.Secret{testCursorKey}, CountTimeout: 100 * time.Millisecond,
		RequestTimeout: 2 * time.Second, ShutdownGrace: time.Second,
	}, logger, client, readiness{probe: probe, state: state}, state, newGate(), counts)
	require.NoError(t, err)
	listener, err := listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-done)
		_ = client.Disconnect(context.Background()) // it may have to cut what the proxy holds
		require.NoError(t, probe.Disconnect(context.Background()))
	})
	return "http://" + listener.Addr().String(), proxy, log
}

func TestAFullPoolIsUnavailableAndProbesAreNotBehindIt(t *testing.T) {
	t.Parallel()
	url, proxy, _ := fullPool(t)
	proxy.Stall()
	answers := make(chan string, 3)
	begin := time.Now()
	for range cap(answers) {
		go func() {
			status, body, err := fetch(t.Context(), url+"/tasks")
			answers <- fmt.Sprint(status, body, err)
		}()
	}
	status, _ := get(t, url+"/readyz")
	require.Equal(t, 200, status)
	status, _ = get(t, url+"/healthz")
	require.Equal(t, 200, status)
	require.Less(t, time.Since(begin), time.Second, "neither waited")

	var unavailable int
	for range cap(answers) {
		answer := <-answers
		require.Contains(t, answer, `"status":503`)
		if strings.Contains(answer, "database_unavailable") {
			unavailable++
		}
	}
	require.Less(t, time.Since(begin), 2*time.Second, "inside the request's deadline")
	require.Positive(t, unavailable, "those who waited for the connection")
}

func TestAClientThatLeavesFreesThePool(t *testing.T) {
	t.Parallel()
	url, proxy, log := fullPool(t)
	proxy.Stall()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	_, err = io.WriteString(conn, "GET /tasks HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	require.Eventually(t, func() bool {
		lines := logLines(t, log.String(), "request")
		return len(lines) == 1 && lines[0]["status"] == 499.0 && lines[0]["level"] == "INFO"
	}, patience, time.Millisecond, log)

	proxy.Restore()
	begin := time.Now()
	status, body := get(t, url+"/tasks")
	require.Equal(t, 200, status, body)
	require.Less(t, time.Since(begin), time.Second, "the connection was free")
	require.Empty(t, logLines(t, log.String(), "request failed"))
}

func TestTheSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "catalogue")
	built, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, string(built))
	uri, proxy := mongotest.NewProxy(t)
	log := &syncBuffer{}
	process := exec.CommandContext(t.Context(), binary, "serve")
	process.Env = append(os.Environ(), databaseEnviron(t, uri)...)
	process.Stderr = log
	require.NoError(t, process.Start())
	ended := make(chan error, 1)
	go func() { ended <- process.Wait() }()
	require.Eventually(t, func() bool { return len(logLines(t, log.String(), "listening")) == 1 },
		patience, time.Millisecond, log)

	proxy.Stall() // the second request below, and with it the first signal's stop, takes its ten seconds
	url, _ := logLines(t, log.String(), "listening")[0]["url"].(string)
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /tasks HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	_, err = conn.Read(make([]byte, 1)) // the first is answered: the second, in the same packet, is taken
	require.NoError(t, err)
	begin := time.Now()
	require.NoError(t, process.Process.Signal(syscall.SIGTERM))
	require.Eventually(t, func() bool { return len(logLines(t, log.String(), "stopping")) == 1 },
		patience, time.Millisecond, log)
	require.NoError(t, process.Process.Signal(syscall.SIGTERM))
	require.ErrorContains(t, <-ended, "signal: terminated")
	require.Less(t, time.Since(begin), 5*time.Second)
}

// syncBuffer is a buffer that is written to and read at once.
type syncBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
