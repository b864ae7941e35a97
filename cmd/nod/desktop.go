//go:build !relay

package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// Names for the desktop's program and the command that starts it.
const (
	program = "nod-desktop"
	starts  = "start"
)

// desktopCommands are the commands that a relay's machine does not need. They make up most of nod's size.
func (c *console) desktopCommands() []*cobra.Command {
	return []*cobra.Command{
		c.start(), c.settings(), c.doctor(), c.machines(), c.history(), c.undo(), c.policy(), c.uninstall(),
	}
}

// setTemplates shortens cobra's texts. Its templates make the linker keep all methods.
func setTemplates(root *cobra.Command) {
	root.SetVersionTemplate("nod {{.Version}}\n")
	// A command with subcommands does nothing on its own.
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(),
		"{{if .Runnable}}", "{{if and .Runnable (not .HasAvailableSubCommands)}}", 1))
}
