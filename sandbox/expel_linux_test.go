package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"nod/sandbox"
)

// What a command closed for its own user is not looked through, and so hidden: the next one could open it again.
func TestSurveyHidesWhatIsClosed(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("nothing is closed for root")
	}
	dir := tree(t, "main.go", "sub/.env", "sub/.envrc")
	closed(t, dir+"/sub", 0o300)
	found, err := sandbox.Survey(dir, isSecret, isGuarded)
	if is := within(dir, found.Hide); err != nil || is != "sub" {
		t.Errorf("hides %s, %v", is, err)
	}
	closed(t, dir, 0o300)
	if _, err := sandbox.Survey(dir, isSecret, isGuarded); err == nil {
		t.Error("a project that nobody can look through is contained")
	}
}

// closed sets the permissions of a folder for as long as the test runs.
func closed(t *testing.T, dir string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(dir, mode); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
}

// What git obeys of a submodule is kept, also where a command has taken away the file by which git knows it.
func TestRepositoryOfASubmodule(t *testing.T) {
	dir := tree(t, ".git/HEAD", ".git/config", ".git/hooks/x", ".git/info/x",
		".git/modules/a/b/config", ".git/modules/a/b/hooks/x", ".git/modules/a/b/info/x")
	keep, _, err := sandbox.Repository(dir)
	const want = ".git/config .git/hooks .git/info .git/modules/a/b/config .git/modules/a/b/hooks .git/modules/a/b/info"
	if is := within(dir, keep); err != nil || is != want {
		t.Errorf("keeps %s, %v", is, err)
	}
}

