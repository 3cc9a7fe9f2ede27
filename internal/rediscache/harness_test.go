package rediscache_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"catalogue/internal/rediscache"
)

// clock is a clock that stands still.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// pause lets the time pass for which a Redis that failed is left alone.
func (c *clock) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(rediscache.Pause)
}

// logged is a log that may be written to and read at once.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *logged) lines() int { return strings.Count(l.String(), "\n") }

// patient is longer than a busy machine needs.
const patient = 10 * time.Second

func open(t *testing.T, url string) (*rediscache.Cache, *clock, *logged) {
	t.Helper()
	return openWith(t, url, patient)
}

func openWith(t *testing.T, url string, timeout time.Duration) (*rediscache.Cache, *clock, *logged) {
	t.Helper()
	c, l := &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}, &logged{}
	cache, err := rediscache.Open(rediscache.Options{
		URL: url, Logger: slog.New(slog.NewTextHandler(l, nil)), Timeout: timeout, Now: c.Now,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cache.Close()) })
	return cache, c, l
}

// fake is a server that answers each command with what the test says, for the states that a real one cannot be put
// into without disturbing other tests.
type fake struct {
	listener net.Listener
	all      sync.WaitGroup

	mu      sync.Mutex
	answers map[string]string // by the command's name, without the line's end
	asked   map[string]int
	open    []net.Conn
}

func newFake(t *testing.T, answers map[string]string) *fake {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	f := &fake{listener: listener, answers: answers, asked: map[string]int{}}
	f.all.Go(f.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		f.mu.Lock()
		for _, conn := range f.open {
			_ = conn.Close()
		}
		f.mu.Unlock()
		f.all.Wait()
	})
	return f
}

func (f *fake) url(user string) string { return "redis://" + user + f.listener.Addr().String() }

func (f *fake) set(command, answer string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[command] = answer
}

// count tells how often the command came.
func (f *fake) count(command string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[command]
}

func (f *fake) accept() {
	for {
		conn, err := f.listener.Accept()
		if err != nil {
			return
		}
		f.mu.Lock()
		f.open = append(f.open, conn)
		f.mu.Unlock()
		f.all.Go(func() { f.serve(conn) })
	}
}

func (f *fake) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	in := bufio.NewReader(conn)
	for {
		command, err := readCommand(in)
		if err != nil {
			return
		}
		f.mu.Lock()
		f.asked[command]++
		answer, ok := f.answers[command]
		f.mu.Unlock()
		if !ok {
			answer = "-ERR unknown command"
		}
		if _, err := io.WriteString(conn, answer+"\r\n"); err != nil {
			return
		}
	}
}

// readCommand reads one array of texts and returns its first, in upper case.
func readCommand(in *bufio.Reader) (string, error) {
	parts, err := readLength(in, '*')
	if err != nil {
		return "", err
	}
	var name string
	for i := range parts {
		n, err := readLength(in, '$')
		if err != nil {
			return "", err
		}
		text := make([]byte, n+len("\r\n"))
		if _, err := io.ReadFull(in, text); err != nil {
			return "", err
		}
		if i == 0 {
			name = strings.ToUpper(string(text[:n]))
		}
	}
	return name, nil
}

func readLength(in *bufio.Reader, kind byte) (int, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if line[0] != kind {
		return 0, fmt.Errorf("%q is no length", line)
	}
	return strconv.Atoi(strings.TrimSpace(line[1:]))
}

// text is a value as a server sends it.
func text(s string) string { return fmt.Sprintf("$%d\r\n%s", len(s), s) }
