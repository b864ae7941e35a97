package main

import (
	"cmp"
	"errors"
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

// errUnread is for a command from a Claude Code that hands over commands in a form that nod does not know, while a
// command, perhaps this one, must run in the sandbox.
var errUnread = errors.New("nod can't tell whether this is the command to run in its sandbox: " +
	"update nod, or turn the sandbox off")

// shell runs a command line for an agent, as sh -c does. A command that nod-desktop sent to the sandbox runs there and
// never outside, whatever has happened to nod-desktop since.
func shell(line string) (status int, err error) {
	command, isCommand := prefix.Read(line)
	dir, err := endpoint.Locate()
	if err != nil {
		return 0, err
	}
	program, err := outside.Find(cmp.Or(command.Shell, "sh")) // by which Claude Code runs hooks and MCP servers
	if err != nil {
		return 0, err
	}
	switch {
	case isCommand && expected.Some(dir, command.Text):
		if status, err := forAgent(command, line, program).run(); !isUnexpected(err) {
			return status, err
		}
	case isCommand:
		_ = expected.Saw(dir, client.NewHookCall("", "", nil).Version)
	case strings.HasSuffix(os.Getenv("AI_AGENT"), "_agent") && expected.Some(dir, ""):
		return 0, errUnread
	}
	if err := os.Setenv(client.ShellVariable, strconv.Itoa(os.Getpid())); err != nil {
		return 0, err
	}
	return start(program, []string{filepath.Base(program), "-c", line}, nil)
}
