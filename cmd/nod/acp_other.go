//go:build !linux

package main

import "syscall"

// tied has nothing to say: where nod is killed, the agent reads the end of its input.
func tied() *syscall.SysProcAttr { return nil }
