// Package servicetest builds the catalogue for tests that run it as a process.
package servicetest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"catalogue/internal/testenv"
)

// CursorKey is long enough to sign with.
const CursorKey = "a key of tests that protects nothing"

// binary is built by the first test that needs it.
type binary struct {
	once   sync.Once
	folder string
	err    error
}

// shared lives as long as the process: tests of one package have no other common owner.
//
//nolint:gochecknoglobals // TestMain and the tests reach each other through nothing else
var shared binary

// Server takes away what Binary has built, for the TestMain of a package.
func Server() testenv.Server { return &shared }

// Binary returns the path of the catalogue, which is built once for the process.
func Binary(t testing.TB) string {
	t.Helper()
	shared.once.Do(shared.build)
	require.NoError(t, shared.err)
	return shared.path()
}

func (b *binary) build() {
	if b.folder, b.err = os.MkdirTemp("", "catalogue-binary-"); b.err != nil {
		return
	}
	// Not in the test's context: the binary is for the tests after it, too.
	command := exec.CommandContext(context.Background(), "go", "build", "-o", b.path(), "catalogue/cmd/catalogue") //nolint:gosec // a path of its own
	if out, err := command.CombinedOutput(); err != nil {
		b.err = fmt.Errorf("build the catalogue: %w\n%s", err, out)
	}
}

func (b *binary) path() string { return filepath.Join(b.folder, "catalogue") }

// Release has nothing that goleak would find.
func (*binary) Release() []goleak.Option { return nil }

// Stop removes the binary.
func (b *binary) Stop() {
	if b.folder != "" {
		_ = os.RemoveAll(b.folder) // what is left lies in the folder of temporary files
	}
}
