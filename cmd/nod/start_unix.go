//go:build unix

package main

import "syscall"

// apart makes a program outlive the terminal that started it: a session of its own gets no signal from it.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
