//go:build unix

package version

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/mod/semver"
)

// next is the Version in FyneApp.toml: that of the release to come.
func next(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../FyneApp.toml")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^Version = "([0-9]+\.[0-9]+\.[0-9]+)"$`).FindSubmatch(text)
	if found == nil {
		t.Fatal("FyneApp.toml has no Version of three numbers")
	}
	return string(found[1])
}

// The version of a release is the one in FyneApp.toml, and once that is released, what follows has a higher one.
func TestTagsAndVersionAgree(t *testing.T) {
	next := next(t)
	got := strings.TrimSpace(run(t, "..", "scripts/version"))
	if got != next && !strings.HasPrefix(got, next+"~git") {
		t.Errorf("scripts/version says %s, FyneApp.toml %s", got, next)
	}
	if exec.Command("git", "rev-parse", "HEAD").Run() != nil {
		t.Skip("this is no clone: no tags to compare with")
	}
	here := run(t, ".", "git", "tag", "--points-at", "HEAD")
	for tag := range strings.FieldsSeq(run(t, ".", "git", "tag", "--merged", "HEAD", "--list", "v*")) {
		order := semver.Compare(tag, "v"+next)
		if order > 0 || order == 0 && !strings.Contains("\n"+here, "\n"+tag+"\n") {
			t.Errorf("%s was released: raise Version in FyneApp.toml, which is %s", tag, next)
		}
	}
}

// What scripts/version says of one commit after another sorts in their order, for Debian's and for Red Hat's programs.
func TestVersionsSort(t *testing.T) {
	for _, program := range []string{"git", "dpkg", "rpm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	dir := t.TempDir()
	script, err := os.ReadFile("../scripts/version")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "scripts/version"), string(script))
	t.Setenv("HOME", dir)
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+who+"_NAME", "somebody")
		t.Setenv("GIT_"+who+"_EMAIL", "somebody@example.com")
	}
	var versions []string
	say := func() { versions = append(versions, strings.TrimSpace(run(t, dir, "scripts/version"))) }
	commit := func(version string, minute int) {
		write(t, filepath.Join(dir, "FyneApp.toml"), fmt.Sprintf("[Details]\nVersion = %q\n# %d\n", version, minute))
		t.Setenv("GIT_COMMITTER_DATE", fmt.Sprintf("2026-11-22T10:%02d:00+02:00", minute))
		run(t, dir, "git", "add", "-A")
		run(t, dir, "git", "commit", "-qm", "a change")
		say()
	}
	run(t, dir, "git", "init", "-q")
	commit("0.9.0", 1)
	commit("0.9.0", 2)
	write(t, filepath.Join(dir, "FyneApp.toml"), "Version = \"0.9.0\"\n")
	say()
	commit("0.9.0", 3)
	run(t, dir, "git", "tag", "v0.9.0")
	say()
	commit("0.10.0", 4)
	run(t, dir, "git", "tag", "v0.10.0")
	write(t, filepath.Join(dir, "new"), "") // is in no program until git knows it
	say()

	if got := versions[4]; got != "0.9.0" {
		t.Errorf("the release is %s", got)
	}
	if !regexp.MustCompile(`^0\.9\.0~git20261122080100\.[0-9a-f]{8}$`).MatchString(versions[0]) {
		t.Errorf("the first commit is %s", versions[0])
	}
	for i, newer := range versions[1:] {
		older := versions[i]
		if err := exec.Command("dpkg", "--compare-versions", older, "lt", newer).Run(); err != nil {
			t.Errorf("dpkg: %s is not before %s: %v", older, newer, err)
		}
		lua := fmt.Sprintf("%%{lua:print(rpm.vercmp(%q, %q))}", older, newer)
		if got := strings.TrimSpace(run(t, dir, "rpm", "--eval", lua)); got != "-1" {
			t.Errorf("rpm: %s is not before %s: %s", older, newer, got)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stderr = dir, t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return string(out)
}
