package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"nod/ipc/programs"
	"nod/ownfile"
)

// Change is a planned change of one file.
type Change struct {
	Path   string
	Before []byte // nil: there is no file yet; for a program, a description
	After  []byte // nil: the file is deleted; for a program, a description

	copies  string // the file becomes a copy of this program
	keeps   bool   // nod is added to the file, so a copy of the file is kept next to it
	program bool   // the agent runs the file
}

// copyOf returns the change that makes the nod command, which the hooks name, a copy of the nod that installs them.
func copyOf(m Machine) Change {
	c := Change{Path: m.Nod, After: []byte("a copy of " + m.self + "\n"), copies: m.self}
	if _, err := os.Lstat(m.Nod); err == nil {
		c.Before = []byte("another nod\n")
	}
	return c
}

func (c Change) onlyMode() bool {
	return c.program && c.Before != nil && bytes.Equal(c.Before, c.After) && canRun(c.Path) != nil
}

// Diff returns the change as a unified diff.
func (c Change) Diff() string {
	if c.onlyMode() {
		return fmt.Sprintf("--- %s\n+++ %s\n+executable\n", c.Path, c.Path)
	}
	from, to := c.Path, c.Path
	if c.Before == nil {
		from = "/dev/null"
	}
	if c.After == nil {
		to = "/dev/null"
	}
	_, text, _ := strings.Cut(string(diff.Diff(from, c.Before, to, c.After)), "\n") // after the line that names diff
	return text
}

var errChanged = errors.New("the file has changed: look at the diff again")

// Apply makes the change, completely or not at all. When nod is added to a file, a copy of the old file is kept next to
// it.
func (c Change) Apply() error {
	if c.copies != "" {
		return programs.Keep(c.copies)
	}
	now, err := read(c.Path)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, c.Before) || (now == nil) != (c.Before == nil) {
		return fmt.Errorf("%s: %w", c.Path, errChanged)
	}
	path, mode, err := target(c.Path)
	if err != nil {
		return fmt.Errorf("change settings: %w", err)
	}
	if c.program {
		mode |= 0o100
	}
	if c.After == nil {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("change settings: %w", err)
		}
		return nil
	}
	if err := c.keep(); err != nil {
		return fmt.Errorf("keep a copy of the settings: %w", err)
	}
	if err := ownfile.Write(path, c.After, mode); err != nil {
		err = fmt.Errorf("change settings: %w", err)
		if c.keeps {
			err = errors.Join(err, c.forget())
		}
		return err
	}
	return c.dropBackup()
}

// target returns the file to write, which a link may lead to, so that the link stays, and its mode. It fails if the
// file is read-only or belongs to another user.
func target(path string) (string, fs.FileMode, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, 0o600, nil
	}
	if err != nil {
		return "", 0, err
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return "", 0, err
	case !ownfile.IsMine(info):
		return "", 0, fmt.Errorf("%s belongs to another user", real)
	case info.Mode().Perm()&0o200 == 0:
		return "", 0, fmt.Errorf("%s: it is read-only: make it writable first", real)
	}
	return real, info.Mode().Perm(), nil
}

func backupPath(path string) string { return path + ".before-nod" }

// keep saves a copy of the old file, replacing an earlier copy.
func (c Change) keep() error {
	switch {
	case !c.keeps:
		return nil
	case c.Before == nil:
		return c.forget()
	}
	return ownfile.Write(backupPath(c.Path), c.Before, 0o600)
}

func (c Change) forget() error { return ownfile.Remove(backupPath(c.Path)) }

func (c Change) dropBackup() error {
	kept, err := os.ReadFile(backupPath(c.Path))
	if err != nil || !bytes.Equal(kept, c.After) {
		return nil
	}
	return c.forget()
}
