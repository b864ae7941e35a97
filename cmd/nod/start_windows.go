package main

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// apart makes a program outlive the console that started it: it has none, neither its own nor ours.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}

// terminate kills a process: Windows cannot ask a program without a console to end.
func terminate(p *os.Process) error { return p.Kill() }

func replaceSelf(path string, argv []string) error {
	cmd := exec.Cmd{Path: path, Args: argv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	err := cmd.Run()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return &verdict{status: status(e.ExitCode())}
	}
	return err
}
