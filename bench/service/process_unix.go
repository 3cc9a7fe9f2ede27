//go:build unix && !linux

package service

import "syscall"

// processAttributes keep the catalogue out of the terminal's reach, so that Ctrl-C ends the benchmarks, which then stop
// it. Where they are killed themselves, it stays: only Linux knows to end it.
func processAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
