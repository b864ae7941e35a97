//go:build unix

package main

import (
	"io"
	"os"
	"syscall"
)

// start runs a program in this process, unless it has to be given its input.
func start(path string, argv []string, payload io.Reader) (status int, err error) {
	if payload != nil {
		return startChild(path, argv, payload)
	}
	return 0, syscall.Exec(path, argv, os.Environ())
}

// noFollow has opening a symbolic link fail.
const noFollow = syscall.O_NOFOLLOW
