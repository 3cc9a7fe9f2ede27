package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"catalogue/internal/config"
)

const (
	healthTimeout = 3 * time.Second
	// maxHealthAnswer bounds what is read of an answer: another program may listen there.
	maxHealthAnswer = 64 << 10
)

func newHealthCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "health",
		Short: "Ask a running server whether it is ready; the exit code is 0 if so, else 1",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			address, err := config.LoadAddress(a.environ)
			if err != nil {
				return err
			}
			if err := askReady(c.Context(), "http://"+reachable(address.HTTPAddr)+"/readyz"); err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.stdout, "ready")
			return err
		},
	}
}

// reachable turns an address to listen on into one to connect to: that of every interface into the local one.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr // the configuration has been checked
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case host == "" || err == nil && ip.IsUnspecified() && ip.Is4():
		host = "127.0.0.1"
	case err == nil && ip.IsUnspecified():
		host = "::1"
	}
	return net.JoinHostPort(host, port)
}

// askReady returns nil from a server that is ready, else the reason.
func askReady(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return fmt.Errorf("ask %s: %w", url, err)
	}
	// a transport of its own: no proxy of the environment stands between, and no connection is kept
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("no server answers: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // all that is needed has been read
	if response.StatusCode == http.StatusOK {
		return nil
	}
	return notReady(response)
}

func notReady(response *http.Response) error {
	var problem struct {
		Detail string `json:"detail"`
	}
	err := json.NewDecoder(io.LimitReader(response.Body, maxHealthAnswer)).Decode(&problem)
	if err != nil || problem.Detail == "" {
		return fmt.Errorf("not ready: %s", response.Status)
	}
	return errors.New("not ready: " + strings.ReplaceAll(problem.Detail, "; ", "\n  ")) // one index a line
}
