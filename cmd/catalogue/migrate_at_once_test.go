package main

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"catalogue/internal/mongotest"
)

// childLease makes the test binary run the command line that it was given as a process of its own, with that lease.
const childLease = "CATALOGUE_TEST_CHILD_LEASE"

// child is the program with a short lease.
func child(lease string) int {
	short, err := time.ParseDuration(lease)
	if err != nil {
		panic(err)
	}
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt)
	defer release()
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(), now: time.Now, lease: short}
	return a.execute(ctx, os.Args[1:])
}

// process is a command of migrate in a process of its own.
type process struct {
	*exec.Cmd
	stdout, stderr *syncBuffer
}

func (d deployment) start(t testing.TB, lease time.Duration, args ...string) process {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	p := process{exec.CommandContext(t.Context(), program, append([]string{"migrate"}, args...)...), &syncBuffer{}, &syncBuffer{}}
	p.Env = append(append(os.Environ(), d.environ...), childLease+"="+lease.String())
	p.Stdout, p.Stderr = p.stdout, p.stderr
	require.NoError(t, p.Start())
	return p
}

// requireOnce requires that of several runs one has done each thing.
func requireOnce(t *testing.T, outputs []string) {
	t.Helper()
	all := strings.Join(outputs, "")
	for _, index := range declaredIndexes() {
		require.Equal(t, 1, strings.Count(all, "built     "+index.String()+", "), index)
	}
	for _, migration := range []string{"0001 stamps", "0002 validators", "0003 stray_types"} {
		require.Equal(t, 1, strings.Count(all, "applied   "+migration+", "), migration)
	}
}

func TestTwoProcessesMigrateAtOnce(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.SchemaTitles)
	d := newDeployment(t)
	d.plantOld(t, 300)
	a, b := d.start(t, time.Minute, "up"), d.start(t, time.Minute, "up")
	require.NoError(t, a.Wait(), a.stderr)
	require.NoError(t, b.Wait(), b.stderr)
	requireOnce(t, []string{a.stdout.String(), b.stdout.String()})
	d.requireMigrated(t, 300)
	d.requireDeclared(t)
}

func TestTenMigrateAtOnce(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.SchemaTitles)
	const runs = 10
	d := newDeployment(t)
	d.plantOld(t, 300)
	ended := make(chan outcome, runs)
	for range runs {
		go func() { ended <- d.migrate(t.Context(), "up") }()
	}
	var outputs []string
	for range runs {
		o := <-ended
		require.Equal(t, exitOK, o.code, o.stderr)
		outputs = append(outputs, o.stdout)
	}
	requireOnce(t, outputs)
	d.requireMigrated(t, 300)
	d.requireDeclared(t)
}

// Killed at any moment, again and again, the next run goes on. Each finds something to do.
func TestMigrateUpIsKilledAnywhere(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.SchemaTitles)
	const kills, lease, rows = 20, 300 * time.Millisecond, 5000
	d := newDeployment(t)
	d.plantOld(t, rows)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	declared, working, ended := declaredIndexes(), 0, 0
	for n := range kills {
		p := d.start(t, lease, "up")
		exited := make(chan struct{})
		go func() {
			_ = p.Wait() // killed, or its own exit code is looked at
			close(exited)
		}()
		window := 4 * lease // it may still wait for the lease of the one before
		if n%2 == 0 {
			window = lease
			require.Eventually(t, func() bool { return p.stdout.String() != "" }, patience, time.Millisecond)
		}
		select {
		case <-time.After(time.Duration(random.Int64N(int64(window)))):
			require.NoError(t, p.Process.Kill())
			<-exited
		case <-exited: // it was quicker, or so slow that its short lease was over
			ended++
			require.True(t, p.ProcessState.Success() || strings.Contains(p.stderr.String(), "the lock was lost"), p.stderr)
		}
		if p.stdout.String() != "" {
			working++
		}
		for range 3 {
			i := declared[random.IntN(len(declared))]
			_ = d.db.Collection(i.Collection).Indexes().DropOne(t.Context(), i.Name()) // it may be missing already
		}
	}
	t.Logf("of %d, %d had begun to work, %d ended by themselves", kills, working, ended)
	require.Greater(t, working, ended, "some were killed while they worked")
	d.up(t) // the lease of the last one that was killed is short
	d.requireMigrated(t, rows)
	d.requireDeclared(t)
}

// A person's Ctrl-C is a signal to the process: it frees the lock on its way out.
func TestAProcessOfMigrateFreesTheLockAtASignal(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.SchemaTitles)
	d := newDeployment(t)
	d.plantOld(t, 2000)
	p := d.start(t, time.Minute, "up")
	require.Eventually(t, func() bool { return p.stdout.String() != "" }, patience, time.Millisecond)
	require.NoError(t, p.Process.Signal(os.Interrupt))
	err := p.Wait()
	if err != nil { // else it was quicker
		require.Equal(t, exitInterrupted, p.ProcessState.ExitCode(), p.stderr)
	}
	_, held, err := d.lock().Holding(t.Context())
	require.NoError(t, err)
	require.False(t, held)
	d.up(t)
	d.requireMigrated(t, 2000)
	d.requireDeclared(t)
}
