//go:build relay

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

// Names for the program that runs on a machine without a desktop, and the command that starts it.
const (
	program = "nod relay"
	starts  = "relay"
)

// desktopCommands returns commands that fail, because this nod for machines without a desktop lacks them.
func (c *console) desktopCommands() (commands []*cobra.Command) {
	for _, name := range []string{"start", "settings", "doctor", "machines", "history", "undo", "policy", "uninstall"} {
		commands = append(commands, &cobra.Command{
			Use: name, Hidden: true, DisableFlagParsing: true,
			RunE: c.runs(func(context.Context, []string) error {
				return fmt.Errorf("this nod is only for nod relay, without windows, rules and history: "+
					"run nod %s at your desk", name)
			}),
		})
	}
	return commands
}

// setTemplates replaces only the text of the version: without templates the program is a sixth smaller.
func setTemplates(root *cobra.Command) {
	version, run := root.Version, root.RunE
	root.Version = ""
	isAsked := root.Flags().BoolP("version", "v", false, "version for nod")
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if *isAsked {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "nod %s\n", version)
			return err
		}
		return run(cmd, args)
	}
}
