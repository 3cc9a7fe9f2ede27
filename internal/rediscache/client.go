package rediscache

import (
	"context"
	"crypto/tls"
	"net"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	poolSize = 16
	// maxIdle bounds how many dead connections an outage without a word can leave behind: each costs one Pause.
	maxIdle = 4
	// idleTimeout is shorter than what firewalls and load balancers allow a silent connection.
	idleTimeout = 5 * time.Minute
	// dialTimeout is longer than a caller waits: a connection that took longer to make is there for the next one.
	dialTimeout = 2 * time.Second
)

// newClient bounds everything by the caller's context and leaves nothing to the library's own patience. The settings
// that could have come from the URL are all set here. Connections are not made for longer than life.
func newClient(life context.Context, o *redis.Options, timeout time.Duration) *redis.Client {
	o.Protocol = 2 // without pushes, whose handling would write to the library's global log
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	o.DisableIdentity = true
	o.MaxRetries = -1
	o.DialerRetries = 1
	o.ContextTimeoutEnabled = true
	o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = timeout, timeout, timeout
	o.DialTimeout = dialTimeout
	o.PoolSize, o.MaxIdleConns, o.ConnMaxIdleTime = poolSize, maxIdle, idleTimeout
	o.ReadBufferSize, o.WriteBufferSize = 4<<10, 4<<10

	plain := &net.Dialer{Timeout: dialTimeout}
	dial := plain.DialContext
	if o.TLSConfig != nil {
		dial = (&tls.Dialer{NetDialer: plain, Config: o.TLSConfig}).DialContext
	}
	o.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(life, cancel)()
		conn, err := dial(ctx, network, addr)
		if err != nil {
			// Told of a failed dial, the library would print it, and after some of them start a loop of its own that
			// dials until it succeeds. A connection that fails when it is used says the same to the caller alone.
			return noConn{err}, nil
		}
		return conn, nil
	}
	return redis.NewClient(o)
}

// noConn is a connection that could not be made.
type noConn struct{ err error }

func (c noConn) Read([]byte) (int, error)         { return 0, c.err }
func (c noConn) Write([]byte) (int, error)        { return 0, c.err }
func (c noConn) Close() error                     { return nil }
func (c noConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c noConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c noConn) SetDeadline(time.Time) error      { return nil }
func (c noConn) SetReadDeadline(time.Time) error  { return nil }
func (c noConn) SetWriteDeadline(time.Time) error { return nil }

// SyscallConn is where the pool asks whether an idle connection is still good.
func (c noConn) SyscallConn() (syscall.RawConn, error) { return nil, c.err }
