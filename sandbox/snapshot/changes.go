package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Kind is what happened to a file.
type Kind string

// The kinds of changes.
const (
	Added   Kind = "added"
	Changed Kind = "changed"
	Removed Kind = "removed"
)

// A Change is how one file differs between two snapshots.
type Change struct {
	Path    string `json:"path"` // below the project, with slashes
	Kind    Kind   `json:"kind"`
	Added   int    `json:"added"`   // lines
	Removed int    `json:"removed"` // lines
	Binary  bool   `json:"binary,omitempty"`

	from, to entry
}

// An entry is the content of a place in a snapshot: the zero value is nothing.
type entry struct {
	mode string // as git writes it
	blob string
}

// Git's modes.
const (
	modeFile       = "100644"
	modeExecutable = "100755"
	modeLink       = "120000"
	modeNothing    = "000000"
)

// changes returns the differences between two snapshots, by path.
func (r *Repository) changes(ctx context.Context, before, after ID) ([]Change, error) {
	if err := errors.Join(before.check(), after.check()); err != nil || before == after {
		return nil, err
	}
	var p changeParser
	err := r.store.fields(ctx, p.next, "diff-tree", "-r", "-z", "--raw", "--numstat", "--no-abbrev", "--no-renames",
		string(before), string(after), "--")
	if err != nil {
		return nil, fmt.Errorf("compare snapshots of %s: %w", r.project, err)
	}
	return p.changes, nil
}

// ChangesOf returns what a run has changed, which taking it back would undo.
func (r *Repository) ChangesOf(ctx context.Context, run Run) ([]Change, error) {
	changes, err := r.changes(ctx, run.Before, run.After)
	if run.Paths != nil {
		changes = slices.DeleteFunc(changes, func(c Change) bool {
			return !slices.ContainsFunc(run.Paths, func(path string) bool {
				return c.Path == path || strings.HasPrefix(c.Path, path+"/")
			})
		})
	}
	isOfRules := func(c Change) bool { return path.Base(c.Path) == ".gitignore" }
	if err != nil || !slices.ContainsFunc(changes, isOfRules) {
		return changes, err
	}
	return r.withoutIgnored(ctx, run.Before, changes)
}

// withoutIgnored leaves out what a .gitignore named before: such a file may have been there all the time.
func (r *Repository) withoutIgnored(ctx context.Context, before ID, changes []Change) ([]Change, error) {
	folder, err := os.MkdirTemp("", "nod")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	// git reads the rules from this index, because the files are not in the folder.
	g := r.tree
	g.tree, g.index = folder, filepath.Join(folder, ".git")
	_, err = g.output(ctx, "", "read-tree", string(before))
	var rules, added strings.Builder
	err = cmp.Or(err, g.fields(ctx, func(file string) error {
		if path.Base(file) == ".gitignore" {
			rules.WriteString(file + "\x00")
		}
		return nil
	}, "ls-files", "-z"))
	if err == nil {
		_, err = g.output(ctx, rules.String(), "update-index", "-z", "--skip-worktree", "--stdin")
	}
	for _, c := range changes {
		if c.Kind == Added {
			added.WriteString("./" + c.Path + "\x00") // see [git.ignores]
		}
	}
	ignored := map[string]bool{}
	err = cmp.Or(err, g.stream(ctx, added.String(), func(out io.Reader) error {
		text, err := io.ReadAll(out)
		for file := range strings.SplitSeq(string(text), "\x00") {
			ignored[strings.TrimPrefix(file, "./")] = true
		}
		return err
	}, "-c", "core.excludesFile="+r.tree.excludes(), "--no-literal-pathspecs", "check-ignore", "-z", "--stdin"))
	if exit, ended := errors.AsType[*exec.ExitError](err); ended && exit.ExitCode() == 1 { // none is ignored
		err = nil
	}
	return slices.DeleteFunc(changes, func(c Change) bool { return ignored[c.Path] }), err
}

// changeParser reads git diff-tree -z --raw --numstat: a line and a path for each change, then the numbers.
type changeParser struct {
	changes []Change
	header  []string
	numbers int // how many changes have their numbers
}

func (p *changeParser) next(field string) error {
	switch {
	case p.header != nil:
		p.changes = append(p.changes, newChange(p.header, field))
		p.header = nil
		return nil
	case strings.HasPrefix(field, ":"):
		if p.header = strings.Fields(field[1:]); len(p.header) == 5 {
			return nil
		}
	case p.numbers < len(p.changes):
		c := &p.changes[p.numbers]
		p.numbers++
		if parts := strings.SplitN(field, "\t", 3); len(parts) == 3 && parts[2] == c.Path {
			return c.count(parts[0], parts[1])
		}
	}
	return fmt.Errorf("git printed an unknown reply: %q", field)
}

func newChange(header []string, path string) Change {
	c := Change{Path: path, Kind: Changed, from: entry{header[0], header[2]}, to: entry{header[1], header[3]}}
	if header[0] == modeNothing {
		c.Kind, c.from = Added, entry{}
	}
	if header[1] == modeNothing {
		c.Kind, c.to = Removed, entry{}
	}
	return c
}

func (c *Change) count(added, removed string) (err error) {
	if added == "-" {
		c.Binary = true
		return nil
	}
	if c.Added, err = strconv.Atoi(added); err != nil {
		return err
	}
	c.Removed, err = strconv.Atoi(removed)
	return err
}

const maxDiff = 256 << 10

// Diff returns the difference of one file between two snapshots, in the format of patch. A long one is cut.
func (r *Repository) Diff(ctx context.Context, before, after ID, path string) (text string, cut bool, err error) {
	if err := errors.Join(before.check(), after.check()); err != nil {
		return "", false, err
	}
	err = r.store.stream(ctx, "", func(out io.Reader) error {
		all, err := io.ReadAll(io.LimitReader(out, maxDiff+1))
		if text = string(all); len(text) > maxDiff {
			text, cut = text[:strings.LastIndexByte(text[:maxDiff], '\n')+1], true
			return errEnough
		}
		return err
	}, "diff-tree", "-r", "-p", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv",
		string(before), string(after), "--", path)
	if err != nil {
		return "", false, fmt.Errorf("compare snapshots of %s: %w", r.project, err)
	}
	return text, cut, nil
}
