package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"nod/agents/agent"
	"nod/agents/registry"
	"nod/ipc/programs"
	"nod/ownfile/owndata"
	"nod/policy/config"
	"nod/policy/invisible"
)

func (c *console) agents() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "Set up coding agents to ask through nod",
		Args:  cobra.ArbitraryArgs,
		RunE:  c.needCommand,

		SuggestionsMinimumDistance: suggestDistance,
	}
	cmd.AddCommand(c.agentsList(), c.agentsInstall(), c.agentsUninstall(), c.agentsCheck())
	return cmd
}

func (c *console) agentsList() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use:   "list",
		Short: "List the agents that nod knows and whether they ask through nod",
		Args:  noArgs,
		RunE:  c.runs(func(context.Context, []string) error { return c.listAgents() }),
	}, "print JSON")
}

type agentRow struct {
	Agent     string   `json:"agent"`
	Found     string   `json:"found,omitempty"` // path of its program
	Version   string   `json:"version,omitempty"`
	Installed bool     `json:"installed"`
	State     string   `json:"state"` // in words
	Settings  []string `json:"settings"`
	Remarks   []string `json:"remarks,omitempty"`
}

func (c *console) listAgents() error {
	m, err := patientMachine()
	if err != nil {
		return err
	}
	known := registry.Installable()
	found, failed := make([]agent.Status, len(known)), make([]error, len(known))
	var all sync.WaitGroup
	for i, a := range known {
		all.Go(func() { found[i], failed[i] = a.Status(m) })
	}
	all.Wait()
	var rows []agentRow
	lines := []string{"AGENT\tVERSION\tASKS THROUGH NOD\tSETTINGS"}
	var notes []string
	for i, a := range known {
		s, err := found[i], failed[i]
		row := agentRow{
			Agent: a.Name, Found: s.Program, Version: s.Version, Installed: s.Installed, State: state(s),
			Settings: []string{s.File}, Remarks: append(remarks(a, s), problems(a, s)...),
		}
		if err != nil {
			row.State = err.Error()
		}
		rows = append(rows, row)
		version := row.Version
		if row.Found == "" {
			version = "not found"
		}
		lines = append(lines, strings.Join([]string{row.Agent, version, row.State, strings.Join(row.Settings, " ")}, "\t"))
		for _, remark := range row.Remarks {
			notes = append(notes, row.Agent+": "+invisible.Visible(remark)+"\n")
		}
	}
	return c.show(rows, columns(lines)+strings.Join(notes, ""))
}

// remarks returns what a user should know about an agent besides its problems.
func remarks(a agent.Agent, s agent.Status) []string {
	all := []string{s.Untested, s.Asking}
	if s.Other != "" { // which works as long as it exists
		all = append(all, fmt.Sprintf("its hooks run another nod command, %s; to change that: nod agents install %s",
			s.Other, a.Name))
	}
	return slices.DeleteFunc(all, func(remark string) bool { return remark == "" })
}

func problems(a agent.Agent, s agent.Status) (all []string) {
	for _, err := range append(slices.Clip(s.Off), a.DeadHooks(s), s.CutOff) {
		if err != nil {
			all = append(all, err.Error())
		}
	}
	return all
}

func state(s agent.Status) string {
	switch {
	case s.Installed && s.Off != nil:
		return "no: its hooks are off"
	case s.Installed && s.Gate:
		return "yes, and nod is the only gate"
	case s.Installed:
		return "yes"
	case s.Dead != nil:
		return "no: its hooks are broken"
	case s.Partly:
		return "partly: install again"
	}
	return "no"
}

func machine() (agent.Machine, error) {
	self, err := programs.Self()
	if err != nil {
		return agent.Machine{}, err
	}
	m, err := agent.ThisMachine(self)
	m.Dir, _ = os.Getwd() // a deleted folder has no name
	return m, err
}

