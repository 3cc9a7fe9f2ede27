package mongotest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"catalogue/internal/testenv"
)

// EngineVariable names the environment variable with the path of the local engine's program, secantusd-rs.
const EngineVariable = "CATALOGUE_TEST_ENGINE"

const (
	// ownStartTimeout bounds a start: after a kill the engine reads its log again.
	ownStartTimeout = time.Minute
	// ownLook is how often a start looks whether the engine answers.
	ownLook = 5 * time.Millisecond
	// ownCache is the engine's memory for pages. A test has little data.
	ownCache = "128M"
	// shownLog is how much of the engine's log an error shows, in bytes.
	shownLog = 2000
)

// Own is a database server of one test's own, for tests that kill it. Every write that it acknowledged is on disk. Its
// methods are for one goroutine.
type Own struct {
	t      testing.TB
	server ownServer
}

// ownServer is a server that can be killed. It keeps its address and its data.
type ownServer interface {
	// start returns when the server takes connections. A process lives no longer than ctx.
	start(ctx context.Context) error
	// kill ends the server by SIGKILL and returns when it is gone.
	kill(ctx context.Context) error
	// uri is good from the first start on.
	uri() string
}

// NewOwn starts a server that ends with the test: the local engine, where the environment names its program, else a
// container. The test fails where there is neither.
func NewOwn(t testing.TB) *Own {
	t.Helper()
	o := &Own{t: t}
	if program := os.Getenv(EngineVariable); program != "" {
		o.server = newEngine(t, program)
	} else {
		o.server = newOwnContainer(t)
	}
	o.Start()
	return o
}

// URI is the server's address. It stays the same.
func (o *Own) URI() string { return o.server.uri() }

// Kill ends the server as a crash does, by SIGKILL.
func (o *Own) Kill() {
	o.t.Helper()
	require.NoError(o.t, o.server.kill(o.t.Context()), "kill the test's own database")
}

// Start starts the server again after Kill, at the same address and on the same data, and returns when it takes
// connections.
func (o *Own) Start() {
	o.t.Helper()
	err := o.server.start(o.t.Context())
	if errors.Is(err, testenv.ErrNoDocker) {
		o.t.Fatalf("this test kills a database of its own, and there is none to start: %s is not set and no Docker daemon "+
			"answers; start one, or set it to the local engine's program, secantusd-rs; `make test` and `eval "+
			"\"$(scripts/services env test)\"` do so where they use that engine (%v)", EngineVariable, err)
	}
	require.NoError(o.t, err, "start the test's own database")
}

// engine is the local engine as a process of the test.
type engine struct {
	program, folder, address string
	process                  *exec.Cmd
	ended                    chan struct{} // closed when the process has ended
}

func newEngine(t testing.TB, program string) *engine {
	t.Helper()
	e := &engine{program: program, folder: t.TempDir(), address: net.JoinHostPort("127.0.0.1", testenv.Port(t))}
	t.Cleanup(func() { // the process ends with the test's context, which is over by now
		if e.ended != nil {
			<-e.ended
		}
	})
	return e
}

func (e *engine) uri() string { return "mongodb://" + e.address + "/?directConnection=true" }

func (e *engine) start(ctx context.Context) error {
	_, port, err := net.SplitHostPort(e.address)
	if err != nil {
		return err
	}
	settings, output := filepath.Join(e.folder, "secantusd.toml"), filepath.Join(e.folder, "log")
	if err := os.WriteFile(settings, nil, 0o600); err != nil { // named below, so that none of the user's is picked up
		return err
	}
	log, err := os.Create(output)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the process has it open for itself
	//nolint:gosec // whoever runs the tests names the program
	process := exec.CommandContext(ctx, e.program, "--config", settings, "--host", "127.0.0.1", "--port", port,
		"--storage-path", filepath.Join(e.folder, "data"), "--cache-size", ownCache, "--sync-on-commit")
	process.Stdout, process.Stderr = log, log
	if err := process.Start(); err != nil {
		return fmt.Errorf("start the local engine, which %s names: %w", EngineVariable, err)
	}
	ended := make(chan struct{})
	go func() {
		_ = process.Wait() // killed, or its log says why
		close(ended)
	}()
	e.process, e.ended = process, ended
	if err := e.await(ctx); err != nil {
		said, _ := os.ReadFile(output)
		return fmt.Errorf("%w; its log ends with: %s", err, said[max(0, len(said)-shownLog):])
	}
	return nil
}

// await returns when the engine takes connections.
func (e *engine) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ownStartTimeout)
	defer cancel()
	look := time.NewTicker(ownLook)
	defer look.Stop()
	for {
		if conn, err := new(net.Dialer).DialContext(ctx, "tcp", e.address); err == nil {
			return conn.Close()
		}
		select {
		case <-e.ended:
			return errors.New("the local engine has ended")
		case <-ctx.Done():
			return fmt.Errorf("the local engine does not answer at %s: %w", e.address, ctx.Err())
		case <-look.C:
		}
	}
}

func (e *engine) kill(context.Context) error {
	if err := e.process.Process.Kill(); err != nil {
		return err // it has ended by itself, which a test of kills must not take for a kill
	}
	<-e.ended
	return nil
}
