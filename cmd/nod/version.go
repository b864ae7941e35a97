package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is that of a release: go build -ldflags "-X main.version=1.2.3" sets it.
var version string

// buildVersion returns the release's version or, of another build, what the Go tool knows.
func buildVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// versionCommand returns the command that prints the version.
func (c *console) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of nod",
		Args:  noArgs,
		RunE: runs(func(context.Context, []string) error {
			if asJSON {
				return c.printJSON(map[string]string{
					"version": buildVersion(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				})
			}
			return c.print(fmt.Sprintf("nod %s\n", buildVersion()))
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
