package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Step is one thing that has to be in order for an agent to ask through nod.
type Step struct {
	What string
	Err  error // what is wrong and what to do; nil when it is in order
}

// probeTimeout is how long the probe's hook may take.
const probeTimeout = 10 * time.Second

// Check looks at each step of the way from the agent to nod-desktop, and sends a harmless probe down it: an
// event that decides nothing, through the very command that the agent would run.
func (a Agent) Check(ctx context.Context, m Machine) (Status, []Step) {
	s, err := a.Status(m)
	steps := []Step{
		{What: a.Title + " is installed", Err: problem(s.Program == "", a.Program+" is not in PATH")},
		{What: "its settings can be read", Err: err},
		{What: "nod's hooks are in them", Err: problem(!s.Installed, "run: nod agents install "+a.Name)},
		{What: "its settings let nod's hook wait for you", Err: s.CutOff},
		{What: "the nod command is at " + m.Nod, Err: executable(m.Nod)},
	}
	if !slices.ContainsFunc(steps[1:], func(s Step) bool { return s.Err != nil }) {
		steps = append(steps,
			Step{What: "nod-desktop answers", Err: run(ctx, 0, m.Nod, "status", "")},
			Step{What: "a probe went through the hook", Err: a.probe(ctx, m)},
		)
	}
	return s, steps
}

func problem(is bool, what string) error {
	if is {
		return errors.New(what)
	}
	return nil
}

func executable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return problem(!info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0, "it cannot be run")
}

// probe runs the hook as the agent would: by a shell, with a payload of an event that is no event.
func (a Agent) probe(ctx context.Context, m Machine) error {
	const nothing = `{"hook_event_name":"NodProbe","session_id":"nod-probe"}`
	return run(ctx, a.Hooks.Abstain, "/bin/sh", "-c", Command(m.Nod, a.Name), nothing)
}

// run runs a command whose last argument is its standard input, and expects it to end with this status and to say
// nothing on standard output when it was given any.
func run(ctx context.Context, status int, name string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	input := args[len(args)-1]
	cmd := exec.CommandContext(ctx, name, args[:len(args)-1]...)
	cmd.Stdin = strings.NewReader(input)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil && (ctx.Err() != nil || status == 0 || cmd.ProcessState.ExitCode() != status) {
		if text := strings.TrimSpace(complaint.String()); text != "" {
			return errors.New(text)
		}
		return err
	}
	if input != "" && out.Len() > 0 {
		return fmt.Errorf("the hook said %q where it should say nothing", out.String())
	}
	return nil
}
