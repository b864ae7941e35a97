//go:build unix

package policy

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// Reading a FIFO may never end, so nobody passes one unasked: as an operand, through a link, or as a tool's path.
func TestFIFOsAreAskedAbout(t *testing.T) {
	dir := t.TempDir()
	fifo, link := filepath.Join(dir, "fifo"), filepath.Join(dir, "link")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Symlink(fifo, link); err != nil {
		t.Fatal(err)
	}
	p := compiled(t, Default())
	for _, c := range []Call{
		bash("cat " + fifo), bash("head -1 < " + link), bash("cat " + dir + "/f*"), bash("cd " + dir + " && wc -l fifo"),
		file("Read", fifo), file("Read", link),
	} {
		if d := Decide(c, p, testNow); d.Effect != Ask {
			t.Errorf("%s: %+v", c.Input, d)
		}
	}
	if d := Decide(bash("ls -la "+dir), p, testNow); d.Effect != Allow {
		t.Errorf("its name may be seen: %+v", d)
	}
}

// What nod cannot look at because it has too many files open is asked about.
func TestTooManyFilesOpen(t *testing.T) {
	dir := t.TempDir()
	p := Default()
	p.Rules = []Rule{{ID: "no", Effect: Deny, Path: "**/x.txt"}}
	all := compiled(t, p)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	if _, err := GuardedIn(dir); err != nil {
		t.Error(err)
	}
	for _, c := range []Call{bash("cat " + dir + "/*"), bash("grep -r a " + dir)} {
		if d := Decide(c, all, testNow); d.Effect != Allow {
			t.Errorf("%s: %+v", c.Input, d)
		}
		err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 3, Max: was.Max})
		d := Decide(c, all, testNow)
		if _, err := GuardedIn(dir); err == nil {
			t.Error("nothing is guarded")
		}
		if err := errors.Join(err, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was)); err != nil || d.Effect == Allow {
			t.Errorf("%s: %+v, %v", c.Input, d, err)
		}
	}
}

// What nod cannot look at because its path is too long is asked about: an agent in the folder can read it.
func TestPathsTooLong(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("paths have another limit")
	}
	top := t.TempDir()
	deep := top + strings.Repeat("/"+strings.Repeat("d", 99), 50)[:4090-len(top)] + "d"
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(deep)
	err := errors.Join(os.Mkdir("x", 0o700), os.WriteFile("x/f.txt", nil, 0o600), os.Mkdir(".git", 0o700))
	if err != nil {
		t.Fatal(err)
	}
	c := bash("cat */f.txt")
	for _, c.CWD = range []string{deep, top} {
		if d := Decide(c, compiled(t, Default()), testNow); (d.Effect == Allow) != (c.CWD == top) {
			t.Errorf("in %s: %+v", c.CWD, d)
		}
	}
	f := newFacts(&c, compileIn(t, Default(), Places{Home: "/home/x"}), testNow)
	if !isForeign(deep, top) || f.topOf(deep) != deep {
		t.Error("its repository is not seen")
	}
}

// An approval is for the folder and the file that the user saw. It does not pass to what a link puts in their place,
// but holds for a link that was there.
func TestGrantDoesNotFollowLinks(t *testing.T) {
	home := tree(t)
	project, evil := filepath.Join(home, "src", "shop"), filepath.Join(home, "src-evil")
	link := func(target, name string) {
		t.Helper()
		if err := os.Rename(name, name+".old"); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	none := compileIn(t, Default(), Places{Home: home})
	in := func(c Call, folder string) Call {
		c.CWD = folder
		return c
	}
	way := filepath.Join(home, "way")
	link(project, way)
	run, edit, server := bash("make test"), file("Write", "note.txt"), bash("")
	server.Tool, server.Input = "mcp__x__y", ReadInput(json.RawMessage(`{"a":1}`))
	type kept struct {
		call   Call
		cover  Cover
		policy *Compiled
	}
	var all []kept
	for _, folder := range []string{project, way} {
		for _, k := range []kept{
			{run, CoverInput, nil}, {run, CoverCommands, nil}, {run, CoverBuilds, nil}, {edit, CoverInput, nil},
			{edit, CoverEdits, nil}, {server, CoverInput, nil}, {server, CoverTool, nil},
		} {
			k.call = in(k.call, folder)
			list, err := NewGrants(k.call, UntilQuit, k.cover, none, testNow)
			if err != nil {
				t.Fatal(err)
			}
			k.policy = none.WithGrants(list)
			all = append(all, k)
		}
	}
	expect := func(when string, want func(k kept) bool) {
		t.Helper()
		for _, k := range all {
			if d := Decide(k.call, k.policy, testNow); (d.Effect == Allow) != want(k) {
				t.Errorf("%s: %s of %s in %s: %s by %q", when, k.cover, k.call.Tool, k.call.CWD, d.Effect, d.Rule)
			}
		}
	}
	expect("as it was", func(kept) bool { return true })
	link(filepath.Join(home, "out", "secret"), filepath.Join(project, "note.txt"))
	expect("with another file", func(k kept) bool { return k.call.Tool != "Write" })
	if err := os.Remove(filepath.Join(project, "note.txt")); err != nil {
		t.Fatal(err)
	}
	link(evil, project)
	expect("with another folder", func(kept) bool { return false })
}

// A rule, and the guard, also hold behind the links before a place that nod cannot look at, such as a server that does
// not answer when nod starts.
func TestLinksBeforeWhatCannotBeSeen(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err := errors.Join(err, os.Mkdir(dir+"/real", 0o700), os.Symlink("real", dir+"/link")); err != nil {
		t.Fatal(err)
	}
	below := "/" + strings.Repeat("x", 300) // longer than a name can be
	if !newPattern(dir+"/link"+below+"/**", "/home/x", true).match(dir + "/real" + below + "/f") {
		t.Error("the rule does not hold there")
	}
	if !newGuard(Places{Home: "/home/x", Own: []string{dir + "/link" + below}}).isOwn(dir + "/real" + below + "/f") {
		t.Error("the guard does not hold there")
	}
}
