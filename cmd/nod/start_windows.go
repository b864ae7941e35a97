package main

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// detachedProcess starts a program without any console, its own or ours (DETACHED_PROCESS in winbase.h).
const detachedProcess = 0x00000008

// apart makes a program outlive the console that started it.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: detachedProcess | syscall.CREATE_NEW_PROCESS_GROUP}
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
