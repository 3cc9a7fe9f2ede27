// Catalogue serves lists of creatives and tasks over a MongoDB database.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/gin-gonic/gin"
)

func main() {
	gin.SetMode(gin.ReleaseMode) // a setting of the whole process, so it is made here and nowhere else
	ctx, release := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	// The first signal asks the command to end; released, a second one ends the process at once.
	context.AfterFunc(ctx, release)
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}
