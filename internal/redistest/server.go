package redistest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
	"go.uber.org/goleak"

	"catalogue/internal/testenv"
)

const (
	image = "valkey/valkey:8-alpine"
	port  = defaultPort + "/tcp"
)

// server is what the tests of one process share: the address, and the container where one was started.
type server struct {
	once       sync.Once
	url        string
	err        error
	container  *testcontainers.DockerContainer
	goroutines goleak.Option // those of testcontainers, which live until the process ends
}

// shared lives as long as the process: tests of one package have no other common owner.
//
//nolint:gochecknoglobals // TestMain and the tests reach each other through nothing else
var shared server

// address finds the server, once for the process.
func (s *server) address() (string, error) {
	s.once.Do(func() {
		if s.url = os.Getenv(Variable); s.url != "" {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		if err := s.start(ctx); errors.Is(err, testenv.ErrNoDocker) {
			s.err = fmt.Errorf("%s is not set and no Docker daemon answers; `make test` starts a server and runs every "+
				"test, `eval \"$(scripts/services env test)\"` starts one and sets the variable (%w)", Variable, err)
		} else {
			s.err = err
		}
	})
	return s.url, s.err
}

func (s *server) start(ctx context.Context) error {
	if err := testenv.PingDocker(ctx); err != nil {
		return err
	}
	container, err := testcontainers.Run(ctx, image,
		testcontainers.WithCmd("valkey-server", "--save", "", "--appendonly", "no"),
		testcontainers.WithExposedPorts(port),
		testcontainers.WithWaitStrategy(wait.ForListeningPort(port)),
	)
	if err != nil {
		return fmt.Errorf("start %s in Docker: %w", image, err)
	}
	if s.url, err = container.PortEndpoint(ctx, port, "redis"); err != nil {
		return errors.Join(fmt.Errorf("find the container's address: %w", err), testenv.StopContainer(ctx, container))
	}
	s.container, s.goroutines = container, goleak.IgnoreCurrent()
	return nil
}

// Release returns what goleak is to overlook.
func (s *server) Release() []goleak.Option {
	if s.container == nil {
		return nil
	}
	return []goleak.Option{s.goroutines}
}

// Stop ends the container.
func (s *server) Stop() {
	if s.container == nil {
		return
	}
	if err := testenv.StopContainer(context.Background(), s.container); err != nil {
		fmt.Fprintln(os.Stderr, "stop the test's container:", err)
	}
}