// Guarded links cannot be kept. What they lead to in the project is, and what takes their place does not stay there.
func TestGuardedLinks(t *testing.T) {
	dir := tree(t, "main.go", "shared/vscode/tasks", "build/git/config")
	link := func(to, name string) {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("shared/vscode", ".vscode")
	link("/etc", ".claude")
	found, err := sandbox.Survey(dir, isSecret, isGuarded)
	if is := within(dir, found.Keep); err != nil || is != "shared/vscode" {
		t.Fatalf("keeps %s, %v", is, err)
	}
	p := sandbox.Profile{Project: dir, Private: t.TempDir(), Keep: found.Keep, Links: found.Links}
	if moved, err := sandbox.Expel(&p, isGuarded); err != nil || len(moved) > 0 {
		t.Fatalf("moved %q, %v", moved, err)
	}
	if err := errors.Join(os.Remove(dir+"/.vscode"), os.Remove(dir+"/.claude"), os.MkdirAll(dir+"/.claude/x", 0o755),
		os.Mkdir(dir+"/sub", 0o755)); err != nil {
		t.Fatal(err)
	}
	link("build", ".vscode")
	link("../build/git", "sub/.git")
	moved, err := sandbox.Expel(&p, isGuarded)
	if err != nil || !slices.Equal(moved, []string{".claude", ".vscode", "sub/.git"}) {
		t.Errorf("moved %q, %v", moved, err)
	}
	for name, want := range map[string]string{".vscode": "shared/vscode", ".claude": "/etc", "sub/.git": ""} {
		if is, _ := os.Readlink(filepath.Join(dir, name)); is != want {
			t.Errorf("%s leads to %q, want %q", name, is, want)
		}
	}
}

// Whatever a command leaves, nothing that is guarded stays in its place.
func TestExpelWhateverIsThere(t *testing.T) {
	dir := tree(t, "a/.vscode/tasks", "a/.vscode/closed/x", "b/.envrc", "c/x/.envrc", ".git/HEAD", ".git/config",
		".git/commondir", ".git/config.worktree", ".git/modules/m/HEAD", ".git/modules/m/commondir")
	long := dir
	for range 30 { // its end has a path that is too long
		long = filepath.Join(long, strings.Repeat("x", 100))
	}
	if err := errors.Join(os.MkdirAll(long, 0o755), syscall.Mkfifo(dir+"/a/.vscode/pipe", 0o600)); err != nil {
		t.Fatal(err)
	}
	top, err := os.OpenRoot(long)
	if err != nil {
		t.Fatal(err)
	}
	defer top.Close()
	if err := top.MkdirAll(strings.Repeat(strings.Repeat("y", 100)+"/", 20), 0o755); err != nil {
		t.Fatal(err)
	}
	terabyte, err := os.Create(dir + "/a/.vscode/large")
	if err := errors.Join(err, terabyte.Truncate(1<<40), terabyte.Close(), os.Chmod(dir+"/b/.envrc", 0)); err != nil {
		t.Fatal(err)
	}
	closed(t, dir+"/b", 0o500)
	closed(t, dir+"/c/x", 0o300)
	closed(t, dir+"/a/.vscode/closed", 0)
	keep := []string{dir + "/.git/config"}
	p := sandbox.Profile{Project: dir, Private: t.TempDir(), Keep: keep}
	moved, err := sandbox.Expel(&p, isGuarded)
	if err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("what cannot be looked at is not told: %v", err)
	}
	want := []string{".git/commondir", ".git/config.worktree", ".git/modules/m/commondir", "a/.vscode", "b/.envrc",
		"c/x/.envrc"}
	if !slices.Equal(moved, want) {
		t.Errorf("moved %q, want %q", moved, want)
	}
	for _, name := range want {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	if left, _ := filepath.Glob(dir + "/*/.expelled-*"); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

// A folder of PATH in the project stays as it was, and as empty: the user runs what is in it.
func TestKeepPath(t *testing.T) {
	for _, c := range []struct {
		folder  string
		command func(in func(string) string) error
		moved   string
	}{
		{"new/bin", func(in func(string) string) error { return os.MkdirAll(in("new/bin"), 0o755) }, "new/bin"},
		{"new/bin", func(in func(string) string) error { return os.Symlink("own", in("new")) }, "new"},
		{"new/bin", func(in func(string) string) error { return os.MkdirAll(in("new/sbin"), 0o755) }, ""},
		{"new/bin", func(in func(string) string) error { return syscall.Mkfifo(in("new"), 0o600) }, ""},
		{"new", func(in func(string) string) error { return syscall.Mkfifo(in("new"), 0o600) }, "new"},
		{"cur/bin", func(in func(string) string) error {
			return errors.Join(os.Remove(in("cur")), os.Symlink("own", in("cur")))
		}, "cur"},
		{"cur/bin", func(in func(string) string) error {
			return errors.Join(os.Remove(in("cur")), os.MkdirAll(in("cur/bin"), 0o755))
		}, "cur"},
		{"cur/bin", func(in func(string) string) error { return os.Remove(in("cur")) }, ""},
		{"../..", func(in func(string) string) error { return os.WriteFile(in("x"), nil, 0o755) }, ""},
	} {
		dir := tree(t, "main.go", "v1/bin/tool", "own/bin/ls")
		in := func(name string) string { return filepath.Join(dir, name) }
		if err := os.Symlink("v1", in("cur")); err != nil {
			t.Fatal(err)
		}
		p := sandbox.Profile{Project: dir, Private: t.TempDir()}
		p.KeepPath(in(c.folder))
		if strings.HasPrefix(c.folder, "cur") && !slices.Equal(p.Keep, []string{in("v1/bin")}) {
			t.Errorf("keeps %q for %s", p.Keep, c.folder)
		}
		if err := c.command(in); err != nil {
			t.Fatal(err)
		}
		moved, err := sandbox.Expel(&p, isGuarded)
		if is := strings.Join(moved, " "); is != c.moved || err != nil {
			t.Errorf("%s: moved %q, want %q, %v", c.folder, is, c.moved, err)
		}
		if to, err := os.Readlink(in("cur")); strings.HasPrefix(c.folder, "cur") && to != "v1" {
			t.Errorf("%s: the link leads to %q, %v", c.folder, to, err)
		}
	}
}

// Who reads a pipe in the place of settings waits, or gets what a command still writes.
func TestExpelsPipes(t *testing.T) {
	dir := tree(t, "main.go")
	if err := errors.Join(syscall.Mkfifo(dir+"/.envrc", 0o600), syscall.Mkfifo(dir+"/own", 0o600)); err != nil {
		t.Fatal(err)
	}
	moved, err := sandbox.Expel(&sandbox.Profile{Project: dir, Private: t.TempDir()}, isGuarded)
	if !slices.Equal(moved, []string{".envrc"}) || err != nil {
		t.Errorf("moved %q, %v", moved, err)
	}
}

// What git obeys is guarded in a repository by any name, and in that of a new submodule; and a link is where a guarded
// file can be below it.
func TestExpelsRepositories(t *testing.T) {
	dir := tree(t, ".git/HEAD", ".git/config", ".git/hooks/x", ".git/modules/old/config", ".git/modules/old/HEAD",
		"plain/HEAD", "plain/config")
	keep, absent, err := sandbox.Repository(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := sandbox.Profile{Project: dir, Private: t.TempDir(), Write: true, Keep: keep, Absent: absent}
	for _, name := range []string{
		"docs/HEAD", "docs/objects/x", "docs/refs/x", "docs/config", "docs/hooks/post-checkout", "docs/page",
		"tree/HEAD", "tree/commondir", "y/config.toml",
		"vendor/.git/config", "vendor/x/.git/config", "vendor/.envrc", "x/deps/HEAD", "x/deps/objects/x", "x/deps/refs/x",
		"x/deps/config", ".git/modules/new/HEAD", ".git/modules/new/config", ".git/modules/new/hooks/x",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("y", filepath.Join(dir, ".cargo")); err != nil {
		t.Fatal(err)
	}
	moved, err := sandbox.Expel(&p, isGuarded)
	slices.Sort(moved)
	const want = ".cargo .git/modules/new/config .git/modules/new/hooks docs/config docs/hooks " +
		"tree/commondir vendor/.git x/deps/config"
	if is := strings.Join(moved, " "); is != want || err != nil {
		t.Errorf("moved %s, want %s, %v", is, want, err)
	}
}

// What another command may have made meanwhile is not known to be the user's: it stays only as it is.
func TestDistrust(t *testing.T) {
	dir := tree(t, ".envrc", "a/.envrc", "b/.envrc")
	if err := os.Symlink("x", filepath.Join(dir, ".claude")); err != nil {
		t.Fatal(err)
	}
	other := sandbox.Profile{Project: dir, Keep: []string{dir + "/.envrc"}}
	found, err := sandbox.Survey(dir, isSecret, isGuarded)
	if err != nil {
		t.Fatal(err)
	}
	p := sandbox.Profile{Project: dir, Private: t.TempDir(), Keep: found.Keep, Links: found.Links}
	p.Distrust(&other)
	replace := func(name string) {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.Rename(path, path+"-old"), os.WriteFile(path, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{".envrc", "b/.envrc", ".claude"} {
		replace(name)
	}
	moved, err := sandbox.Expel(&p, isGuarded)
	if slices.Sort(moved); err != nil || !slices.Equal(moved, []string{".claude", "b/.envrc"}) {
		t.Errorf("moved %q, %v", moved, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".claude")); err == nil {
		t.Error("a link is put back that is not known to be the user's")
	}
}

// What cannot be copied out stays aside: the user may have created it while the command ran.
func TestExpelledIsNotLost(t *testing.T) {
	dir := tree(t, "project/a/.envrc", "private")
	private := dir + "/private" // a file: there is no room for a copy
	moved, err := sandbox.Expel(&sandbox.Profile{Project: dir + "/project", Private: private}, isGuarded)
	left, _ := filepath.Glob(dir + "/project/a/.expelled-*")
	if len(moved) != 1 || len(left) != 1 || err == nil || !strings.Contains(err.Error(), filepath.Base(left[0])) {
		t.Errorf("moved %q, left %q, %v", moved, left, err)
	}
}

// What is moved out takes little room, however large and many the files seem.
func TestExpelledTakesLittleRoom(t *testing.T) {
	dir := tree(t, "a/.envrc", "b/.envrc", "c/.envrc")
	for _, name := range []string{"a", "b", "c"} {
		if err := os.Truncate(filepath.Join(dir, name, ".envrc"), 40<<20); err != nil {
			t.Fatal(err)
		}
	}
	private := t.TempDir()
	moved, err := sandbox.Expel(&sandbox.Profile{Project: dir, Private: private}, isGuarded)
	if len(moved) != 3 || err != nil {
		t.Errorf("moved %q, %v", moved, err)
	}
	var sum int64
	copies, _ := filepath.Glob(private + "/expelled/*/*/.envrc")
	for _, path := range copies {
		if info, err := os.Lstat(path); err == nil {
			sum += info.Size()
		}
	}
	if len(copies) != 3 || sum != 64<<20 {
		t.Errorf("%d copies of %d bytes", len(copies), sum)
	}
}
