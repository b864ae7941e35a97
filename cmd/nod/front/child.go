package main

import (
	"io"
	"os"
	"os/exec"
	"time"
)

// startChild runs a program to its end and returns its exit status.
func startChild(path string, argv []string, payload io.Reader) (status int, err error) {
	cmd := exec.Cmd{
		Path: path, Args: argv, Stdin: payload, Stdout: os.Stdout, Stderr: os.Stderr,
		WaitDelay: 100 * time.Millisecond, // an agent need not close what it writes to
	}
	if err = cmd.Run(); cmd.ProcessState != nil && cmd.ProcessState.Exited() {
		return cmd.ProcessState.ExitCode(), nil
	}
	return 0, err
}
