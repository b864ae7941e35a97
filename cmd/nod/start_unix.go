//go:build unix

package main

import (
	"os"
	"syscall"
)

// apart makes a program outlive the terminal that started it: its own session gets no signals from the terminal.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

func replaceSelf(path string, argv []string) error { return syscall.Exec(path, argv, os.Environ()) }
