//go:build unix

package main

import (
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// start runs a program in this process, or in a child process if it has a payload to read.
func start(path string, argv []string, payload io.Reader) (status int, err error) {
	if payload != nil {
		return startChild(path, argv, payload)
	}
	return 0, syscall.Exec(path, argv, os.Environ())
}

const noFollow = syscall.O_NOFOLLOW

// passedOver are signals that must not end or stop this process while a command runs in the sandbox.
var passedOver = []os.Signal{syscall.SIGPIPE, syscall.SIGTSTP}

// isInBackground reports whether standard input is a terminal with another command in the foreground.
func isInBackground() bool {
	foreground, err := unix.IoctlGetInt(0, unix.TIOCGPGRP)
	return err == nil && foreground != unix.Getpgrp()
}
