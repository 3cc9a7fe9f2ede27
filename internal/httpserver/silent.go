package httpserver

import (
	"net"
	"net/http"
	"sync"
)

// silentConns knows the connections that have not sent a request yet.
type silentConns struct {
	mu     sync.Mutex
	open   map[net.Conn]struct{}
	closed bool
}

// track is the ConnState hook of the server.
func (s *silentConns) track(conn net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(s.open, conn)
	case s.closed:
		_ = conn.Close()
	default:
		s.open[conn] = struct{}{}
	}
}

// closeAll closes the silent connections, and from now on every new one.
func (s *silentConns) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for conn := range s.open {
		_ = conn.Close() // it has said nothing, so there is nothing to lose
	}
	clear(s.open)
}
