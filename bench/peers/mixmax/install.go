// Package mixmax runs mongo-cursor-pagination, the npm package by mixmax, behind a small HTTP server of Node's.
package mixmax

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	installTimeout = 5 * time.Minute // of npm, downloads included
	toldOfOutput   = 400             // bytes of a command's last output that an error shows
)

// ErrMissing says that the machine has no Node.
var ErrMissing = errors.New("node and npm are not on the PATH")

// files are everything that the server consists of, so that the benchmark needs no source tree.
//
//go:embed server.js package.json package-lock.json
var files embed.FS

// Version is that of mongo-cursor-pagination.
func Version() (string, error) {
	manifest, err := files.ReadFile("package.json")
	if err != nil {
		return "", fmt.Errorf("read the server's files: %w", err)
	}
	var declared struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	err = json.Unmarshal(manifest, &declared)
	return declared.Dependencies["mongo-cursor-pagination"], err
}

// Cache is the folder for what is built once for all clones, as scripts/lib/common.sh has it.
func Cache() (string, error) {
	if folder := os.Getenv("CATALOGUE_CACHE"); folder != "" {
		return folder, nil
	}
	if folder := os.Getenv("XDG_CACHE_HOME"); folder != "" {
		return filepath.Join(folder, "catalogue"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	return filepath.Join(home, ".cache", "catalogue"), nil
}

// Install makes sure that the server and its locked packages are in a folder below cache, which it returns. The error is
// ErrMissing without Node, and shows the end of npm's output where npm fails.
func Install(ctx context.Context, cache string) (string, error) {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "", ErrMissing
		}
	}
	contents, digest, err := read()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cache, "mixmax-"+digest)
	if installed(folder) {
		return folder, nil
	}
	if err := os.MkdirAll(cache, 0o750); err != nil {
		return "", fmt.Errorf("make the cache folder: %w", err)
	}
	partial, err := os.MkdirTemp(cache, "mixmax-partial-*")
	if err != nil {
		return "", fmt.Errorf("make a folder to install in: %w", err)
	}
	defer func() { _ = os.RemoveAll(partial) }() // gone already where all went well
	if err := fill(ctx, partial, contents); err != nil {
		return "", err
	}
	if err := os.Rename(partial, folder); err != nil && !installed(folder) { // another run may have been faster
		return "", fmt.Errorf("put what was installed in its place: %w", err)
	}
	return folder, nil
}

func installed(folder string) bool {
	_, err := os.Stat(folder)
	return err == nil
}

// read returns the files by name and a digest of them all: another version of any gets another folder.
func read() (contents map[string][]byte, digest string, err error) {
	names, err := fs.Glob(files, "*")
	if err != nil {
		return nil, "", fmt.Errorf("list the server's files: %w", err)
	}
	contents, sum := map[string][]byte{}, sha256.New()
	for _, name := range names { // in the order of their names
		content, err := files.ReadFile(name)
		if err != nil {
			return nil, "", fmt.Errorf("read the server's files: %w", err)
		}
		contents[name] = content
		_, _ = fmt.Fprintf(sum, "%s %d\n%s", name, len(content), content) // a hash never fails
	}
	return contents, fmt.Sprintf("%.12x", sum.Sum(nil)), nil
}

// fill writes the files and has npm install exactly what the lock file names. Scripts of packages are not run.
func fill(ctx context.Context, folder string, contents map[string][]byte) error {
	for name, content := range contents {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return fmt.Errorf("write the server's files: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir = folder
	output, err := npm.CombinedOutput()
	if err != nil {
		return fmt.Errorf("npm ci: %w: %s", err, ending(output))
	}
	return nil
}

// ending is the last of a command's output, on one line.
func ending(output []byte) string {
	output = bytes.TrimSpace(output)
	if len(output) > toldOfOutput {
		output = append([]byte("…"), output[len(output)-toldOfOutput:]...)
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(output), "")), " ")
}
