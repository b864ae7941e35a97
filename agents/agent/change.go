package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pmezard/go-difflib/difflib"

	"nod/ownfile"
)

// Change is what would become of one file.
type Change struct {
	Path   string
	Before []byte // nil: there is no file yet
	After  []byte // nil: the file goes
}

// Diff returns the change as a unified diff.
func (c Change) Diff() string {
	from, to := c.Path, c.Path
	if c.Before == nil {
		from = "/dev/null"
	}
	if c.After == nil {
		to = "/dev/null"
	}
	// Writing to memory cannot fail.
	text, _ := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: difflib.SplitLines(string(c.Before)), B: difflib.SplitLines(string(c.After)),
		FromFile: from, ToFile: to, Context: 3,
	})
	return text
}

// ErrChanged says that a file is no longer what the change was computed from.
var ErrChanged = errors.New("the file has changed meanwhile: look at the difference again")

// Apply makes the change: whole or not at all. The file as it was is kept beside it, unless an older copy is
// there already: that one is from before nod first came.
func (c Change) Apply() error {
	path, err := target(c.Path)
	if err != nil {
		return fmt.Errorf("change settings: %w", err)
	}
	now, err := read(path)
	if err != nil {
		return err
	}
	if string(now) != string(c.Before) {
		return fmt.Errorf("%s: %w", c.Path, ErrChanged)
	}
	if c.After == nil || len(c.After) == 0 && len(c.Before) > 0 {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("change settings: %w", err)
		}
		return nil
	}
	if err := keep(c); err != nil {
		return err
	}
	if err := replace(path, c.After); err != nil {
		return fmt.Errorf("change settings: %w", err)
	}
	return c.dropBackup()
}

// target follows a symbolic link, so that the file behind it is edited and the link stays.
func target(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if info, lerr := os.Lstat(path); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
			return "", fmt.Errorf("%s: a symbolic link that leads nowhere", path)
		}
		return path, nil
	}
	return real, err
}

func backupPath(path string) string { return path + ".before-nod" }

// keep writes the copy of the file as it was.
func keep(c Change) error {
	if c.Before == nil {
		return nil
	}
	f, err := os.OpenFile(backupPath(c.Path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("keep a copy of the settings: %w", err)
	}
	_, err = f.Write(c.Before)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("keep a copy of the settings: %w", err)
	}
	return nil
}

// dropBackup removes the copy once the file is again what the copy holds.
func (c Change) dropBackup() error {
	kept, err := os.ReadFile(backupPath(c.Path))
	if err != nil || string(kept) != string(c.After) {
		return nil
	}
	return os.Remove(backupPath(c.Path))
}

// replace writes text in the place of the file, with the mode that the file had.
func replace(path string, text []byte) error {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	return ownfile.Write(path, text, mode)
}
