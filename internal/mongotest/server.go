package mongotest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.uber.org/goleak"

	"catalogue/internal/mongodb"
	"catalogue/internal/testenv"
)

// server is what the tests of one process share: the address, the client, and the container where one was started.
type server struct {
	once      sync.Once
	uri       string
	err       error
	container *container

	mu     sync.Mutex
	client *mongodb.Client
	owned  []goleak.Option // the goroutines of testcontainers, from before it stopped the containers of single tests
}

// shared lives as long as the process: tests of one package have no other common owner.
//
//nolint:gochecknoglobals // TestMain and the tests reach each other through nothing else
var shared server

// address finds the server, once for the process.
func (s *server) address() (string, error) {
	s.once.Do(func() {
		if s.uri = os.Getenv(Variable); s.uri != "" {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		s.container, s.err = startContainer(ctx)
		switch {
		case errors.Is(s.err, testenv.ErrNoDocker):
			s.err = fmt.Errorf("%s is not set and no Docker daemon answers; `make test` starts a server and runs every "+
				"test, `make services` starts one and prints the address to set (%w)", Variable, s.err)
		case s.err == nil:
			s.uri = s.container.uri
		}
	})
	return s.uri, s.err
}

// connect makes the shared client, with the settings of the product.
func (s *server) connect(uri string) (*mongo.Database, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == nil {
		client, err := mongodb.Open(mongodb.Options{URI: uri, Database: "catalogue_test", AppName: "catalogue-test"})
		if err != nil {
			return nil, err
		}
		s.client = client
	}
	return s.client.Database(), nil
}

// overlook makes Release return the option, too.
func (s *server) overlook(option goleak.Option) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owned = append(s.owned, option)
}

// Release closes the client and returns what goleak is to overlook: the goroutines that testcontainers keeps.
func (s *server) Release() []goleak.Option {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client != nil {
		if err := s.client.Disconnect(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		s.client = nil
	}
	if s.container != nil {
		return append(s.owned, s.container.goroutines)
	}
	return s.owned
}

// Stop ends the container.
func (s *server) Stop() {
	if s.container == nil {
		return
	}
	if err := s.container.stop(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "stop the test's container:", err)
	}
}
