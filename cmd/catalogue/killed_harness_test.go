package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"catalogue/internal/mongodb"
	"catalogue/internal/mongotest"
	"catalogue/internal/problem"
	"catalogue/internal/testenv"
)

const (
	// killedRequestTimeout is the server's: a key that a killed process held is free again that and claimMargin later.
	killedRequestTimeout = 2 * time.Second
	// killedFeedDelay is longer than a request may take, so the feed may not lose one.
	killedFeedDelay = 3 * time.Second
	// killedPatience is how long a writer waits for one answer. What comes later is no answer.
	killedPatience = 10 * time.Second
	// killedPause is a writer's pause before it asks again.
	killedPause = 10 * time.Millisecond
)

// killable is a server that can be killed by SIGKILL and started again at the same address.
type killable interface {
	Kill()
	Start()
}

// deployOn makes a database on the test's own server.
func deployOn(t *testing.T, server *mongotest.Own) deployment {
	t.Helper()
	client, err := mongodb.Open(mongodb.Options{URI: server.URI(), Database: mongotest.Name()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Disconnect(context.Background())) })
	d := deployment{client.Database(), importEnviron(client.Database(), server.URI())}
	d.up(t)
	return d
}

// instance is the catalogue's server in a process of its own.
type instance struct {
	t       *testing.T
	url     string
	environ []string
	log     *syncBuffer
	process *exec.Cmd
	ended   chan struct{} // closed when the process has ended
}

// startInstance starts a server of the deployment, which ends with the test.
func startInstance(t *testing.T, d deployment) *instance {
	t.Helper()
	address := net.JoinHostPort("127.0.0.1", testenv.Port(t))
	i := &instance{t: t, url: "http://" + address, log: &syncBuffer{}, environ: append(append(os.Environ(), d.environ...),
		childLease+"=1m", "CATALOGUE_HTTP_ADDR="+address, "CATALOGUE_ENV=development", "CATALOGUE_FEED_RATE=0",
		"CATALOGUE_REQUEST_TIMEOUT="+killedRequestTimeout.String(), "CATALOGUE_FEED_DELAY="+killedFeedDelay.String(),
	)}
	t.Cleanup(func() { // the process ends with the test's context, which is over by now
		if i.ended != nil {
			<-i.ended
		}
	})
	i.Start()
	return i
}

// Start returns when the server is ready.
func (i *instance) Start() {
	i.t.Helper()
	program, err := os.Executable()
	require.NoError(i.t, err)
	process, ended := exec.CommandContext(i.t.Context(), program, "serve"), make(chan struct{})
	process.Env, process.Stdout, process.Stderr = i.environ, i.log, i.log
	require.NoError(i.t, process.Start())
	go func() {
		_ = process.Wait() // killed, or the log says why
		close(ended)
	}()
	i.process, i.ended = process, ended
	require.Eventually(i.t, func() bool {
		status, _, err := fetch(i.t.Context(), i.url+"/readyz")
		return err == nil && status == http.StatusOK
	}, patience, killedPause, i.log)
}

// Kill returns when the process is gone. It fails where the server had ended by itself.
func (i *instance) Kill() {
	i.t.Helper()
	require.NoError(i.t, i.process.Process.Kill(), i.log)
	<-i.ended
}

// stubborn is a client that asks until it is answered.
type stubborn struct {
	url        string
	http       *http.Client
	asking     atomic.Int64 // requests that go on
	unanswered atomic.Int64 // requests that ended so that nobody knows whether they were done
}

func newStubborn(t *testing.T, url string) *stubborn {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(transport.CloseIdleConnections)
	return &stubborn{url: url, http: &http.Client{Transport: transport, Timeout: killedPatience}}
}

// ask sends a request as the user ann until it is answered, or ctx ends. more are further headers.
func (s *stubborn) ask(ctx context.Context, method, target, body string, more headers) (response, error) {
	for {
		res, err := s.try(ctx, method, target, body, more)
		if err == nil && answers(res) {
			return res, nil
		}
		s.unanswered.Add(1)
		if err := pause(ctx); err != nil {
			return response{}, fmt.Errorf("%s %s has had no answer, the last was %d %s: %w", method, target, res.status, res.body, err)
		}
	}
}

// answers tells whether an answer says what has become of the request.
func answers(res response) bool {
	return res.status < http.StatusInternalServerError && res.code() != string(problem.Contended)
}

func (s *stubborn) try(ctx context.Context, method, target, body string, more headers) (response, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.url+target, strings.NewReader(body))
	if err != nil {
		return response{}, err
	}
	req.Header.Set("X-Catalogue-User", "ann")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range more {
		req.Header.Set(name, value)
	}
	s.asking.Add(1)
	defer s.asking.Add(-1)
	res, err := s.http.Do(req)
	if err != nil {
		return response{}, err
	}
	defer func() { _ = res.Body.Close() }()
	read, err := io.ReadAll(res.Body)
	return response{status: res.StatusCode, header: res.Header, body: read}, err
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(killedPause):
		return nil
	}
}

// code is that of a problem, empty where the answer is none.
func (r response) code() string {
	var p problemOf
	if json.Unmarshal(r.body, &p) != nil {
		return ""
	}
	return p.Code
}

// rev is that of an ETag, 0 where there is none.
func (r response) rev() int64 {
	rev, err := strconv.ParseInt(strings.Trim(r.header.Get("ETag"), `"`), 10, 64)
	if err != nil {
		return 0
	}
	return rev
}

// revsCopied are the revs of the objects in a copy to which lines are still added, by id.
func revsCopied(t require.TestingT, path string) map[string]int64 {
	content, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	out := map[string]int64{}
	for line := range bytes.Lines(content) {
		var row struct {
			ID  string `json:"id"`
			Rev int64  `json:"rev"`
		}
		if json.Unmarshal(line, &row) == nil { // else it is not all written yet
			out[row.ID] = row.Rev // the last one counts
		}
	}
	return out
}
