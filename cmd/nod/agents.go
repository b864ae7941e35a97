package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"nod/ipc/hooks/install"
)

// agents returns the command that sets up coding agents, with all that is under it.
func (c *console) agents() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "Set up coding agents to ask through nod",
		Args:  cobra.ArbitraryArgs,
		RunE:  c.needCommand,
	}
	cmd.AddCommand(c.agentsList(), c.agentsInstall(), c.agentsUninstall(), c.agentsCheck())
	return cmd
}

func (c *console) agentsList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the agents that nod knows, and which of them ask through nod",
		Args:  noArgs,
		RunE:  runs(func(context.Context, []string) error { return c.listAgents(asJSON) }),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// agentRow is an agent as the list prints it.
type agentRow struct {
	Agent     string   `json:"agent"`
	Found     string   `json:"found,omitempty"` // path of its program
	Version   string   `json:"version,omitempty"`
	Installed bool     `json:"installed"`
	State     string   `json:"state"` // in words
	Settings  []string `json:"settings"`
}

func (c *console) listAgents(asJSON bool) error {
	m, err := machine()
	if err != nil {
		return err
	}
	var rows []agentRow
	for _, a := range install.All() {
		s, err := a.Status(m)
		row := agentRow{Agent: a.Name, Found: s.Program, Version: s.Version, Installed: s.Installed, Settings: s.Files, State: state(s)}
		if err != nil {
			row.State = err.Error()
		}
		rows = append(rows, row)
	}
	if asJSON {
		return c.printJSON(rows)
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "AGENT\tVERSION\tASKS THROUGH NOD\tSETTINGS")
	for _, r := range rows {
		version := r.Version
		if r.Found == "" {
			version = "not found"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Agent, version, r.State, strings.Join(r.Settings, " "))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return c.print(b.String())
}

func state(s install.Status) string {
	switch {
	case s.Installed && s.Gate:
		return "yes, and nod is the only gate"
	case s.Installed:
		return "yes"
	case s.Partly:
		return "in part, or with another nod: install again"
	}
	return "no"
}

// machine is this machine, with the hooks run by this very program.
func machine() (install.Machine, error) {
	self, err := os.Executable()
	if err != nil {
		return install.Machine{}, fmt.Errorf("find the path of nod: %w", err)
	}
	return install.ThisMachine(self)
}

func (c *console) agentsInstall() *cobra.Command {
	var yes, gate bool
	cmd := &cobra.Command{
		Use:   "install AGENT",
		Short: "Put nod's hooks into an agent's settings",
		Long: `Put nod's hooks into an agent's settings: show the difference, ask, and keep a copy of the file as it
was beside it. Nothing else in the file changes. To do it twice is to do it once.`,
		Example: "  nod agents install claude-code",
		Args:    oneArg("agent"),
		RunE: runs(func(_ context.Context, args []string) error {
			return c.change(args[0], yes, func(a install.Agent, m install.Machine) ([]install.Change, error) { return a.Install(m, gate) },
				"is set up already", install.Agent.After)
		}),
	}
	cmd.ValidArgs = agentNames()
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&gate, "only-gate", false, "gemini-cli: also switch its own prompt off, so that nod alone asks; Gemini CLI goes on if the hook is killed")
	return cmd
}

func (c *console) agentsUninstall() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "uninstall AGENT",
		Short: "Take nod's hooks out of an agent's settings",
		Long:  "Take out of an agent's settings exactly what nod agents install put in.",
		Args:  oneArg("agent"),
		RunE: runs(func(_ context.Context, args []string) error {
			return c.change(args[0], yes, install.Agent.Uninstall, "has nothing of nod's", func(install.Agent) string { return "" })
		}),
	}
	cmd.ValidArgs = agentNames()
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func agentNames() []string {
	var names []string
	for _, a := range install.All() {
		names = append(names, a.Name)
	}
	return names
}

// change shows what would become of an agent's settings, asks, and does it.
func (c *console) change(name string, yes bool, plan func(install.Agent, install.Machine) ([]install.Change, error), nothing string, after func(install.Agent) string) error {
	a, m, err := agentNamed(name)
	if err != nil {
		return err
	}
	changes, err := plan(a, m)
	if err != nil {
		return err
	}
	if len(changes) == 0 {
		return c.print(a.Title + " " + nothing + "\n")
	}
	for _, change := range changes {
		if err := c.print(change.Diff()); err != nil {
			return err
		}
	}
	if !yes {
		if err := c.consent(); err != nil {
			return err
		}
	}
	for _, change := range changes {
		if err := change.Apply(); err != nil {
			return err
		}
	}
	text := "done\n"
	if hint := after(a); hint != "" {
		text += hint + "\n"
	}
	return c.print(text)
}

func agentNamed(name string) (install.Agent, install.Machine, error) {
	a, err := install.Find(name)
	if err != nil {
		return a, install.Machine{}, wrongUsage("%v", err)
	}
	m, err := machine()
	return a, m, err
}

// consent asks at the terminal. Anything but y or yes is a no.
func (c *console) consent() error {
	fmt.Fprint(c.err, "Make these changes? [y/N] ")
	line, err := bufio.NewReader(c.in).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); answer == "y" || answer == "yes" {
		return nil
	}
	if err != nil && line == "" {
		fmt.Fprintln(c.err)
	}
	return &verdict{exitNo, "nothing was changed"}
}

func (c *console) agentsCheck() *cobra.Command {
	return &cobra.Command{
		Use:       "check AGENT",
		Short:     "Send a harmless probe through an agent's hook, and report each step",
		Args:      oneArg("agent"),
		ValidArgs: agentNames(),
		RunE:      runs(func(ctx context.Context, args []string) error { return c.checkAgent(ctx, args[0]) }),
	}
}

func (c *console) checkAgent(ctx context.Context, name string) error {
	a, m, err := agentNamed(name)
	if err != nil {
		return err
	}
	failed := false
	for _, step := range a.Check(ctx, m) {
		mark := "ok"
		if step.Err != nil {
			mark, failed = "no", true
		}
		text := fmt.Sprintf("%s  %s", mark, step.What)
		if step.Err != nil {
			text += ": " + step.Err.Error()
		}
		if err := c.print(text + "\n"); err != nil {
			return err
		}
	}
	if failed {
		return errors.New(a.Title + " does not ask through nod yet")
	}
	return nil
}
