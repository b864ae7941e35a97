//go:build !relay

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"

	"nod/agents/agent"
	"nod/agents/registry"
	"nod/interact/journal"
	"nod/ipc/programs"
	"nod/ownfile/owndata"
	"nod/ownfile/ownlog"
	"nod/policy/config"
)

func (c *console) uninstall() *cobra.Command {
	var purge bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove nod from your agents and your session",
		Long: `Remove nod's hooks from every agent's settings, turn off start at login, and stop nod-desktop. Your rules and
history stay; --purge deletes them and all other nod data. Shows what will change, and asks. The programs stay: remove
them afterwards, the way you installed them.`,
		Example: "  nod uninstall\n  nod uninstall --purge",
		Args:    noArgs,
		RunE:    c.runs(func(ctx context.Context, _ []string) error { return c.uninstallAll(ctx, purge) }),
	}
	cmd.Flags().BoolVar(&purge, "purge", false, "also delete your rules, saved approvals, history and log")
	return c.withJSON(c.withYes(cmd), "print JSON; changes nothing without --yes")
}

type uninstalled struct {
	Agents  []changed `json:"agents"`  // that had settings for nod
	Stopped int       `json:"stopped"` // process id of the nod-desktop that was stopped; 0: none was running
	Deleted []string  `json:"deleted"` // paths; without --purge only of the nod that hooks run
	Changed bool      `json:"changed"` // else that is what would change
}

// uninstallAll shows what it will do, asks, and does it. A problem with one agent does not stop the rest.
func (c *console) uninstallAll(ctx context.Context, purge bool) error {
	result := uninstalled{Agents: []changed{}, Deleted: []string{}, Changed: c.yes || !c.json}
	changes, problems := c.uninstallPlan(&result)
	if purge {
		data, err := ownData()
		if err != nil {
			return err
		}
		result.Deleted = append(result.Deleted, data...)
	} else {
		result.Deleted = append(result.Deleted, owndata.InPrograms(filepath.Dir(programs.Kept()))...)
	}
	if problems != nil {
		problems = errors.Join(problems, result.spareCopy())
	}
	if c.json && !c.yes {
		return errors.Join(problems, c.show(result, ""))
	}
	if !c.json {
		if err := errors.Join(c.print(result.plan()), c.consent(ctx)); err != nil {
			return err
		}
	}
	var left error
	for _, change := range changes {
		left = errors.Join(left, change.Apply())
	}
	if left != nil && problems == nil {
		left = errors.Join(left, result.spareCopy())
	}
	problems = errors.Join(problems, left, stopAutostart(ctx))
	was, err := stopRunning(ctx)
	result.Stopped = was.PID
	if err != nil {
		return errors.Join(problems, err) // it would write what is deleted again
	}
	for _, path := range result.Deleted {
		problems = errors.Join(problems, os.RemoveAll(path))
	}
	if info, err := os.Lstat(toolkitFolder()); purge && err == nil && info.IsDir() {
		_ = os.Remove(toolkitFolder()) // unless another program has something there
	}
	if problems != nil {
		return problems
	}
	return c.show(result, "done: now remove the programs, the way you installed them\n")
}

func (c *console) uninstallPlan(result *uninstalled) (all []agent.Change, problems error) {
	m, err := patientMachine()
	if err != nil {
		return nil, err
	}
	for _, a := range registry.Installable() {
		changes, err := a.Uninstall(m)
		if err != nil {
			problems = errors.Join(problems, fmt.Errorf("%s: %w", a.Name, err))
		}
		if len(changes) == 0 {
			continue
		}
		result.Agents = append(result.Agents, changed{Agent: a.Name, Changed: result.Changed, Diffs: diffs(changes)})
		all = append(all, changes...)
	}
	return all, problems
}

// spareCopy has the copy of nod that hooks run stay, because some hooks remain, and returns an error that says so.
func (u *uninstalled) spareCopy() error {
	if _, err := os.Lstat(programs.Kept()); err != nil {
		return nil
	}
	folder := filepath.Dir(programs.Kept())
	rest := []string{}
	for _, path := range u.Deleted {
		switch _, err := os.Readlink(path); {
		case path == folder || filepath.Dir(path) == folder:
		case path != filepath.Dir(folder):
			rest = append(rest, path)
		case err != nil: // no link, which would have to stay
			entries, _ := os.ReadDir(path)
			for _, entry := range entries {
				if entry.Name() != filepath.Base(folder) {
					rest = append(rest, filepath.Join(path, entry.Name()))
				}
			}
		}
	}
	u.Deleted = rest
	return fmt.Errorf("%s stays: hooks that could not be removed may run it", folder)
}

func (u uninstalled) plan() string {
	var b strings.Builder
	for _, a := range u.Agents {
		b.WriteString(strings.Join(a.Diffs, ""))
	}
	b.WriteString("nod-desktop ends, and no longer starts with the session\n")
	for _, path := range u.Deleted {
		fmt.Fprintf(&b, "deleted: %s\n", path)
	}
	return b.String()
}

func ownData() ([]string, error) {
	settings, err := config.DefaultPath()
	if err != nil {
		return nil, err
	}
	history, err := journal.DefaultPath()
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, folder := range []string{
		filepath.Dir(settings), filepath.Dir(history), filepath.Dir(ownlog.Desktop()),
		filepath.Join(xdg.CacheHome, "nod"),
	} {
		paths = append(paths, owndata.In(folder)...)
	}
	windows := filepath.Join(toolkitFolder(), "io.nod.Desktop")
	if _, err := os.Lstat(windows); err == nil {
		paths = append(paths, windows)
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil // some systems have one folder for all
}

func toolkitFolder() string { return filepath.Join(xdg.ConfigHome, "fyne") }

const autostartPatience = 20 * time.Second

// stopAutostart makes nod-desktop, which knows how it is started, stop starting with the session.
func stopAutostart(ctx context.Context) error {
	program, err := programs.Find("nod-desktop")
	if err != nil {
		return fmt.Errorf("turn off start at login: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, autostartPatience)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, "--autostart=off").CombinedOutput()
	if err != nil {
		return fmt.Errorf("turn off start at login: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
