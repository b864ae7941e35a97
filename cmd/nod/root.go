package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"nod/version"
)

const exitHelp = `
Exit status:
  0  allowed, yes, answered, sent
  1  denied, no, not sent; nod doctor found errors
  2  wrong usage, or nod-desktop refused a parameter
  3  nobody answered in time, or nobody can be asked
  4  the user closed or declined the prompt, or the request was cancelled
  5  nod-desktop isn't running
  6  anything else`

// suggestDistance is how many wrong letters a command may have for nod to suggest the right one.
const suggestDistance = 2

func newRoot(c *console) *cobra.Command {
	root := &cobra.Command{
		Use:   "nod",
		Short: "Agents ask. You nod.",
		Long: `nod asks the user of this desktop, through the tray program nod-desktop, and prints the answer.
It can only ask: no command answers a request or changes a rule.
` + exitHelp,
		Version:       version.Get().String(),
		Args:          cobra.ArbitraryArgs,
		RunE:          c.needCommand,
		SilenceErrors: true,
		SilenceUsage:  true,

		PersistentPreRunE: c.logs,

		SuggestionsMinimumDistance: suggestDistance,
	}
	root.SetIn(c.in)
	root.SetOut(c.out)
	root.SetErr(c.err)
	setTemplates(root)
	root.AddGroup(
		&cobra.Group{ID: "ask", Title: "Ask the user:"},
		&cobra.Group{ID: "later", Title: "Requests you sent:"},
		&cobra.Group{ID: "agents", Title: "Coding agents:"},
		&cobra.Group{ID: "nod", Title: "nod itself:"},
	)
	add(root, "ask", c.approve(), c.ask(), c.confirm(), c.form(), c.notify())
	add(root, "later", c.wait(), c.withdraw(), c.pending())
	add(root, "agents", c.agents(), c.hook(), c.mcp(), c.acp(), c.run())
	add(root, "nod", c.relay(), c.stop(), c.status(), c.log(), c.evaluate(), c.versionCommand())
	add(root, "nod", c.desktopCommands()...)
	root.SetHelpCommandGroupID("nod")
	root.SetCompletionCommandGroupID("nod")
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.Short = "Print a script for shell completion"
			cmd.Args, cmd.RunE = cobra.ArbitraryArgs, c.needCommand
			for _, shell := range cmd.Commands() {
				prints := shell.RunE
				shell.RunE = func(cmd *cobra.Command, args []string) error { c.ran = true; return prints(cmd, args) }
			}
		}
	}
	return root
}

func add(parent *cobra.Command, group string, commands ...*cobra.Command) {
	for _, command := range commands {
		command.GroupID = group
		parent.AddCommand(command)
	}
}

// needCommand runs a command that only has subcommands. Calling it without one is wrong usage.
func (c *console) needCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		fmt.Fprint(c.err, cmd.UsageString())
		return &verdict{status: exitUsage}
	}
	problem := fmt.Sprintf("unknown command %q", args[0])
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		problem += ": did you mean " + strings.Join(like, " or ") + "?"
	}
	return wrongUsage("%s", problem)
}

// runs adapts f to cobra, and notes that later errors do not come from cobra.
func (c *console) runs(f func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c.ran = true
		return f(cmd.Context(), args)
	}
}

// oneArg takes exactly one argument; name, such as "a message", says which.
func oneArg(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return fmt.Errorf("needs %s", name)
		case len(args) > 1:
			return fmt.Errorf("takes %s, not %d arguments: put text with spaces in quotes", name, len(args))
		}
		return nil
	}
}

func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q", args[0])
	}
	return nil
}

func (c *console) versionCommand() *cobra.Command {
	type build struct {
		version.Info
		Go   string `json:"go"`
		OS   string `json:"os"`
		Arch string `json:"arch"`
	}
	return c.withJSON(&cobra.Command{
		Use:   "version",
		Short: "Print the version of nod",
		Args:  noArgs,
		RunE: c.runs(func(context.Context, []string) error {
			b := build{version.Get(), runtime.Version(), runtime.GOOS, runtime.GOARCH}
			return c.show(b, fmt.Sprintf("nod %s\n", b.Info))
		}),
	}, "print JSON")
}
