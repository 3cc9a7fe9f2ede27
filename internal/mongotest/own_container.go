package mongotest

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"

	docker "github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"
	"github.com/testcontainers/testcontainers-go"

	"catalogue/internal/testenv"
)

// awaitPrimary waits until a member that was started again has read its log.
const awaitPrimary = `while (!db.hello().isWritablePrimary) sleep(50)`

// ownContainer is a container of one test. Its port is chosen here: one that Docker chooses changes with each start.
type ownContainer struct {
	hostPort string
	set      *container // nil until the first start
}

func newOwnContainer(t testing.TB) *ownContainer {
	t.Helper()
	o := &ownContainer{hostPort: testenv.Port(t)}
	t.Cleanup(func() {
		if o.set != nil {
			require.NoError(t, o.set.stop(context.Background()), "stop the test's own container")
		}
	})
	return o
}

func (o *ownContainer) uri() string { return o.set.uri }

func (o *ownContainer) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if o.set == nil {
		set, err := startContainer(ctx, testcontainers.WithHostConfigModifier(o.publish))
		if err != nil {
			return err
		}
		o.set = set
		shared.overlook(set.goroutines)
		return nil
	}
	if err := o.set.handle.Start(ctx); err != nil {
		return fmt.Errorf("start the container again: %w", err)
	}
	if err := o.set.eval(ctx, awaitPrimary); err != nil {
		return fmt.Errorf("wait for the primary: %w", err)
	}
	return nil
}

// publish binds the server's port to the chosen one.
func (o *ownContainer) publish(host *docker.HostConfig) {
	host.PortBindings = network.PortMap{
		network.MustParsePort(port): {{HostIP: netip.AddrFrom4([4]byte{127, 0, 0, 1}), HostPort: o.hostPort}},
	}
}

// kill sends the signal to the container's first process, the server. What is stopped is killed only after a while.
func (o *ownContainer) kill(ctx context.Context) (err error) {
	daemon, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		return fmt.Errorf("connect to Docker: %w", err)
	}
	defer func() { err = errors.Join(err, daemon.Close()) }()
	if _, err := daemon.ContainerKill(ctx, o.set.handle.GetContainerID(), client.ContainerKillOptions{Signal: "KILL"}); err != nil {
		return fmt.Errorf("kill the container: %w", err)
	}
	return nil
}
