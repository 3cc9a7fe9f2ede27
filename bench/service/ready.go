package service

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// shownLog is how much of the log's end an error shows, in bytes.
const shownLog = 2000

// waitReady finds the address in the log and asks there until the answer is yes.
func (s *Service) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	err := s.poll(ctx, func() error {
		url, err := listening(s.log)
		s.URL = url
		return err
	})
	if err != nil {
		return err
	}
	return s.poll(ctx, func() error { return s.ready(ctx) })
}

// poll calls try until it succeeds. Its error is that of the end of the process or of ctx, with try's last.
func (s *Service) poll(ctx context.Context, try func() error) error {
	ticker := time.NewTicker(startPoll)
	defer ticker.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("it ended before it was ready: %s", s.process.ProcessState)
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-ticker.C:
		}
	}
}

// listening returns the address that the log tells.
func listening(path string) (string, error) {
	log, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = log.Close() }()
	for lines := bufio.NewScanner(log); lines.Scan(); {
		var line struct{ Msg, URL string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "listening" {
			return line.URL, nil
		}
	}
	return "", errors.New("it does not listen yet")
}

func (s *Service) ready(ctx context.Context) error {
	res, err := s.get(ctx, "/readyz")
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode == http.StatusOK {
		return nil
	}
	beginning, _ := io.ReadAll(io.LimitReader(res.Body, shownBody))
	return fmt.Errorf("/readyz answers %d: %s", res.StatusCode, beginning)
}

// logTail is the end of the log for an error, with the path of all of it.
func logTail(path string) string {
	all, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	if len(all) > shownLog {
		all = all[len(all)-shownLog:]
		if _, rest, found := bytes.Cut(all, []byte("\n")); found {
			all = rest
		}
	}
	return fmt.Sprintf("\nthe end of its log, %s:\n%s", path, bytes.TrimSpace(all))
}
