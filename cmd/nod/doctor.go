//go:build !relay

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"nod/cmd/nod/doctor"
)

func (c *console) doctor() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use:   "doctor",
		Short: "Find out what keeps agents from asking, and how to fix it",
		Long: `Check everything that asking needs: nod-desktop, display, tray, notifications, fonts, files, history,
policy, the sandbox, and each agent's hooks. Each line is ok, a warning or an error, and says how to fix it. Works
without nod-desktop, and starts, stops and changes nothing.

The exit status is 1 if there are errors, and 0 otherwise, even with warnings.`,
		Args: noArgs,
		RunE: c.runs(func(ctx context.Context, _ []string) error { return c.examine(ctx) }),
	}, "print JSON")
}

type examined struct {
	Errors   int              `json:"errors"`
	Warnings int              `json:"warnings"`
	Findings []doctor.Finding `json:"findings"`
}

func (c *console) examine(ctx context.Context) error {
	var e examined
	e.Findings, e.Errors, e.Warnings = doctor.Examine(ctx, machine)
	if err := c.printFindings(e); err != nil || e.Errors == 0 {
		return err
	}
	return &verdict{status: exitNo}
}

// printFindings prints findings as JSON or as a table, always safe to display.
func (c *console) printFindings(e examined) error {
	if c.json {
		return c.show(e, "")
	}
	var rows []string
	for _, f := range e.Findings {
		rows = append(rows, fmt.Sprintf("%s\t%s\t%s", f.Status, oneLine(f.Title), oneLine(f.Detail)))
		if f.Fix != nil && f.Fix.Command != "" {
			rows = append(rows, "\t\trun: "+oneLine(f.Fix.Command))
		}
		if f.Fix != nil && f.Fix.Window != "" {
			rows = append(rows, "\t\topen: "+oneLine(f.Fix.Window))
		}
	}
	return c.print(columns(rows) + summary(e) + "\n")
}

func summary(e examined) string {
	if e.Errors+e.Warnings == 0 {
		return "all is well"
	}
	return count(e.Errors, "error") + ", " + count(e.Warnings, "warning")
}
