//go:build !relay

package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// What people start on a machine with a desktop, and the command that starts it.
const (
	program = "nod-desktop"
	starts  = "start"
)

// desktopCommands are those that are of no use beside a relay. They bring along what makes nod large.
func (c *console) desktopCommands() []*cobra.Command {
	return []*cobra.Command{c.start(), c.settings(), c.doctor(), c.machines(), c.history(), c.policy(), c.uninstall()}
}

// setTemplates has texts of cobra's say less. To execute templates the linker must keep every method that there is.
func setTemplates(root *cobra.Command) {
	root.SetVersionTemplate("nod {{.Version}}\n")
	// A command that has others under it runs only to say that one of them is missing.
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(),
		"{{if .Runnable}}", "{{if and .Runnable (not .HasAvailableSubCommands)}}", 1))
}
