// Package service runs the catalogue as a process of its own and reads pages from it.
package service

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

const (
	startTimeout = 2 * time.Minute // until it is ready: a missing index is built first
	startPoll    = 20 * time.Millisecond
	stopTimeout  = 20 * time.Second // then it is killed; its own grace is 15 seconds
	prefix       = "CATALOGUE_"     // of the variables that configure it
)

// Options say how to start the catalogue.
type Options struct {
	Binary    string // path of the built catalogue
	URI       string // of the database
	Database  string
	RedisURL  string // may be empty: counts are not kept then
	CursorKey string // that signs cursors, 32 characters or more
	Log       string // path of the file that takes its log; an older one is overwritten
}

// Service is a running catalogue.
type Service struct {
	URL string // http://127.0.0.1:port

	log     string
	process *exec.Cmd
	ended   chan struct{} // closed when the process has ended
	result  error         // of the process, once it has ended
	http    *http.Client
}

// Start starts the catalogue as it would run in production, at a free port, and returns when it is ready: its indexes
// are built and visible. ctx bounds the start alone. An error shows the end of the log.
func Start(ctx context.Context, o Options) (*Service, error) {
	log, err := os.Create(o.Log)
	if err != nil {
		return nil, fmt.Errorf("make the log of the catalogue: %w", err)
	}
	defer func() { _ = log.Close() }() // the process has its own handle
	s := &Service{log: o.Log, ended: make(chan struct{}), http: newClient()}
	// The log is written by the process itself: lines that came through here would cost time that is measured.
	s.process = exec.CommandContext(context.WithoutCancel(ctx), o.Binary, "serve") //nolint:gosec // whoever runs the benchmarks names the program
	s.process.Env, s.process.Stdout, s.process.Stderr = o.environ(os.Environ()), log, log
	s.process.SysProcAttr = processAttributes()
	if err := s.run(); err != nil {
		return nil, fmt.Errorf("start %s: %w", o.Binary, err)
	}
	if err := s.waitReady(ctx); err != nil {
		s.end()
		return nil, fmt.Errorf("start %s: %w%s", o.Binary, err, logTail(o.Log))
	}
	return s, nil
}

// environ is outer without what configures a catalogue, and with what o says.
func (o Options) environ(outer []string) []string {
	own := slices.DeleteFunc(slices.Clone(outer), func(line string) bool { return strings.HasPrefix(line, prefix) })
	return append(own,
		"CATALOGUE_ENV=production",
		"CATALOGUE_HTTP_ADDR=127.0.0.1:0",
		"CATALOGUE_MONGODB_URI="+o.URI,
		"CATALOGUE_MONGODB_DATABASE="+o.Database,
		"CATALOGUE_REDIS_URL="+o.RedisURL,
		"CATALOGUE_CURSOR_KEY="+o.CursorKey,
		"CATALOGUE_COUNT_CACHE_TTL=1h",  // a cached total stays one while it is measured
		"CATALOGUE_TRUST_USER_HEADER=1", // writers name their user
		"CATALOGUE_SHUTDOWN_DRAIN=0s",   // no load balancer has to notice the stop
	)
}

// run starts the process. The thread that does so waits for its end, since Linux ends the child of a thread that ends.
func (s *Service) run() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := s.process.Start()
		started <- err
		if err == nil {
			s.result = s.process.Wait()
			close(s.ended)
		}
	}()
	return <-started
}

// Stop asks the process to end and waits until it has. What does not end in time is killed, which is an error, as is an
// end by itself before.
func (s *Service) Stop() error {
	s.end()
	if s.result != nil {
		return fmt.Errorf("the catalogue: %w%s", s.result, logTail(s.log))
	}
	return nil
}

// end returns when the process has ended.
func (s *Service) end() {
	s.http.CloseIdleConnections()
	_ = s.process.Process.Signal(syscall.SIGTERM) // where it has ended already, its result tells
	timer := time.NewTimer(stopTimeout)
	defer timer.Stop()
	select {
	case <-s.ended:
	case <-timer.C:
		_ = s.process.Process.Kill()
		<-s.ended
	}
}

// ResidentBytes is the memory that the process occupies at the moment.
func (s *Service) ResidentBytes() (int64, error) {
	p, err := s.look()
	if err != nil {
		return 0, err
	}
	memory, err := p.MemoryInfo()
	if err != nil {
		return 0, fmt.Errorf("read the memory of the catalogue: %w", err)
	}
	return int64(memory.RSS), nil //nolint:gosec // no machine has 2^63 bytes
}

// CPUTime is the time that processors have spent on the process since its start, the kernel's share included.
func (s *Service) CPUTime() (time.Duration, error) {
	p, err := s.look()
	if err != nil {
		return 0, err
	}
	times, err := p.Times()
	if err != nil {
		return 0, fmt.Errorf("read the processor time of the catalogue: %w", err)
	}
	return time.Duration((times.User + times.System) * float64(time.Second)), nil
}

func (s *Service) look() (*process.Process, error) {
	p, err := process.NewProcess(int32(s.process.Process.Pid)) //nolint:gosec // as the kernel gives it
	if err != nil {
		return nil, fmt.Errorf("find the process of the catalogue: %w", err)
	}
	return p, nil
}
