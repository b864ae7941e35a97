//go:build unix

package registry

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nod/agents/agent"
	"nod/agents/amp"
	"nod/agents/claude"
)

// A place where there is no plain file of the user's that may be changed is refused, and left as it was: no copy, no
// temporary file, no folder.
func TestPlacesThatAreRefused(t *testing.T) {
	const empty = "{}\n"
	for name, test := range map[string]struct {
		make func(path string) error
		want string // in the error
	}{
		"a link that leads nowhere": {
			func(path string) error { return os.Symlink("nowhere.json", path) }, "broken symbolic link"},
		"a folder that leads nowhere": {
			func(path string) error {
				return first(os.Remove(filepath.Dir(path)), os.Symlink("nowhere", filepath.Dir(path)))
			}, "broken symbolic link"},
		"a loop": {
			func(path string) error { return os.Symlink(filepath.Base(path), path) }, "too many levels"},
		"a folder": {
			func(path string) error { return os.Mkdir(path, 0o700) }, "not a plain file"},
		"a link to a folder": {
			func(path string) error { return os.Symlink(filepath.Dir(path), path) }, "not a plain file"},
		"a pipe": {
			func(path string) error { return syscall.Mkfifo(path, 0o600) }, "not a plain file"},
		"a read-only file": {
			func(path string) error { return os.WriteFile(path, []byte(empty), 0o444) }, "read-only"},
		"a link to a read-only file": {
			func(path string) error {
				return first(os.WriteFile(path+".real", []byte(empty), 0o400), os.Symlink(path+".real", path))
			}, "read-only"},
		"a file where the folder should be": {
			func(path string) error {
				return first(os.Remove(filepath.Dir(path)), os.WriteFile(filepath.Dir(path), nil, 0o600))
			}, "not a directory"},
		"a file of somebody else's": {
			func(path string) error {
				return first(os.WriteFile(path, []byte(empty), 0o666), os.Chown(path, 12345, 12345))
			}, "another user"},
		"a read-only folder": {
			func(path string) error {
				return first(os.WriteFile(path, []byte(empty), 0o600), os.Chmod(filepath.Dir(path), 0o500))
			}, "permission denied"},
		"a read-only folder behind a link": {
			func(path string) error {
				real := filepath.Join(filepath.Dir(filepath.Dir(path)), "real")
				return first(os.Mkdir(real, 0o700), os.WriteFile(filepath.Join(real, "s"), []byte(empty), 0o600),
					os.Chmod(real, 0o500), os.Symlink(filepath.Join(real, "s"), path))
			}, "permission denied"},
	} {
		isRefused := func(t *testing.T, a agent.Agent) {
			if test.want == map[bool]string{true: "permission denied", false: "another user"}[os.Geteuid() == 0] {
				t.Skip("root may do anything, and only root can give a file away")
			}
			m := machine(t)
			path := a.Settings(m).Path
			if err := first(os.MkdirAll(filepath.Dir(path), 0o700), test.make(path)); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { allowed(t, m.Home) })
			before := listing(t, m.Home)
			changes, err := a.Install(m, false)
			for i := 0; i < len(changes) && err == nil; i++ {
				err = changes[i].Apply()
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("err = %v, want %q", err, test.want)
			}
			if after := listing(t, m.Home); after != before {
				t.Errorf("there was:\n%s\nthere is:\n%s", before, after)
			}
		}
		t.Run(name, func(t *testing.T) { isRefused(t, claude.Agent) })
		if test.want != "permission denied" { // which is not known before
			t.Run(name+", and another file is fine", func(t *testing.T) { isRefused(t, amp.Agent) })
		}
	}
}

// What cannot be changed is said before anything is shown or done.
func TestReadOnlyIsNoPlan(t *testing.T) {
	for _, a := range []agent.Agent{claude.Agent, amp.Agent} {
		m := machine(t)
		path := a.Settings(m).Path
		write(t, path, "{}\n")
		for _, plan := range []func() ([]agent.Change, error){
			func() ([]agent.Change, error) { return a.Install(m, false) },
			func() ([]agent.Change, error) { return a.Uninstall(m) },
		} {
			if err := os.Chmod(path, 0o400); err != nil {
				t.Fatal(err)
			}
			if changes, err := plan(); err == nil || len(changes) > 0 || !strings.Contains(err.Error(), "read-only") {
				t.Errorf("%s: %v, %d changes", a.Name, err, len(changes))
			}
			if err := os.Chmod(path, 0o600); err != nil {
				t.Fatal(err)
			}
			install(t, a, m, false)
		}
	}
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// listing is what there is below a folder.
func listing(t *testing.T, root string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		all.WriteString(path + " " + info.Mode().String())
		if info.Mode().IsRegular() {
			all.WriteString(" " + text(t, path))
		}
		all.WriteString("\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// allowed has the folders of a test removable again.
func allowed(t *testing.T, root string) {
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			err = os.Chmod(path, 0o700)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
