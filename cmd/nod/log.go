package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"nod/ownfile/ownlog"
	"nod/policy"
)

func (c *console) log() *cobra.Command {
	var follow, hooks bool
	var lines int
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Print the end of nod-desktop's log and follow it",
		Long: `Print the last lines of nod-desktop's log and what is added to it, until Ctrl+C. Characters that a terminal
would obey are made visible. To have nod-desktop log more: NOD_LOG=debug nod start.

With --hooks, print what the hooks that agents run read and reply, each as one line of JSON: they write it down for as
long as this runs. The file holds what the agents do, word for word, with any secrets; only you can read it. Remove it
when you are done. For a single agent, start that agent with NOD_LOG=debug in its environment.`,
		Example: "  nod log\n  nod log -n 100 --follow=false\n  nod log --hooks",
		Args:    noArgs,
		RunE: c.runs(func(ctx context.Context, _ []string) error {
			if lines < 0 {
				return wrongUsage("--lines: want 0 or more, not %d", lines)
			}
			path := ownlog.Path(ownlog.Desktop)
			if hooks {
				path = ownlog.Path(ownlog.Hooks)
			}
			if hooks && follow {
				if err := ownlog.Watch(ctx); err != nil {
					return err
				}
			}
			fmt.Fprintln(c.err, policy.Visible(path))
			show := func(line []byte) error { return c.print(policy.Visible(string(line)) + "\n") }
			if !follow {
				return ownlog.Last(path, lines, show)
			}
			return ownlog.Follow(ctx, path, lines, show)
		}),
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", true, "go on until Ctrl+C")
	cmd.Flags().IntVarP(&lines, "lines", "n", 20, "begin with this many of the last `lines`")
	cmd.Flags().BoolVar(&hooks, "hooks", false, "log agents' hooks, and print that log")
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
