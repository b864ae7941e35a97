package main

import (
	"io"
	"os"
	"os/signal"
	"syscall"
)

// start runs a program in a child process. The user's interrupts are for the child; this process only waits.
func start(path string, argv []string, payload io.Reader) (status int, err error) {
	signal.Ignore(os.Interrupt)
	if payload == nil {
		payload = os.Stdin
	}
	return startChild(path, argv, payload)
}

const noFollow = 0

var passedOver = []os.Signal{syscall.SIGPIPE}

func isInBackground() bool { return false }
