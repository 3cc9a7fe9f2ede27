// Package testenv is what the packages that give tests a real server have in common.
package testenv

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Server is what the tests of one process share.
type Server interface {
	// Release closes clients and returns what goleak is to overlook.
	Release() []goleak.Option
	// Stop ends the server where it was started for the tests. It comes after the look for goroutines, which its own
	// requests would disturb.
	Stop()
}

// Main runs the tests of a package, closes what they shared and looks for goroutines left behind. Use it as
//
//	func TestMain(m *testing.M) { os.Exit(testenv.Main(m, mongotest.Server(), redistest.Server())) }
func Main(m *testing.M, servers ...Server) int { return MainWith(m, nil, servers...) }

// MainWith is Main with goroutines to overlook.
func MainWith(m *testing.M, options []goleak.Option, servers ...Server) int {
	code := m.Run()
	for _, s := range servers {
		options = append(options, s.Release()...)
	}
	if err := goleak.Find(options...); err != nil && code == 0 {
		fmt.Fprintf(os.Stderr, "goroutines are left behind: %v\n", err)
		code = 1
	}
	for _, s := range servers {
		s.Stop()
	}
	return code
}
