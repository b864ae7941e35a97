//go:build unix

package policy

import (
	"path/filepath"
	"testing"
)

// A branch may have the name of a file, whose changes would be lost.
func TestGitGrantTakesNoFile(t *testing.T) {
	home := tree(t)
	project := newProject(t, home)
	write(t, filepath.Join(project, "build"), "x")
	write(t, filepath.Join(project, "sub", "x"), "x")
	p := compileIn(t, Default(), Places{Home: home})
	in := func(command string) Call { return bash(command).with(func(c *Call) { c.CWD = project }) }
	list, err := NewGrants(in("git push"), Always, CoverGit, p, testNow)
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]Effect{
		"git checkout main": Allow, "git checkout sub": Ask, "git checkout build": Ask, "git switch build": Allow,
		"cd sub && git checkout build": Allow,
	} {
		if d := Decide(in(command), p.WithGrants(list), testNow); d.Effect != want {
			t.Errorf("%s: %s (%s), want %s", command, d.Effect, d.Reason, want)
		}
	}
}

// A folder with a HEAD is a repository whose configuration an agent may have written as plain files.
func TestGitGrantKnowsBareRepositories(t *testing.T) {
	home := tree(t)
	project := newProject(t, home)
	p := compileIn(t, Default(), Places{Home: home})
	in := func(command string) Call { return bash(command).with(func(c *Call) { c.CWD = project }) }
	list, err := NewGrants(in("git push"), Always, CoverGit, p, testNow)
	if err != nil {
		t.Fatal(err)
	}
	if d := Decide(in("git pull ./sub main"), p.WithGrants(list), testNow); d.Effect != Ask { // from elsewhere than origin
		t.Errorf("git pull from a folder: %s (%s)", d.Effect, d.Reason)
	}
	for _, want := range []Effect{Allow, Ask} {
		for _, command := range []string{"cd sub && git fetch", "git -C sub push"} {
			if d := Decide(in(command), p.WithGrants(list), testNow); d.Effect != want {
				t.Errorf("%s: %s (%s), want %s", command, d.Effect, d.Reason, want)
			}
		}
		write(t, filepath.Join(project, "sub", "HEAD"), "ref: refs/heads/main\n")
	}
}
