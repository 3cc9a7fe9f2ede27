package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// The exit codes. A command may end with another one through exitError.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// exitError ends the program with a code of the command's own. Without err nothing is printed: the command has said
// what there is to say.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// report prints the error of a command, once, and returns the exit code.
func (a *app) report(command *cobra.Command, err error) int {
	if err == nil {
		return exitOK
	}
	exit, ok := errors.AsType[*exitError](err)
	if ok && exit.err == nil {
		return exit.code
	}
	_, _ = fmt.Fprintf(a.stderr, "%s: %v\n", appName, err) // a stderr that fails leaves the code to tell
	if ok {
		return exit.code
	}
	if !a.started {
		_, _ = fmt.Fprintf(a.stderr, "See %s --help.\n", command.CommandPath())
		return exitUsage
	}
	return exitFailure
}
