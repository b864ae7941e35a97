package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Step is one thing that must be right for an agent to ask through nod.
type Step struct {
	What  string // how it is, right or wrong
	Err   error  // what is wrong and what to do; nil if it is right
	Hooks bool   // installing nod's hooks again may fix it
}

const probeTimeout = 10 * time.Second

// Check checks each step of the way from the agent to nod-desktop, and sends a harmless probe through the command that
// the agent would run: an event that decides nothing.
func (a Agent) Check(ctx context.Context, m Machine) (Status, []Step) {
	s, err := a.Status(m)
	cure := "run: nod agents install " + a.Name
	steps := []Step{
		step(a.Title+" is installed", a.Title+" is not installed",
			problem(s.Program == "", a.Program+" is not in PATH"), false),
		step("nod can read its settings", "nod can't read its settings", err, false),
	}
	if s.Dead == nil {
		steps = append(steps, step("its settings contain nod's hooks", "its settings lack nod's hooks",
			problem(!s.Installed, cure), s.Partly))
	}
	for _, off := range s.Off {
		steps = append(steps, Step{What: "its hooks are off", Err: off})
	}
	if s.Installed && s.Off == nil {
		steps = append(steps, Step{What: "its hooks are on"})
	}
	steps = append(steps, step("its settings let nod's hook wait for you",
		"its settings don't let nod's hook wait for you", s.CutOff, true))
	if len(s.Runs) > 0 {
		var dead error
		if s.Dead != nil {
			dead = fmt.Errorf("%w: %s", s.Dead, cure)
		}
		steps = append(steps, step("the programs its hooks run exist", "its hooks are broken", dead, true))
	}
	for i := 0; i < len(s.Runs) && !slices.ContainsFunc(steps[1:], Step.isWrong); i++ {
		steps = append(steps, a.probe(ctx, s.Runs[i])...)
	}
	return s, steps
}

// step says that something is right or, if err is not nil, that it is wrong.
func step(right, wrong string, err error, hooks bool) Step {
	if err != nil {
		return Step{wrong, err, hooks}
	}
	return Step{right, nil, hooks}
}

func (s Step) isWrong() bool { return s.Err != nil }

// probe runs the nod command of a hook, and the hook in a shell as the agent would, with an event that means nothing.
func (a Agent) probe(ctx context.Context, r Run) []Step {
	const nothing = `{"hook_event_name":"NodProbe","session_id":"nod-probe"}`
	steps := []Step{{"its hooks run " + r.Nod, isNod(ctx, r), true}}
	if steps[0].Err != nil {
		return steps
	}
	_, err := run(ctx, 0, r.Program+" status", "")
	if steps = append(steps, step("nod-desktop answers", "nod-desktop doesn't answer", err, false)); err != nil {
		return steps
	}
	said, err := run(ctx, a.Hooks.Abstain, r.line, nothing)
	if err == nil && said != "" {
		err = fmt.Errorf("the hook printed %q instead of nothing", said)
	}
	return append(steps, step("a test call went through the hook", "a test call didn't get through the hook", err, false))
}

func isNod(ctx context.Context, r Run) error {
	said, err := run(ctx, 0, r.Program+" --version", "")
	if err != nil {
		return fmt.Errorf("it does not run as nod does: %w", err)
	}
	return problem(!strings.HasPrefix(said, "nod "), "it is another program of that name")
}

func problem(is bool, what string) error {
	if is {
		return errors.New(what)
	}
	return nil
}

// run runs a line in a shell with this input, and returns its output. It fails unless the line exits with this status.
func run(ctx context.Context, status int, line, input string) (string, error) {
	late := fmt.Errorf("no answer within %v", probeTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, probeTimeout, late)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", "exec "+line) // exec: the command itself is killed
	cmd.Stdin = strings.NewReader(input)
	cmd.WaitDelay = time.Second // what it started may hold its output open
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err := cmd.Run()
	switch text := strings.TrimSpace(complaint.String()); {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err == nil && status == 0, err != nil && status != 0 && cmd.ProcessState.ExitCode() == status:
		return out.String(), nil
	case text != "":
		return "", errors.New(text)
	case err == nil:
		return "", fmt.Errorf("it exited with status 0, not %d", status)
	default:
		return "", err
	}
}
