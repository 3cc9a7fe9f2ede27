package rediscache_test

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"catalogue/internal/redistest"
)

// library stands in for the global logger of go-redis, which nothing here may reach.
type library struct{ lines atomic.Int64 }

func (l *library) Printf(_ context.Context, format string, args ...any) {
	l.lines.Add(1)
	fmt.Fprintf(os.Stderr, "go-redis writes to its global log: "+format+"\n", args...)
}

func TestMain(m *testing.M) {
	var l library
	redis.SetLogger(&l)
	code := redistest.Main(m)
	if l.lines.Load() > 0 {
		code = 1
	}
	os.Exit(code)
}
