package testenv

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/testcontainers/testcontainers-go"
)

const (
	pingTimeout = 3 * time.Second
	stopTimeout = 30 * time.Second
)

// ErrNoDocker tells a machine without Docker from one where starting a container fails.
var ErrNoDocker = errors.New("no Docker daemon answers")

// PingDocker fails with ErrNoDocker where there is none.
func PingDocker(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	provider, err := testcontainers.NewDockerProvider(testcontainers.WithLogger(quiet{}))
	if err == nil {
		err = provider.Health(ctx) // closes the provider, too
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoDocker, err)
	}
	return nil
}

// StopContainer ends a container, also where ctx is over already.
func StopContainer(ctx context.Context, c testcontainers.Container) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	return c.Terminate(ctx)
}

// quiet drops the description of the daemon that testcontainers would print in every package's tests.
type quiet struct{}

func (quiet) Printf(string, ...any) {}
