package testenv

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Proxy is a TCP proxy in front of a server, for tests of outages. It begins passing everything.
type Proxy struct {
	listener net.Listener
	upstream string
	life     context.Context //nolint:containedctx // that of the test, for connections made after NewProxy
	links    sync.WaitGroup  // one for the accept loop and each connection

	mu     sync.Mutex
	cut    bool
	closed bool
	open   map[*link]struct{}
	flow   chan struct{} // closed while bytes may pass
}

// link is one client's connection and ours to the server.
type link struct {
	client, server net.Conn
	once           sync.Once
	gone           chan struct{}
}

// NewProxy starts a proxy on 127.0.0.1 in front of upstream (host:port). It ends with the test.
func NewProxy(t testing.TB, upstream string) *Proxy {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &Proxy{
		listener: listener, upstream: upstream, life: t.Context(),
		open: map[*link]struct{}{}, flow: closedChannel(),
	}
	p.links.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// Addr is where the proxy listens.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Cut closes all connections. New ones are closed as soon as they are made: the port is kept, so that no other
// program gets it before Restore.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	p.closeLinks()
}

// Stall keeps connections open and accepts new ones, but passes no byte, as a host that hangs does.
func (p *Proxy) Stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.flow:
		p.flow = make(chan struct{})
	default: // stalled already
	}
}

// Restore ends Cut and Stall. Bytes that were held back pass on.
func (p *Proxy) Restore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = false
	select {
	case <-p.flow:
	default:
		close(p.flow)
	}
}

func (p *Proxy) close() {
	p.mu.Lock()
	p.closed = true
	p.closeLinks()
	p.mu.Unlock()
	_ = p.listener.Close() // the test is over; nobody is left to tell
	p.links.Wait()
}

// closeLinks needs the lock.
func (p *Proxy) closeLinks() {
	for l := range p.open {
		l.close()
	}
	clear(p.open)
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.links.Go(func() { p.serve(client) })
	}
}

func (p *Proxy) serve(client net.Conn) {
	server, err := new(net.Dialer).DialContext(p.life, "tcp", p.upstream)
	if err != nil {
		_ = client.Close()
		return
	}
	l := &link{client: client, server: server, gone: make(chan struct{})}
	if !p.add(l) {
		l.close()
		return
	}
	p.links.Go(func() { p.pump(l, l.client, l.server) })
	p.pump(l, l.server, l.client)
}

func (p *Proxy) add(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut || p.closed {
		return false
	}
	p.open[l] = struct{}{}
	return true
}

// pump passes bytes one way until one end closes. Either end closing closes the whole link.
func (p *Proxy) pump(l *link, to io.Writer, from io.Reader) {
	defer l.close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if err != nil || !p.wait(l) {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// wait holds the bytes back while the proxy is stalled. It reports false where the link has closed meanwhile.
func (p *Proxy) wait(l *link) bool {
	p.mu.Lock()
	flow := p.flow
	p.mu.Unlock()
	select {
	case <-l.gone:
		return false
	case <-flow:
		return true
	}
}

func (l *link) close() {
	l.once.Do(func() {
		close(l.gone)
		_ = l.client.Close()
		_ = l.server.Close()
	})
}

func closedChannel() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}
