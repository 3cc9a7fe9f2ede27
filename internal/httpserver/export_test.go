package httpserver

import "net/http"

// HTTP gives tests the limits of connections, to shorten them.
func (s *Server) HTTP() *http.Server { return s.http }
