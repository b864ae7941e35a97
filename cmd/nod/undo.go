//go:build !relay

package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"nod/policy"
	"nod/policy/invisible"
	"nod/sandbox/snapshot"
)

const maxRuns = 20

func (c *console) undo() *cobra.Command {
	var u undoing
	cmd := &cobra.Command{
		Use:   "undo [NUMBER]",
		Short: "List agents' changes to this project that passed, and undo them",
		Long: `List the runs that changed this project's files, newest first: commands in the sandbox, edits that passed, and
earlier undos. With a NUMBER, show what undoing that run would do, ask, and restore its files. nod leaves files alone
that have changed since, or that it keeps no snapshots of: ignored files, files with secrets, and .git. An undo can
itself be undone.

Works without nod-desktop.`,
		Example: "  nod undo\n  nod undo 17 --diff\n  nod undo --last",
		Args:    cobra.MaximumNArgs(1),
	}
	cmd.Flags().BoolVar(&u.last, "last", false, "undo the newest run")
	cmd.Flags().BoolVar(&u.diff, "diff", false, "also show the diff")
	cmd.Flags().StringVar(&u.folder, "project", "", "the project that this `folder` is in (default: the current one)")
	cmd.RunE = c.runs(func(ctx context.Context, args []string) error {
		if err := u.read(args); err != nil {
			return err
		}
		return c.undoIn(ctx, u)
	})
	return c.withJSON(c.withYes(cmd), "print JSON; without --yes nothing is changed")
}

type undoing struct {
	folder string
	last   bool
	diff   bool
	number int // 0: none
}

func (u *undoing) read(args []string) (err error) {
	if len(args) == 1 {
		if u.number, err = strconv.Atoi(args[0]); err != nil || u.number <= 0 {
			return wrongUsage("%q is not the number of a run; to list them: nod undo", args[0])
		}
	}
	switch {
	case u.last && u.number > 0:
		return wrongUsage("use a number or --last, not both")
	case u.diff && !u.last && u.number == 0:
		return wrongUsage("--diff needs a run's number, or --last")
	}
	u.folder, err = folderOr(u.folder)
	return err
}

func (c *console) undoIn(ctx context.Context, u undoing) error {
	project := snapshot.Find(snapshot.DefaultFolder(), u.folder)
	if project == "" {
		return fmt.Errorf("no snapshots of %s yet: nod takes them once its commands run in the sandbox", u.folder)
	}
	r, err := snapshot.Open(snapshot.DefaultFolder(), project, policy.IsSecret)
	if err != nil {
		return err
	}
	runs, err := r.Runs(ctx)
	if err != nil {
		return err
	}
	unfinished, _ := r.Unfinished()
	runs = slices.DeleteFunc(runs, func(run snapshot.Run) bool {
		return run.Files == 0 && run.Problem == "" && run.Number != unfinished.Number
	})
	if !u.last && u.number == 0 {
		return c.listRuns(project, runs, unfinished)
	}
	for _, run := range runs {
		if u.last || run.Number == u.number {
			return c.takeBack(ctx, r, run, u.diff)
		}
	}
	if u.last {
		return &verdict{exitNo, "nothing has been changed in " + project}
	}
	return wrongUsage("no run %d changed anything in %s; to list runs: nod undo", u.number, project)
}

