package service

import "syscall"

// processAttributes keep the catalogue out of the terminal's reach, so that Ctrl-C ends the benchmarks, which then stop
// it, and have the kernel kill it with them where they cannot.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
