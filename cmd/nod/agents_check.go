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
	"nod/policy/invisible"
)

func (c *console) agentsCheck() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use:   "check [AGENT]",
		Short: "Send a harmless test call through an agent's hook and report each step",
		Long: `Check each step from an agent to nod-desktop, and send a harmless test call through the command in its
settings. "ok" works, "no" doesn't, and "--" is good to know: an untested version, or a limit of nod with this agent.
Without AGENT, check every agent that is set up.

To repair hooks: nod agents install AGENT.`,
		Example:   "  nod agents check\n  nod agents check claude-code",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: registry.Names(registry.Installable()),
		RunE: c.runs(func(ctx context.Context, args []string) error {
			if len(args) == 0 {
				return c.checkAll(ctx)
			}
			a, m, err := agentNamed(args[0])
			if err != nil {
				return err
			}
			r := check(ctx, a, m)
			return errors.Join(c.show(r, describeCheck(r)), notAsking(r))
		}),
	}, "print JSON")
}

type checked struct {
	Agent   string        `json:"agent"`
	OK      bool          `json:"ok"`
	Steps   []checkedStep `json:"steps"`
	Remarks []string      `json:"remarks"`

	title string
}

type checkedStep struct {
	What    string `json:"what"`
	Problem string `json:"problem,omitempty"`
}

func describeCheck(r checked) string {
	var text strings.Builder
	for _, step := range r.Steps {
		if step.Problem == "" {
			fmt.Fprintf(&text, "ok  %s\n", step.What)
		} else {
			fmt.Fprintf(&text, "!!  %s: %s\n", step.What, step.Problem)
		}
	}
	for _, remark := range r.Remarks {
		fmt.Fprintf(&text, "--  %s\n", remark)
	}
	return text.String()
}

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

// checkAll checks the agents that are set up, or whose state is unknown.
func (c *console) checkAll(ctx context.Context) error {
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
		r := check(ctx, a, m)
		all, text = append(all, r), text+a.Title+"\n"+describeCheck(r)
	}
	if len(all) == 0 {
		text = "no agent is set up; see: nod agents list\n"
	}
	return errors.Join(c.show(all, text), notAsking(all...))
}

func check(ctx context.Context, a agent.Agent, m agent.Machine) checked {
	status, steps := a.Check(ctx, m)
	r := checked{Agent: a.Name, OK: true, Steps: []checkedStep{}, Remarks: []string{}, title: a.Title}
	for _, step := range steps {
		problem := ""
		if step.Err != nil {
			problem, r.OK = invisible.Visible(step.Err.Error()), false
		}
		r.Steps = append(r.Steps, checkedStep{invisible.Visible(step.What), problem})
	}
	for _, remark := range remarks(a, status) {
		r.Remarks = append(r.Remarks, invisible.Visible(remark))
	}
	r.Remarks = append(r.Remarks, a.Limits...)
	return r
}