func (c *console) listRuns(project string, runs []snapshot.Run, unfinished snapshot.Run) error {
	runs = runs[:min(len(runs), maxRuns)]
	rows := []string{"NUMBER\tTIME\tAGENT\tFILES\tLINES\tCOMMAND"}
	notes := ""
	for _, run := range runs {
		mark := ""
		if run.Overlaps {
			mark = "*"
		}
		if run.Problem != "" {
			mark = "?"
			notes += fmt.Sprintf("? nod can't tell what %d changed: %s\n", run.Number, invisible.Visible(run.Problem))
		}
		rows = append(rows, fmt.Sprintf("%d%s\t%s\t%s\t%d\t+%d -%d\t%s", run.Number, mark, localTime(run.Time),
			safeCell(run.Agent), run.Files, run.Added, run.Removed, safeCell(shorten(run.Command))))
	}
	text := columns(rows)
	if len(runs) == 0 {
		text = "Nothing has been changed in " + invisible.Visible(project) + ".\n"
	}
	if slices.ContainsFunc(runs, func(run snapshot.Run) bool { return run.Overlaps }) {
		text += "* Another run was under way: what either changed counts as changed by both.\n"
	}
	text += notes
	if unfinished.Number > 0 {
		text += fmt.Sprintf("Taking back %d was interrupted: nod undo %[1]d finishes it.\n", unfinished.Number)
	}
	return c.show(struct {
		Project    string         `json:"project"`
		Runs       []snapshot.Run `json:"runs"`
		Unfinished int            `json:"unfinished,omitempty"`
	}{project, append([]snapshot.Run{}, runs...), unfinished.Number}, text)
}

type undone struct {
	Run       snapshot.Run        `json:"run"`
	Changes   []snapshot.Change   `json:"changes"`
	Conflicts []snapshot.Conflict `json:"conflicts"` // files that are left as they are
	Diff      string              `json:"diff,omitempty"`
	Changed   bool                `json:"changed"` // else that is what would change
}

func (c *console) takeBack(ctx context.Context, r *snapshot.Repository, run snapshot.Run, diff bool) error {
	if run.Problem != "" {
		return fmt.Errorf("nod can't tell what run %d changed: %s", run.Number, run.Problem)
	}
	p, err := r.Plan(ctx, run)
	if err != nil {
		return err
	}
	result := undone{
		Run: run, Changed: c.yes && !p.IsDone(),
		Changes: append([]snapshot.Change{}, p.Changes...), Conflicts: append([]snapshot.Conflict{}, p.Conflicts...),
	}
	if diff {
		if result.Diff, err = differences(ctx, r, p); err != nil {
			return err
		}
	}
	if c.json && !c.yes {
		return c.show(result, "")
	}
	if !c.json {
		if err := c.print(result.plan() + result.Diff); err != nil {
			return err
		}
	}
	if p.IsDone() {
		return cmp.Or(c.show(result, ""), error(&verdict{exitNo, "nothing to take back"}))
	}
	if err := c.consent(ctx); err != nil {
		return err
	}
	left, err := p.Apply(ctx)
	if err != nil {
		return err
	}
	result.Conflicts = append(result.Conflicts, left...)
	if err := c.show(result, leftAlone(left)+"done: nod undo --last takes this back\n"); err != nil || len(left) == 0 {
		return err
	}
	return &verdict{exitNo, "some files were left alone: see above"}
}

func differences(ctx context.Context, r *snapshot.Repository, p *snapshot.Plan) (string, error) {
	var all strings.Builder
	for _, change := range p.Changes {
		text, cut, err := r.Diff(ctx, p.Run.After, p.Run.Before, change.Path)
		if err != nil {
			return "", err
		}
		if all.WriteString(text); cut {
			all.WriteString("… and more\n")
		}
	}
	return all.String(), nil
}

var deeds = map[snapshot.Kind]string{
	snapshot.Added: "restore", snapshot.Changed: "change back", snapshot.Removed: "remove",
}

func (u undone) plan() string {
	rows := []string{fmt.Sprintf("Taking back %d: %s", u.Run.Number, safeCell(shorten(u.Run.Command)))}
	for _, change := range u.Changes {
		lines := fmt.Sprintf("+%d -%d", change.Added, change.Removed)
		if change.Binary {
			lines = "binary"
		}
		rows = append(rows, fmt.Sprintf("  %s\t%s\t%s", deeds[change.Kind], lines, safeCell(change.Path)))
	}
	text := columns(rows) + leftAlone(u.Conflicts)
	if u.Run.Overlaps {
		text += "Another run was under way at the same time: its changes are taken back, too.\n"
	}
	return text
}

func leftAlone(conflicts []snapshot.Conflict) string {
	var b strings.Builder
	for _, conflict := range conflicts {
		fmt.Fprintf(&b, "  leave alone  %s: %s\n", safeCell(conflict.Path), conflict.Why)
	}
	return b.String()
}
