//go:build !relay

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"nod/cmd/nod/doctor"
	"nod/policy/invisible"
)

func (c *console) doctor() *cobra.Command {
	var fix bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find out what keeps agents from asking, and how to fix it",
		Long: `Check everything that asking needs: nod-desktop, display, tray, notifications, fonts, files, history,
policy, the sandbox, and each agent's hooks. Each line is ok, a warning or an error, and says how to fix it. Works
without nod-desktop, and starts and stops nothing.

With --fix, nod doctor makes safe repairs: permissions of nod's files, leftovers of a crashed nod-desktop, broken hooks
and autostart entries. It shows each repair, asks, and checks again.

The exit status is 1 if there are errors, and 0 otherwise, even with warnings.`,
		Args: noArgs,
		RunE: c.runs(func(ctx context.Context, _ []string) error { return c.examine(ctx, fix) }),
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "make safe repairs, and ask before each")
	return c.withJSON(c.withYes(cmd), "print JSON; --fix changes nothing without --yes")
}

type examined struct {
	Errors   int              `json:"errors"`
	Warnings int              `json:"warnings"`
	Findings []doctor.Finding `json:"findings"`
	Fixed    []fixed          `json:"fixed,omitempty"`
}

type fixed struct {
	ID      string `json:"id"`
	Command string `json:"command"`
	Problem string `json:"problem,omitempty"` // empty: it was done
}

func (c *console) examine(ctx context.Context, fix bool) error {
	found := doctor.Examine(ctx, machine)
	var done []fixed
	var err error
	if fix {
		if !c.json {
			err = c.printFindings(newExamined(found))
		}
		if done = c.fix(found); len(done) > 0 {
			found = doctor.Examine(ctx, machine)
		}
	}
	e := newExamined(found)
	e.Fixed = done
	switch {
	case c.json:
		err = errors.Join(err, c.show(e, ""))
	case !fix || len(done) > 0:
		err = errors.Join(err, c.printFindings(e))
	}
	if e.Errors > 0 {
		err = errors.Join(&verdict{status: exitNo}, err)
	}
	return err
}

func newExamined(found []doctor.Finding) examined {
	e := examined{Findings: found}
	for _, f := range found {
		switch f.Status {
		case doctor.Error:
			e.Errors++
		case doctor.Warning:
			e.Warnings++
		}
	}
	return e
}

// fix does what is safe, each after the user has seen it and said yes.
func (c *console) fix(found []doctor.Finding) []fixed {
	var done []fixed
	for _, f := range found {
		if f.Fix == nil || f.Fix.Apply == nil || c.json && !c.yes {
			continue
		}
		if !c.json {
			fmt.Fprint(c.err, invisible.Visible(f.Fix.Diff+f.Fix.Command+"\n"))
		}
		if !c.yes && !c.asks("Do this?") {
			continue
		}
		result := fixed{ID: f.ID, Command: f.Fix.Command}
		if err := f.Fix.Apply(); err != nil {
			result.Problem = err.Error()
			c.complain("doctor", err.Error())
		}
		done = append(done, result)
	}
	return done
}

// The colours of a terminal, and the end of one.
const (
	red, yellow, green = "\x1b[31m", "\x1b[33m", "\x1b[32m"
	plain              = "\x1b[0m"
)

// hasColors reports whether what is printed may be coloured.
func (c *console) hasColors() bool {
	return c.terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// printFindings lays findings out for a person. What agents and files are called is made safe to look at wherever it
// goes, so that colours are all that a terminal obeys.
func (c *console) printFindings(e examined) error {
	color := map[doctor.Status]string{doctor.Error: red, doctor.Warning: yellow, doctor.OK: green}
	width := 0
	for _, f := range e.Findings {
		width = max(width, len(f.Title))
	}
	var b strings.Builder
	for _, f := range e.Findings {
		status := fmt.Sprintf("%-7s", f.Status)
		if c.hasColors() {
			status = color[f.Status] + status + plain
		}
		fmt.Fprintf(&b, "%s  %-*s  %s\n", status, width, oneLine(f.Title), oneLine(f.Detail))
		if f.Fix != nil && f.Fix.Command != "" {
			fmt.Fprintf(&b, "%*s  run: %s\n", len("warning")+2+width, "", oneLine(f.Fix.Command))
		}
		if f.Fix != nil && f.Fix.Window != "" {
			fmt.Fprintf(&b, "%*s  open: %s\n", len("warning")+2+width, "", oneLine(f.Fix.Window))
		}
	}
	fmt.Fprintf(&b, "%s\n", e)
	if _, err := io.WriteString(c.out, b.String()); err != nil {
		return fmt.Errorf("print the findings: %w", err)
	}
	return nil
}

// String sums up.
func (e examined) String() string {
	if e.Errors+e.Warnings == 0 {
		return "all is well"
	}
	sum := count(e.Errors, "error") + ", " + count(e.Warnings, "warning")
	safe := 0
	for _, f := range e.Findings {
		if f.Fix != nil && f.Fix.Apply != nil {
			safe++
		}
	}
	if safe > 0 {
		sum += fmt.Sprintf("; nod doctor --fix can fix %d of them", safe)
	}
	return sum
}

// oneLine keeps text on its line, safe to look at.
func oneLine(text string) string { return strings.ReplaceAll(invisible.Visible(text), "\n", `\n`) }

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
