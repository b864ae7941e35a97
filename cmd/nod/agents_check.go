package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nod/agents/agent"
	"nod/agents/registry"
	"nod/policy"
)

func (c *console) agentsCheck() *cobra.Command {
	var fix bool
	cmd := &cobra.Command{
		Use:   "check [AGENT]",
		Short: "Send a harmless test call through an agent's hook and report each step",
		Long: `Check each step from an agent to nod-desktop, and send a harmless test call through the command in its
settings. "ok" works, "no" doesn't, and "--" is good to know: an untested version, or a limit of nod with this agent.
Without AGENT, check every agent that is set up.

With --fix, replace hooks that are broken, incomplete, or don't wait for you. Shows the diff and asks, as nod agents
install does.`,
		Example:   "  nod agents check\n  nod agents check --fix claude-code",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: registry.Names(registry.Installable()),
		RunE: c.runs(func(ctx context.Context, args []string) error {
			if len(args) == 0 {
				return c.checkAll(ctx, fix)
			}
			a, m, err := agentNamed(args[0])
			if err != nil {
				return err
			}
			r, err := c.checkAgent(ctx, a, m, fix)
			return errors.Join(err, c.show(r, r.String()), notAsking(r))
		}),
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "repair hooks that don't work")
	return c.withJSON(c.withYes(cmd), "print JSON; changes nothing without --yes")
}

// checked is what nod agents check says of an agent.
type checked struct {
	Agent   string        `json:"agent"`
	OK      bool          `json:"ok"`
	Steps   []checkedStep `json:"steps"`
	Remarks []string      `json:"remarks"`
	Diffs   []string      `json:"diffs,omitempty"` // what --fix has changed or, where Fixed is not set, would change
	Fixed   bool          `json:"fixed,omitempty"`

	title string
	hooks bool // to put its hooks in anew may help
}

type checkedStep struct {
	What    string `json:"what"`
	Problem string `json:"problem,omitempty"`
}

// String says it to a person.
func (r checked) String() string {
	var text strings.Builder
	for _, step := range r.Steps {
		if step.Problem == "" {
			fmt.Fprintf(&text, "ok  %s\n", step.What)
		} else {
			fmt.Fprintf(&text, "no  %s: %s\n", step.What, step.Problem)
		}
	}
	for _, remark := range r.Remarks {
		fmt.Fprintf(&text, "--  %s\n", remark)
	}
	return text.String()
}

// notAsking is the error of a check that found agents which do not ask through nod.
func notAsking(all ...checked) error {
	all = slices.DeleteFunc(slices.Clone(all), func(r checked) bool { return r.OK })
	var titles []string
	for _, r := range all {
		titles = append(titles, r.title)
	}
	switch len(titles) {
	case 0:
		return nil
	case 1:
		return errors.New(titles[0] + " does not ask through nod yet")
	}
	return errors.New(strings.Join(titles, ", ") + " do not ask through nod yet")
}

// checkAll checks the agents that are set up, or of which nobody can tell.
func (c *console) checkAll(ctx context.Context, fix bool) error {
	m, err := patientMachine()
	if err != nil {
		return err
	}
	look := m
	look.Run = nil
	all, text := []checked{}, ""
	for _, a := range registry.Installable() {
		if s, err := a.Status(look); err == nil && !s.Installed && !s.Partly && !s.Gate {
			continue
		}
		r, fixed := c.checkAgent(ctx, a, m, fix)
		all, text, err = append(all, r), text+a.Title+"\n"+r.String(), errors.Join(err, fixed)
	}
	if len(all) == 0 {
		text = "no agent is set up; see: nod agents list\n"
	}
	return errors.Join(err, c.show(all, text), notAsking(all...))
}

// checkAgent checks an agent and, to fix it, puts its hooks in anew where that may help. The error is why it could not.
func (c *console) checkAgent(ctx context.Context, a agent.Agent, m agent.Machine, fix bool) (checked, error) {
	before := check(ctx, a, m)
	if !fix || !before.hooks {
		return before, nil
	}
	changes, err := a.Install(m, false)
	if err != nil || len(changes) == 0 {
		return before, err
	}
	for _, change := range changes {
		before.Diffs = append(before.Diffs, change.Diff())
	}
	if c.json && !c.yes {
		return before, nil
	}
	if !c.json {
		if err := errors.Join(c.print(strings.Join(before.Diffs, "")), c.consent()); err != nil {
			return before, err
		}
	}
	if err := apply(changes); err != nil {
		return before, err
	}
	after := check(ctx, a, m)
	after.Diffs, after.Fixed = before.Diffs, true
	return after, nil
}

func check(ctx context.Context, a agent.Agent, m agent.Machine) checked {
	status, steps := a.Check(ctx, m)
	r := checked{Agent: a.Name, OK: true, Steps: []checkedStep{}, Remarks: []string{}, title: a.Title}
	for _, step := range steps {
		problem := ""
		if step.Err != nil {
			problem, r.OK, r.hooks = policy.Visible(step.Err.Error()), false, r.hooks || step.Hooks
		}
		r.Steps = append(r.Steps, checkedStep{policy.Visible(step.What), problem})
	}
	for _, remark := range []string{status.Untested, status.Asking} {
		if remark != "" {
			r.Remarks = append(r.Remarks, policy.Visible(remark))
		}
	}
	if status.Other != "" {
		r.Remarks = append(r.Remarks, policy.Visible(otherNod(a, status)))
	}
	r.Remarks = append(r.Remarks, a.Limits...)
	return r
}
