// Package programs finds nod's programs for each other, and a lasting path of the nod command for the hooks of agents.
package programs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ReadyLine begins the line that nod-desktop prints once it can be asked. Its address follows.
const ReadyLine = "nod ready "

// The programs of the command line. Users and hooks start the first, which starts the second for most of what it does.
const (
	front = "nod"
	cli   = "nod-cli"
)

// Find returns the path of another of nod's programs. It looks next to this one, with and without links resolved, as in
// a build or an unpacked archive; then in lib/nod of the folder that this one is installed under, where a package keeps
// what users do not run by hand, or from there in bin; and then in PATH.
func Find(name string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the path of nod: %w", err)
	}
	return find(name, self)
}

func find(name, self string) (string, error) {
	if path, err := near(name, self); path != "" || err != nil {
		return path, err
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("find %s: it is neither beside nod in %s nor in PATH: install it there, or run: make build",
			name, filepath.Dir(self))
	}
	return filepath.Abs(found)
}

// near looks for name near self, and returns "" if it is not there. It adds the .exe of Windows.
func near(name, self string) (string, error) {
	beside, err := exec.LookPath(filepath.Join(filepath.Dir(self), name))
	if err == nil && isLink(beside) { // it leads to where a program finds its own neighbours
		return filepath.EvalSymlinks(beside)
	}
	if err == nil {
		return beside, nil
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	for _, place := range []string{".", "../lib/nod", "../../bin"} {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), place, name)); err == nil {
			return path, nil
		}
	}
	return "", nil
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

// Self returns the path of nod as it was called, because a link that a user calls may outlive its target.
func Self() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the path of nod: %w", err)
	}
	if strings.TrimSuffix(filepath.Base(self), ".exe") == cli { // started by the one that was called
		if self, err = find(front, self); err != nil {
			return "", err
		}
	}
	if called := os.Args[0]; strings.ContainsRune(called, filepath.Separator) {
		if path, err := filepath.Abs(called); err == nil && IsSame(path, self) {
			return path, nil
		}
	}
	return self, nil
}

// IsSame reports whether two paths lead to the same file.
func IsSame(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
