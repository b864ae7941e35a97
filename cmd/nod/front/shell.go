package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"nod/agents/claude/prefix"
	"nod/ipc/client"
	"nod/ipc/endpoint"
	"nod/sandbox/expected"
	"nod/sandbox/outside"
)

// exitNotRun is the status of a shell whose command cannot be run.
const exitNotRun = 126

// shell runs a command line for an agent, as sh -c does. A command that nod-desktop has decided to run in the sandbox
// it hands over to nod-cli; it never runs that outside, whatever has happened to nod-desktop since.
func shell(line string) int {
	status, err := runLine(line)
	if err != nil {
		fmt.Fprintf(os.Stderr, "nod: not run: %v\n", err)
		return exitNotRun
	}
	return status
}

// errUnread is for a command of a Claude Code that hands commands over in another form than nod knows, while one of
// them, perhaps this one, must run in the sandbox.
var errUnread = errors.New("nod can't tell whether this is the command to run in its sandbox: " +
	"update nod, or turn the sandbox off")

// runLine is shell, but for its errors.
func runLine(line string) (status int, err error) {
	command, isCommand := prefix.Read(line)
	dir, err := endpoint.Locate()
	if err != nil {
		return 0, err
	}
	folder := expected.In(dir)
	switch {
	case isCommand && expected.Some(folder, command.Text):
		return handOver([]string{"run", "-c", line}, nil)
	case isCommand:
		_ = expected.Saw(folder, client.NewHookCall("", "", nil).Version)
	case strings.HasSuffix(os.Getenv("AI_AGENT"), "_agent") && expected.Some(folder, ""):
		return 0, errUnread
	}
	program, err := outside.Find(command.Shell())
	if err != nil {
		return 0, err
	}
	if err := os.Setenv(client.ShellVariable, strconv.Itoa(os.Getpid())); err != nil {
		return 0, err
	}
	return start(program, []string{filepath.Base(program), "-c", line}, nil)
}
