package httpserver_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"catalogue/internal/httpserver"
)

const short = 200 * time.Millisecond

func TestSlowHeadersAreCut(t *testing.T) {
	t.Parallel()
	server := newServer(t, httpserver.Options{}, io.Discard)
	server.HTTP().ReadHeaderTimeout = short
	conn := run(t, server).dial()
	_, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHo")
	require.NoError(t, err)
	begin := time.Now()
	requireClosed(t, conn)
	require.Less(t, time.Since(begin), patience/2)
}

func TestSlowBodiesAreCut(t *testing.T) {
	t.Parallel()
	server := newServer(t, httpserver.Options{}, io.Discard)
	server.HTTP().ReadTimeout = short
	read := make(chan error, 1)
	server.Routes().POST("/things", func(c *gin.Context) {
		_, err := io.ReadAll(c.Request.Body)
		read <- err
	})
	conn := run(t, server).dial()
	_, err := io.WriteString(conn, "POST /things HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
	require.NoError(t, err)
	var timeout net.Error
	require.ErrorAs(t, <-read, &timeout)
	require.True(t, timeout.Timeout())
}

func TestSlowReadersAreCut(t *testing.T) {
	t.Parallel()
	server := newServer(t, httpserver.Options{}, io.Discard)
	server.HTTP().WriteTimeout = short
	ended := make(chan struct{})
	server.Routes().GET("/long", httpserver.Handle(func(c *gin.Context) error {
		defer close(ended)
		return httpserver.WriteJSON(c, http.StatusOK, strings.Repeat("x", 64<<20)) // more than sockets buffer
	}))
	conn := run(t, server).dial()
	_, err := io.WriteString(conn, "GET /long HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	<-ended // although nobody reads
	requireClosed(t, conn)
}

// The limits of one part do not touch a request that takes its time in another.
func TestLongRequestsAreNotCut(t *testing.T) {
	t.Parallel()
	server := newServer(t, httpserver.Options{RequestTimeout: patience}, io.Discard)
	limits := server.HTTP()
	require.Greater(t, limits.ReadTimeout, patience, "the end of ReadTimeout would look as if the client left")
	require.Greater(t, limits.WriteTimeout, patience)
	require.Less(t, limits.ReadHeaderTimeout, limits.ReadTimeout)
	limits.ReadHeaderTimeout = short
	server.Routes().GET("/slow", httpserver.Handle(func(c *gin.Context) error {
		select {
		case <-c.Request.Context().Done():
			return c.Request.Context().Err()
		case <-time.After(2 * short):
			return httpserver.WriteJSON(c, http.StatusOK, "done")
		}
	}))
	answer, body := run(t, server).get("/slow")
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.Contains(t, body, "done")
}
