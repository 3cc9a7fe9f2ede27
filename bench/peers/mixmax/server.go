package mixmax

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

const (
	startTimeout = 30 * time.Second // until the server tells its address
	stopTimeout  = 5 * time.Second  // until a server that was told to end is killed
)

// Server is a running server. Its process ends with Stop, with the context of Start, and with this process, however
// that ends: it waits for the end of its standard input.
type Server struct {
	URL string // http://127.0.0.1:port

	command *exec.Cmd
	input   io.Closer
	errors  *bytes.Buffer // what Node wrote; read when the process has ended
	client  *http.Client
}

// Start starts the server that Install put into folder. uri is the address of the database.
func Start(ctx context.Context, folder, uri string) (*Server, error) {
	node := exec.CommandContext(ctx, "node", "server.js")
	node.Dir = folder
	node.Env = append(os.Environ(), "MONGODB_URI="+uri) // not an argument: those are shown to every user
	node.WaitDelay = stopTimeout
	s := &Server{
		command: node, errors: new(bytes.Buffer),
		client: &http.Client{Transport: &http.Transport{DisableCompression: true}}, // as the catalogue is asked
	}
	node.Stderr = s.errors
	input, err := node.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start node: %w", err)
	}
	s.input = input
	node.Cancel = func() error {
		_ = input.Close() // closed already where Stop was first
		return nil
	}
	output, err := node.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start node: %w", err)
	}
	if err := node.Start(); err != nil {
		return nil, fmt.Errorf("start node: %w", err)
	}
	hung := time.AfterFunc(startTimeout, func() { _ = node.Process.Kill() }) // ends the wait for its address
	address, err := bufio.NewReader(output).ReadString('\n')
	hung.Stop()
	if err != nil {
		err = errors.Join(err, s.Stop())
		return nil, fmt.Errorf("node told no address: %w: %s", err, ending(s.errors.Bytes()))
	}
	s.URL = strings.TrimSpace(address)
	return s, nil
}

// Stop ends the process and waits for it.
func (s *Server) Stop() error {
	s.client.CloseIdleConnections()
	_ = s.input.Close() // closed already where the context ended
	hung := time.AfterFunc(stopTimeout, func() { _ = s.command.Process.Kill() })
	defer hung.Stop()
	if err := s.command.Wait(); err != nil {
		return fmt.Errorf("end node: %w", err)
	}
	return nil
}

// Get gets the answer to a path with its query. Any status but 200 is an error that shows the answer's beginning.
func (s *Server) Get(ctx context.Context, target string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+target, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask node: %w", err)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask node: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read node's answer: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("node answered %s: %s", response.Status, ending(body))
	}
	return body, nil
}
