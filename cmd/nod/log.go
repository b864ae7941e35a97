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
	var follow, hooks bool
	var lines int
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Print the end of nod-desktop's log and follow it",
		Long: `Print the last lines of nod-desktop's log and follow it until Ctrl+C. Control characters are made visible. For
a more detailed log: NOD_LOG=debug nod start.

With --hooks, print the payloads and replies of agents' hooks, each as one line of JSON. The hooks of an agent log them
if you start it with NOD_LOG=debug in its environment. The file contains everything the agent does, with any secrets;
only you can read it. Delete it when you are done.`,
		Example: "  nod log\n  nod log -n 100 --follow=false\n  nod log --hooks",
		Args:    noArgs,
		RunE: c.runs(func(ctx context.Context, _ []string) error {
			if lines < 0 {
				return wrongUsage("--lines must be 0 or more, not %d", lines)
			}
			path := ownlog.Path(ownlog.Desktop)
			if hooks {
				path = ownlog.Path(ownlog.Hooks)
			}
			fmt.Fprintln(c.err, invisible.Visible(path))
			show := func(line []byte) error { return c.print(invisible.Visible(string(line)) + "\n") }
			if !follow {
				return ownlog.Last(path, lines, show)
			}
			return ownlog.Follow(ctx, path, lines, show)
		}),
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", true, "keep printing until Ctrl+C")
	cmd.Flags().IntVarP(&lines, "lines", "n", 20, "start with this many `lines`")
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
