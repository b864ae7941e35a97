//go:build !linux

package main

import "syscall"

// tied sets nothing here: if nod is killed, the agent reads the end of its input.
func tied() *syscall.SysProcAttr { return nil }
