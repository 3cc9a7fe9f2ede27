package migrations_test

import (
	"context"
	"os"
	"testing"

	"catalogue/internal/mongotest"
)

// TestMain also runs the children that tests kill and pause: processes of this program that hold the lock.
func TestMain(m *testing.M) {
	if os.Getenv(childDatabase) != "" {
		os.Exit(child(context.Background(), os.Stdout))
	}
	os.Exit(mongotest.Main(m))
}
