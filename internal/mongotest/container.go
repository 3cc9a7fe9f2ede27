package mongotest

import (
	"context"
	"errors"
	"fmt"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/exec"
	"github.com/testcontainers/testcontainers-go/wait"
	"go.uber.org/goleak"

	"catalogue/internal/testenv"
)

const (
	image = "mongo:8"
	port  = "27017/tcp"

	// initiate makes the replica set of one and waits until it has its primary.
	initiate = `try { rs.status() } catch (e) { rs.initiate({_id: "rs0", members: [{_id: 0, host: "127.0.0.1:27017"}]}) }
while (!db.hello().isWritablePrimary) sleep(50)`
)

// container is a replica set of one member, which transactions and change streams need.
type container struct {
	uri        string
	goroutines goleak.Option // those of testcontainers, which live until the process ends
	handle     *testcontainers.DockerContainer
}

// startContainer starts a replica set; more are settings besides those that each has.
func startContainer(ctx context.Context, more ...testcontainers.ContainerCustomizer) (*container, error) {
	if err := testenv.PingDocker(ctx); err != nil {
		return nil, err
	}
	handle, err := testcontainers.Run(ctx, image, append([]testcontainers.ContainerCustomizer{
		testcontainers.WithCmd("mongod", "--replSet", "rs0", "--bind_ip_all"),
		testcontainers.WithExposedPorts(port),
		testcontainers.WithWaitStrategy(wait.ForListeningPort(port)),
	}, more...)...)
	if err != nil {
		return nil, fmt.Errorf("start %s in Docker: %w", image, err)
	}
	c := &container{handle: handle}
	if err := c.prepare(ctx); err != nil {
		return nil, errors.Join(err, c.stop(ctx))
	}
	c.goroutines = goleak.IgnoreCurrent()
	return c, nil
}

func (c *container) prepare(ctx context.Context) error {
	if err := c.eval(ctx, initiate); err != nil {
		return fmt.Errorf("initiate the replica set: %w", err)
	}
	address, err := c.handle.PortEndpoint(ctx, port, "mongodb")
	if err != nil {
		return fmt.Errorf("find the container's address: %w", err)
	}
	// direct: the member's own address is only good inside of the container
	c.uri = address + "/?directConnection=true"
	return nil
}

// eval runs a script of mongosh in the container.
func (c *container) eval(ctx context.Context, script string) error {
	code, _, err := c.handle.Exec(ctx, []string{"mongosh", "--quiet", "--eval", script}, exec.Multiplexed())
	if err == nil && code != 0 {
		err = fmt.Errorf("mongosh ended with code %d", code)
	}
	return err
}

func (c *container) stop(ctx context.Context) error { return testenv.StopContainer(ctx, c.handle) }
