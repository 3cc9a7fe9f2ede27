package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
)

// confirm asks a person at the terminal, and returns nil where the answer is yes.
func (a *app) confirm(ctx context.Context, question string) error {
	if !a.interactive {
		return &exitError{code: exitUsage, err: errors.New("nobody is there to be asked: say --yes where it is meant")}
	}
	_, _ = fmt.Fprintf(a.stderr, "%s [y/N] ", question) // the answer counts, whether or not the question was seen
	answer := make(chan string, 1)
	go func() { // a read of a terminal cannot be stopped: after Ctrl-C it is left behind, and the process ends
		line, _ := bufio.NewReader(a.stdin).ReadString('\n') // what cannot be read is no yes
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case said := <-answer:
		if said == "y" || said == "yes" {
			return nil
		}
		return &exitError{code: exitFailure, err: errors.New("nothing was done")}
	}
}
