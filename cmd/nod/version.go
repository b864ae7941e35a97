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
	return c.withJSON(&cobra.Command{
		Use:   "version",
		Short: "Print the version of nod",
		Args:  noArgs,
		RunE: c.runs(func(context.Context, []string) error {
			return c.show(map[string]string{
				"version": buildVersion(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
			}, fmt.Sprintf("nod %s\n", buildVersion()))
		}),
	}, "print JSON")
}
