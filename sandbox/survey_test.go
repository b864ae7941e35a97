package sandbox_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nod/sandbox"
)

func isGuarded(path string, isLink bool) bool {
	return isLink && filepath.Base(path) == ".cargo" || // of which only a file in it is guarded
		slices.Contains([]string{".git", ".envrc", ".claude", ".vscode"}, filepath.Base(path))
}

func isSecret(path string) bool {
	return filepath.Base(path) == ".env" || strings.HasSuffix(path, ".pem") || filepath.Base(path) == "secrets"
}

// tree makes files; a name that ends in a slash is a folder.
func tree(t *testing.T, names ...string) (dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "nod") // short enough for a socket's address
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, name := range names {
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(path, 0o755)
		} else {
			err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(name), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func within(dir string, paths []string) string {
	var names []string
	for _, path := range paths {
		names = append(names, strings.TrimPrefix(path, dir+"/"))
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func TestSurvey(t *testing.T) {
	dir := tree(t, "main.go", ".env", "a/b/.env", "a/.envrc", ".git/config", ".git/a.pem", ".git/refs/heads/a.pem",
		".vscode/x/a.pem", "secrets/x/.env", "node_modules/x/test/a.pem", "node_modules/x/.vscode/x", "a/c/.git")
	l, err := net.Listen("unix", dir+"/a/socket")
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	if err := errors.Join(os.Symlink(".env", dir+"/link.pem"), os.Symlink("..", dir+"/a/up"),
		os.Symlink("../../main.go", dir+"/.vscode/x/tasks"), os.Symlink("../../..", dir+"/.vscode/x/up")); err != nil {
		t.Fatal(err)
	}
	found, err := sandbox.Survey(dir, isSecret, isGuarded)
	if err != nil {
		t.Fatal(err)
	}
	if is := within(dir, found.Keep); is != ".git .vscode a/.envrc a/c/.git main.go" {
		t.Errorf("keeps %s", is)
	}
	if is := within(dir, found.Hide); is != ".env .git/a.pem .vscode/x/a.pem a/b/.env a/socket secrets" {
		t.Errorf("hides %s", is)
	}
}

func TestRepository(t *testing.T) {
	dir := tree(t, ".git/HEAD", ".git/config", ".git/hooks/x", ".git/objects/x", ".git/refs/x",
		".git/modules/a/b/HEAD", ".git/modules/a/b/config", ".git/modules/a/b/info/x", ".git/modules/a/b/hooks/",
		".git/remotes/origin", ".git/branches/")
	keep, absent, err := sandbox.Repository(dir)
	if err != nil {
		t.Fatal(err)
	}
	if is := within(dir, keep); is != ".git/config .git/hooks .git/modules/a/b/config .git/modules/a/b/info .git/remotes" {
		t.Errorf("keeps %s", is)
	}
	if is := within(dir, absent); is != ".git/branches .git/info "+
		".git/modules/a/b/branches .git/modules/a/b/hooks .git/modules/a/b/remotes" {
		t.Errorf("absent are %s", is)
	}
	if _, _, err := sandbox.Repository(tree(t, ".git")); err == nil {
		t.Error("a repository that is elsewhere may be written")
	}
}

// What a package manager puts into its own folders may be replaced, and is left there.
func TestDependenciesMayChange(t *testing.T) {
	dir := tree(t, "main.go", "node_modules/x/.vscode/x", "deps/y/.git/config", ".vscode/x")
	found, err := sandbox.Survey(dir, isSecret, isGuarded)
	if is := within(dir, found.Keep); err != nil || is != ".vscode" {
		t.Errorf("keeps %s, %v", is, err)
	}
	p := sandbox.Profile{Project: dir, Write: true, Private: t.TempDir()}
	moved, err := sandbox.Expel(&p, isGuarded)
	if err != nil || !slices.Equal(moved, []string{".vscode"}) {
		t.Errorf("moved %q, %v", moved, err)
	}
}

// A repository whose parts alone are kept was there before: it is the user's.
func TestExpelLeavesTheRepository(t *testing.T) {
	dir := tree(t, ".git/config", ".git/HEAD", ".git/hooks/pre-commit", "main.go")
	keep, absent, err := sandbox.Repository(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := sandbox.Profile{Project: dir, Write: true, Keep: keep, Absent: absent, Private: t.TempDir()}
	moved, err := sandbox.Expel(&p, isGuarded)
	if err != nil || len(moved) > 0 {
		t.Errorf("moved %q, %v", moved, err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".git/HEAD")); err != nil {
		t.Error(err)
	}
}

func TestExpel(t *testing.T) {
	dir := tree(t, "project/.git/config", "project/.envrc", "project/new/.claude/settings.json", "project/new/.envrc",
		"out/.envrc")
	p := &sandbox.Profile{
		Project: dir + "/project", Private: dir + "/private",
		Keep: []string{dir + "/project/.git", dir + "/project/.envrc"},
	}
	if err := os.Symlink("../out", dir+"/project/way"); err != nil {
		t.Fatal(err)
	}
	moved, err := sandbox.Expel(p, isGuarded)
	if slices.Sort(moved); err != nil || !slices.Equal(moved, []string{"new/.claude", "new/.envrc"}) {
		t.Errorf("%q: %v", moved, err)
	}
	for name, want := range map[string]bool{
		"project/.envrc": true, "project/.git/config": true, "out/.envrc": true, "project/new": true,
		"project/new/.claude": false, "project/new/.envrc": false,
	} {
		if _, err := os.Lstat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	kept, _ := filepath.Glob(dir + "/private/expelled/*/new/.claude/settings.json")
	if len(kept) != 1 {
		t.Errorf("what was moved out is not kept: %q", kept)
	}
	if moved, err := sandbox.Expel(p, isGuarded); len(moved) > 0 || err != nil {
		t.Errorf("%q: %v", moved, err)
	}
}
