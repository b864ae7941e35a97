//go:build linux

// Command virtual runs a program on a virtual desktop, for machines without a display.
//
//	virtual run PROGRAM [ARGUMENT...]   starts a desktop, and the program on it
//	virtual screenshot FILE.png         saves what the desktop shows
//	virtual stop                        ends the desktop and the program
//
// The desktop ends with the program. The program keeps its environment, with the desktop's display and
// session bus added to it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"nod/e2e/desktop"
)

// patience is how long the parts of a desktop may take to start.
const patience = 30 * time.Second

func main() {
	err := run(os.Args[1:])
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "virtual:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) >= 2 && args[0] == "run":
		return runProgram(args[1:])
	case len(args) == 2 && args[0] == "screenshot":
		return screenshot(args[1])
	case len(args) == 1 && args[0] == "stop":
		return stop()
	}
	return errors.New("usage: virtual run PROGRAM [ARGUMENT...] | screenshot FILE.png | stop")
}

// runProgram runs a program on the desktop that is up already, or on a new one.
func runProgram(args []string) error {
	if s, err := readState(); err == nil {
		fmt.Printf("A virtual desktop is up already, on display %s.\n", s.display())
		return start(context.Background(), s.Session, args).Run()
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	dir, err := os.MkdirTemp("", "nod-desktop-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	d, err := startDesktop(ctx, dir)
	if err != nil {
		return err
	}
	defer d.Close()
	s := state{PID: os.Getpid(), Session: d.Session()}
	if err := s.write(); err != nil {
		return err
	}
	defer removeState()
	fmt.Printf(`There is no display here, so %s runs on a virtual desktop, display %s.
  see it:    make screenshot   (saves build/screenshot.png)
  use it:    make demo         (sends a request of each kind)
  stop it:   Ctrl+C here, or make stop
`, filepath.Base(args[0]), s.display())

	err = start(ctx, s.Session, args).Run()
	if ctx.Err() != nil { // it was told to stop, and did
		return nil
	}
	return err
}

func startDesktop(ctx context.Context, dir string) (*desktop.Desktop, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return desktop.Start(ctx, dir, desktop.Openbox)
}

// start prepares a program that is told to stop when ctx ends.
func start(ctx context.Context, session, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), session...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second // then it is killed
	return cmd
}

// screenshot saves the virtual desktop or, where none is up, the display of this session.
func screenshot(path string) error {
	display, authority := os.Getenv("DISPLAY"), os.Getenv("XAUTHORITY")
	if s, err := readState(); err == nil {
		display, authority = s.display(), s.value("XAUTHORITY")
	}
	if display == "" {
		return errors.New("no virtual desktop is up: start one with make run")
	}
	screen, err := desktop.OpenScreen(display, authority)
	if err != nil {
		return fmt.Errorf("display %s: %w", display, err)
	}
	defer screen.Close()
	if err := screen.Save(path); err != nil {
		return err
	}
	fmt.Println(path)
	return nil
}

// stop tells the program that keeps the desktop up to end it.
func stop() error {
	s, err := readState()
	if err != nil {
		return fmt.Errorf("no virtual desktop is up: %w", err)
	}
	pid, err := os.FindProcess(s.PID)
	if err != nil {
		return err
	}
	if err := pid.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	fmt.Printf("Stopped the virtual desktop on display %s.\n", strings.TrimSpace(s.display()))
	return nil
}
