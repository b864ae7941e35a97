// Command nod is what users and agents start. It passes on the hooks of agents and runs commands in the sandbox itself,
// because an agent waits on every call for the program to start; it hands everything else over to nod-cli, which links
// what these never need.
//
// It knows no agent: whenever nod-desktop gives no answer it also hands over to nod-cli, which denies if it has to.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"nod/api"
	"nod/ipc/client"
	"nod/ipc/client/waiting"
	"nod/ipc/programs"
	"nod/sandbox"
)

// exitDenied is the status of a hook for which nod-cli cannot be started. Most agents then deny.
const exitDenied = 2

func main() {
	sandbox.Main() // as what it is started in a sandbox
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	if len(args) == 2 && args[0] == "-c" {
		return ended(shell(args[1]))
	}
	if command := ownCommand(args); command != nil {
		own := contained{request: api.RunRequest{Own: command}, argv: func(string) []string { return command }}
		return ended(own.run())
	}
	var payload io.Reader
	if isPlain(args) {
		input, failed, done := hook(args[1], strings.Join(args[2:], ""))
		if done {
			return 0
		}
		if payload = input; failed != "" {
			args = append(slices.Clone(args), "--"+client.FailedFlag+"="+failed)
		}
	}
	status, err := handOver(args, payload)
	if err != nil {
		fmt.Fprintf(os.Stderr, "nod: %v\n", err)
		return exitDenied
	}
	return status
}

// isPlain reports whether the arguments are those of a hook that is not logged, of an agent that reads what its hooks
// print.
func isPlain(args []string) bool {
	isHook := len(args) > 1 && len(args) < 4 && args[0] == "hook" &&
		!slices.ContainsFunc(args, func(arg string) bool { return arg == "" || strings.HasPrefix(arg, "-") })
	return isHook && !slices.Contains(goByStatus, args[1]) && os.Getenv("NOD_LOG") == ""
}

// goByStatus are the agents that use the exit status of their hooks, or whose payload is not all on standard input.
var goByStatus = []string{"amp", "letta"}

// hook passes on a hook and prints nod-desktop's reply. Without a reply it is not done: then input is what the agent
// wrote, and failed says why nod-desktop did not answer after it was asked. If failed is empty, nod-desktop can be
// asked again.
func hook(agent, event string) (input io.Reader, failed string, done bool) {
	payload, err := waiting.Payload(os.Stdin)
	input = io.MultiReader(bytes.NewReader(payload), os.Stdin)
	if err != nil || len(payload) > client.MaxPayload {
		return input, "", false
	}
	if event == "" {
		event = client.EventOf(bytes.NewReader(payload))
	}
	h := client.NewHookCall(agent, event, payload)
	h.Looks = true
	reply, err := waiting.Hook(context.Background(), h)
	_, isRefused := errors.AsType[*client.Problem](err)
	switch {
	case errors.Is(err, waiting.ErrCallerGone):
		return nil, "", true
	case errors.Is(err, client.ErrNotRunning), isRefused:
		return input, "", false
	case err != nil:
		return input, err.Error(), false
	case len(reply) == 0:
		return nil, "", true
	}
	_, err = os.Stdout.Write(append(reply, '\n'))
	return input, "the reply could not be printed", err == nil
}

// handOver runs nod-cli with these arguments. It reads payload as its standard input, or the original one if payload is
// nil.
func handOver(args []string, payload io.Reader) (status int, err error) {
	path, err := programs.Find("nod-cli")
	if err != nil {
		return 0, err
	}
	if self, err := os.Executable(); err == nil && programs.IsSame(self, path) { // it would start itself for ever
		return 0, fmt.Errorf("%s is nod, not nod-cli: reinstall nod", path)
	}
	return start(path, append([]string{os.Args[0]}, args...), payload)
}

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
