package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"nod/version"
)

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
