package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"nod/ownfile/ownlog"
	"nod/policy/invisible"
)

func (c *console) log() *cobra.Command {
	var hooks bool
	var lines int
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Print the end of nod-desktop's log",
		Long: `Print where nod-desktop's log is, and its last lines. Control characters are made visible. For a more detailed
log: NOD_LOG=debug nod start.

With --hooks, print the payloads and replies of agents' hooks, each as one line of JSON. The hooks of an agent log them
if you start it with NOD_LOG=debug in its environment. The file contains everything the agent does, with any secrets;
only you can read it. Delete it when you are done.`,
		Example: "  nod log\n  nod log -n 100\n  nod log --hooks",
		Args:    noArgs,
		RunE: c.runs(func(context.Context, []string) error {
			if lines < 0 {
				return wrongUsage("--lines must be 0 or more, not %d", lines)
			}
			path := ownlog.Desktop()
			if hooks {
				path = ownlog.Hooks()
			}
			fmt.Fprintln(c.err, invisible.Visible(path))
			last, err := ownlog.Last(path, lines)
			if err != nil {
				return err
			}
			for _, line := range last {
				if err := c.print(invisible.Visible(line) + "\n"); err != nil {
					return err
				}
			}
			return nil
		}),
	}
	cmd.Flags().IntVarP(&lines, "lines", "n", 20, "print this many `lines`")
	cmd.Flags().BoolVar(&hooks, "hooks", false, "print the log of agents' hooks")
	return cmd
}

// logs makes nod log to standard error if NOD_LOG asks for it. Hooks never do.
func (c *console) logs(cmd *cobra.Command, _ []string) error {
	if cmd.Name() == hookName {
		return nil
	}
	level, err := ownlog.Level("")
	if err != nil {
		return err
	}
	if level <= slog.LevelDebug {
		slog.SetDefault(slog.New(slog.NewTextHandler(c.err, &slog.HandlerOptions{Level: level})))
	}
	return nil
}
