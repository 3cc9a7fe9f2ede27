// Bench measures what a page costs at any depth, against what users would pick instead, and writes the page of its
// results. It needs a server and a built catalogue; make bench brings both.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"catalogue/bench/groups"
)

func main() {
	ctx, release := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	// The first signal asks the benchmarks to end; released, a second one ends them at once.
	context.AfterFunc(ctx, release)
	a := &app{stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, groups: groups.All()}
	os.Exit(a.execute(ctx, os.Args[1:]))
}
