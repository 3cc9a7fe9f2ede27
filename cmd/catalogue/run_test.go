package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"catalogue/internal/mongotest"
)

// outcome is what a run of the program left behind.
type outcome struct {
	code           int
	stdout, stderr string
}

func runProgram(ctx context.Context, environ []string, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	code := run(ctx, args, environ, &stdout, &stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, args string
		environ    []string
		code       int
		stderr     string
	}{
		{"version", "version", nil, 0, ""},
		{"the flag for it", "--version", nil, 0, ""},
		{"help", "--help", nil, 0, ""},
		{"no command", "", nil, 2, "a command is missing"},
		{"an unknown command", "sreve", nil, 2, `unknown command "sreve"`},
		{"no command of a group", "migrate", nil, 2, "a command is missing"},
		{"an unknown command of a group", "migrate sideways", nil, 2, `unknown command "sideways"`},
		{"an unknown flag", "serve --prot 80", nil, 2, "unknown flag: --prot"},
		{"an argument too many", "serve now", nil, 2, `unknown command "now"`},
		{"no configuration", "serve", nil, 1, "CATALOGUE_MONGODB_URI: is required"},
		{"no database", "migrate up", []string{"CATALOGUE_MONGODB_URI=nonsense"}, 1, "CATALOGUE_MONGODB_URI: "},
		{"no server", "health", []string{"CATALOGUE_HTTP_ADDR=127.0.0.1:1"}, 1, "no server answers"},
		{"no address", "health", []string{"CATALOGUE_HTTP_ADDR=x"}, 1, "CATALOGUE_HTTP_ADDR: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := runProgram(t.Context(), c.environ, strings.Fields(c.args)...)
			require.Equal(t, c.code, o.code, o.stderr)
			require.Contains(t, o.stderr, c.stderr)
			if c.code == 0 {
				require.Empty(t, o.stderr)
				require.NotEmpty(t, o.stdout)
				return
			}
			require.Equal(t, 1, strings.Count(o.stderr, "catalogue: "), "an error is printed once: %s", o.stderr)
			require.Equal(t, c.code == exitUsage, strings.Contains(o.stderr, "--help"))
			require.Empty(t, o.stdout)
		})
	}
}

func TestCommandsChooseTheirExitCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		code   int
		stderr string
	}{
		{&exitError{code: 3, err: errors.New("rows were rejected")}, 3, "catalogue: rows were rejected\n"},
		{&exitError{code: 4}, 4, ""},
		{errors.New("broken"), 1, "catalogue: broken\n"},
		{nil, 0, ""},
	} {
		var stderr bytes.Buffer
		a := &app{stderr: &stderr, started: true}
		require.Equal(t, c.code, a.report(&cobra.Command{Use: appName}, c.err))
		require.Equal(t, c.stderr, stderr.String())
	}
}

func TestCommandsWithoutADatabaseSayWhere(t *testing.T) {
	t.Parallel()
	o := runProgram(t.Context(), []string{
		"CATALOGUE_MONGODB_URI=mongodb://user:s3cr3t@127.0.0.1:1/?directConnection=true&serverSelectionTimeoutMS=1",
	}, "migrate", "up")
	require.Equal(t, exitFailure, o.code)
	require.Contains(t, o.stderr, "no MongoDB answers at mongodb://***@127.0.0.1:1/")
	require.Contains(t, o.stderr, "connection refused")
	require.NotContains(t, o.stderr, "topology", "the driver's own text is for nobody")
	require.NotContains(t, o.stderr, "s3cr3t")
}

func TestReachable(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		":8080": "127.0.0.1:8080", "0.0.0.0:80": "127.0.0.1:80", "[::]:80": "[::1]:80",
		"10.0.0.1:80": "10.0.0.1:80", "localhost:80": "localhost:80",
	} {
		require.Equal(t, want, reachable(addr))
	}
}

// databaseEnviron names a database that is dropped after the test.
func databaseEnviron(t *testing.T, uri string) []string {
	t.Helper()
	return []string{
		"CATALOGUE_MONGODB_URI=" + uri, "CATALOGUE_MONGODB_DATABASE=" + mongotest.Database(t).Name(),
		"CATALOGUE_ENV=development", "CATALOGUE_HTTP_ADDR=127.0.0.1:0",
	}
}

// logLines decodes a JSON log and returns the lines with that message.
func logLines(t *testing.T, log, msg string) []map[string]any {
	t.Helper()
	var found []map[string]any
	for text := range strings.Lines(log) {
		var line map[string]any
		if json.Unmarshal([]byte(text), &line) == nil && line["msg"] == msg {
			found = append(found, line)
		}
	}
	return found
}
