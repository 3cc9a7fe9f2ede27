package mixmax_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"catalogue/bench/peers/mixmax"
	"catalogue/bench/peers/mixmax/mixmaxtest"
	"catalogue/internal/mongotest"
)

func TestMain(m *testing.M) { os.Exit(mongotest.Main(m)) }

func TestWithoutNode(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := mixmax.Install(t.Context(), t.TempDir())
	require.ErrorIs(t, err, mixmax.ErrMissing)
}

// fakeTools puts a node and an npm of the test's own on the PATH.
func fakeTools(t testing.TB, npm string) {
	t.Helper()
	folder := t.TempDir()
	for name, script := range map[string]string{"node": "exit 0", "npm": npm} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func TestAFailureOfNpmIsShownAndLeavesNothing(t *testing.T) {
	fakeTools(t, "echo the registry is away >&2; exit 7")
	cache := t.TempDir()
	_, err := mixmax.Install(t.Context(), cache)
	require.ErrorContains(t, err, "exit status 7: the registry is away")
	left, err := os.ReadDir(cache)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestItIsInstalledOnce(t *testing.T) {
	fakeTools(t, "[ \"$1\" = ci ] && : > installed")
	cache := filepath.Join(t.TempDir(), "made", "when", "needed")
	folder, err := mixmax.Install(t.Context(), cache)
	require.NoError(t, err)
	for _, name := range []string{"server.js", "package.json", "package-lock.json", "installed"} {
		require.FileExists(t, filepath.Join(folder, name))
	}
	fakeTools(t, "exit 1")
	again, err := mixmax.Install(t.Context(), cache)
	require.NoError(t, err)
	require.Equal(t, folder, again)
}

func TestCacheFolder(t *testing.T) {
	t.Setenv("HOME", "/home/someone")
	for _, c := range []struct{ own, xdg, want string }{
		{"/own", "/xdg", "/own"},
		{"", "/xdg", "/xdg/catalogue"},
		{"", "", "/home/someone/.cache/catalogue"},
	} {
		t.Setenv("CATALOGUE_CACHE", c.own)
		t.Setenv("XDG_CACHE_HOME", c.xdg)
		folder, err := mixmax.Cache()
		require.NoError(t, err)
		require.Equal(t, filepath.FromSlash(c.want), folder)
	}
}

// Packages come from the registry that npm is set to: the lock file names none.
func TestTheLockNamesNoRegistry(t *testing.T) {
	t.Parallel()
	lock, err := os.ReadFile("package-lock.json")
	require.NoError(t, err)
	require.NotContains(t, string(lock), `"resolved"`)
	require.Contains(t, string(lock), `"integrity"`)
}

func TestVersionIsOne(t *testing.T) {
	t.Parallel()
	version, err := mixmax.Version()
	require.NoError(t, err)
	require.Regexp(t, `^\d+\.\d+\.\d+$`, version)
}

func TestAnErrorIsNoPage(t *testing.T) {
	t.Parallel()
	server, err := mixmax.Start(context.WithoutCancel(t.Context()), mixmaxtest.Installed(t), mongotest.URI(t))
	require.NoError(t, err)
	_, err = server.Get(t.Context(), "/"+mongotest.Name()+"/rows?sort=v&limit=1&next=nonsense")
	require.ErrorContains(t, err, "500")
	body, err := server.Get(t.Context(), "/"+mongotest.Name()+"/rows?sort=v&limit=1")
	require.NoError(t, err)
	require.JSONEq(t, `{"data": [], "next": null}`, string(body))
	require.NoError(t, server.Stop())
	_, err = server.Get(t.Context(), "/")
	require.Error(t, err, "nobody listens any more")
}

func TestItEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	server, err := mixmax.Start(ctx, mixmaxtest.Installed(t), mongotest.URI(t))
	require.NoError(t, err)
	cancel()
	require.ErrorIs(t, server.Stop(), context.Canceled)
	_, err = server.Get(t.Context(), "/")
	require.Error(t, err, "nobody listens any more")
}

func TestAServerThatDoesNotStartSaysWhy(t *testing.T) {
	t.Parallel()
	mixmaxtest.Installed(t)
	_, err := mixmax.Start(t.Context(), t.TempDir(), mongotest.URI(t))
	require.ErrorContains(t, err, "server.js")
}