func (c *console) agentsInstall() *cobra.Command {
	var gate bool
	cmd := &cobra.Command{
		Use:   "install AGENT",
		Short: "Add nod's hooks to an agent's settings",
		Long: `Add nod's hooks to an agent's settings. Shows the diff, asks, and keeps a copy of the old file beside the
new one. Nothing else in the file changes. Running it again changes nothing.

The hooks run nod by the path you call it by, without following links. A checkout or an unpacked archive may go away, so
nod keeps a copy for hooks in its data folder, and nod-desktop updates it at every start.`,
		Example:   "  nod agents install claude-code",
		Args:      oneArg("an agent"),
		ValidArgs: registry.Names(registry.Installable()),
		RunE: c.runs(func(ctx context.Context, args []string) error {
			plan := func(a agent.Agent, m agent.Machine) ([]agent.Change, error) {
				if gate && a.Gate == nil {
					return nil, wrongUsage("--only-gate: %s can't turn off its own prompt", a.Title)
				}
				return a.Install(m, gate)
			}
			hint := func(a agent.Agent) string { return a.After }
			return c.change(ctx, args[0], plan, "is already set up", hint)
		}),
	}
	cmd.Flags().BoolVar(&gate, "only-gate", false, "also turn off the agent's own prompts, where possible, so "+
		"that only nod asks; if the hook is killed, the agent continues")
	return c.withJSON(c.withYes(cmd), "print JSON; changes nothing without --yes")
}

func (c *console) agentsUninstall() *cobra.Command {
	return c.withJSON(c.withYes(&cobra.Command{
		Use:       "uninstall AGENT",
		Short:     "Remove nod's hooks from an agent's settings",
		Long:      "Remove exactly what nod agents install added to an agent's settings. Shows the diff and asks.",
		Args:      oneArg("an agent"),
		ValidArgs: registry.Names(registry.Installable()),
		RunE: c.runs(func(ctx context.Context, args []string) error {
			nothingMore := func(agent.Agent) string { return "" }
			err := c.change(ctx, args[0], agent.Agent.Uninstall, "has no nod hooks", nothingMore)
			if err != nil || c.json && !c.yes {
				return err
			}
			return dropCopy()
		}),
	}), "print JSON; changes nothing without --yes")
}

func dropCopy() error {
	m, err := agent.Here()
	if err != nil {
		return err
	}
	m.Run, m.Sessions = nil, nil
	for _, a := range registry.Installable() {
		s, err := a.Status(m)
		if err != nil || slices.ContainsFunc(s.Runs, func(r agent.Run) bool { return programs.IsKept(r.Nod) }) {
			return nil // some hook uses it, or may
		}
	}
	for _, path := range owndata.InPrograms(filepath.Dir(programs.Kept())) {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}

type changed struct {
	Agent   string   `json:"agent"`
	Changed bool     `json:"changed"` // false: Diffs are proposed changes
	Diffs   []string `json:"diffs"`
	Hint    string   `json:"hint,omitempty"` // what the user still has to do
}

func (c *console) change(
	ctx context.Context, name string, plan func(agent.Agent, agent.Machine) ([]agent.Change, error),
	nothing string, after func(agent.Agent) string,
) error {
	a, m, err := agentNamed(name)
	if err != nil {
		return err
	}
	changes, err := plan(a, m)
	if err != nil {
		return err
	}
	result := changed{Agent: a.Name, Diffs: diffs(changes), Changed: len(changes) > 0 && (c.yes || !c.json)}
	switch {
	case len(changes) == 0:
		return c.show(result, a.Title+" "+nothing+"\n")
	case c.json && !c.yes:
		return c.show(result, "")
	case !c.json:
		if err := errors.Join(c.print(strings.Join(result.Diffs, "")), c.consent(ctx)); err != nil {
			return err
		}
	}
	for _, change := range changes {
		if err := change.Apply(); err != nil {
			return err
		}
	}
	text := "done\n"
	if result.Hint = after(a); result.Hint != "" {
		text += result.Hint + "\n"
	}
	return c.show(result, text)
}

func diffs(changes []agent.Change) []string {
	all := []string{} // an empty list in JSON, too
	for _, change := range changes {
		all = append(all, change.Diff())
	}
	return all
}

func agentNamed(name string) (agent.Agent, agent.Machine, error) {
	a, err := registry.Find(registry.Installable(), name)
	if err != nil {
		return a, agent.Machine{}, wrongUsage("%v", err)
	}
	m, err := patientMachine()
	return a, m, err
}

// patientMachine returns this machine with the configured time-out, or the longest if the configuration is unreadable.
func patientMachine() (agent.Machine, error) {
	m, err := machine()
	if err != nil {
		return m, err
	}
	path, err := config.DefaultPath()
	if err != nil {
		return m, err
	}
	if cfg, err := config.Check(path); err == nil {
		m.Wait = cfg.Prompt.Timeout
	}
	return m, nil
}
