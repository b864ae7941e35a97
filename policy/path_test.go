//go:build unix

package policy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A tree of real folders, files and links:
//
//	src/shop/a.go      a file
//	src-evil/b         a file next to src
//	out/secret         a file outside
//	src/link           -> ../out         a link that leads out
//	src/shop/file      -> ../../out/secret
//	src/shop/self      -> .              a link that stays
//	src/loop           -> loop
//	alias              -> src            another way in
//	mine/nod           -> .config/nod    another way to nod's own files
func tree(t *testing.T) (home string) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"src/shop", "src-evil", "out", ".config/nod", "mine"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"src/shop/a.go", "src-evil/b", "out/secret"} {
		if err := os.WriteFile(filepath.Join(home, file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"src/link": "../out", "src/shop/file": "../../out/secret", "src/shop/self": ".", "src/loop": "loop",
		"alias": "src", "mine/nod": "../.config/nod", "mine/absolute": filepath.Join(home, "out"),
	} {
		if err := os.Symlink(target, filepath.Join(home, link)); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

func (c Call) at(home, path string) Call {
	c.CWD = filepath.Join(home, "src", "shop")
	text, _ := json.Marshal(map[string]string{"file_path": path})
	c.Input = ReadInput(text)
	return c
}

func TestPathTricks(t *testing.T) {
	home := tree(t)
	places := Places{Home: home, Own: []string{filepath.Join(home, ".config", "nod")}}
	tests := []struct {
		name  string
		path  string // "~" stands for the home folder, spelled out
		allow bool   // by an allow of ~/src/**
		deny  bool   // by a deny of ~/src
	}{
		{"a file", "~/src/shop/a.go", true, true},
		{"relative", "a.go", true, true},
		{"relative, up and down", "../shop/a.go", true, true},
		{"the folder itself", "~/src", true, true},
		{"the folder with a slash", "~/src/", true, true},
		{"doubled slashes", "~//src///shop//a.go", true, true},
		{"dots", "~/./src/./shop/../shop/a.go", true, true},
		{"not there yet", "~/src/new/deep/file.go", true, true},
		{"not there yet, behind a file", "~/src/shop/a.go/x", true, true},
		{"a link that stays", "~/src/shop/self/self/a.go", true, true},

		{"the sibling that begins alike", "~/src-evil/b", false, false},
		{"climbing out", "~/src/../out/secret", false, false},
		{"climbing out, relative", "../../out/secret", false, false},
		{"climbing out of what is not there", "~/src/new/../../out/secret", false, false},
		{"another case", "~/SRC/shop/a.go", foldsCase, foldsCase},
		{"the text of the name as part of another", "~/out/src/shop/a.go", false, false},
		{"a link that leads out", "~/src/link/secret", false, true},
		{"a link that leads out, to what is not there", "~/src/link/new/file", false, true},
		{"a file that is a link out", "~/src/shop/file", false, true},
		{"up after a link out, and in again", "~/src/link/../src/shop/a.go", false, true},
		{"up after a link out, looking innocent", "~/src/link/../secret", false, true},
		{"another way in", "~/alias/shop/a.go", false, true},
		{"another way in, not there yet", "~/alias/new/file", false, true},
		{"a loop", "~/src/loop/x", false, true},
		{"what means something else to everybody", "/proc/self/cwd/a.go", false, true},
		{"the same through the root", "/proc/self/root~/src/shop/a.go", false, true},
		{"somebody else's home", "~other/src/shop/a.go", false, true},
		{"a zero byte", "~/src/shop/a.go\x00", false, true},
		{"a URL", "file://~/src/shop/a.go", true, true},
		{"a URL in capitals", "FILE://~/src/shop/a.go", false, true},
		{"a URL with a host", "file://localhost~/src/shop/a.go", false, true},
		{"a URL without one", "file:~/src/shop/a.go", false, true},
		{"a URL in disguise", "file://~/src/shop/%2e%2e/%2e%2e/out/secret", false, true},
	}
	rules := func(effect Effect, path string) *Compiled {
		p, err := Compile(Policy{Rules: []Rule{{ID: "r", Effect: effect, Tool: "Write", Path: path}}}, places)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	allow, deny := rules(Allow, "~/src/**"), rules(Deny, "~/src")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := tt.path
			if path != "~other/src/shop/a.go" {
				path = replaceTilde(path, home)
			}
			call := file("Write", "").at(home, path)
			if d := Decide(call, allow, testNow); (d.Effect == Allow) != tt.allow {
				t.Errorf("allow ~/src/**: %q: %s (%s), want allowed %v", path, d.Effect, d.Reason, tt.allow)
			}
			if d := Decide(call, deny, testNow); (d.Effect == Deny) != tt.deny {
				t.Errorf("deny ~/src: %q: %s (%s), want denied %v", path, d.Effect, d.Reason, tt.deny)
			}
		})
	}
}

func replaceTilde(path, home string) string {
	for i := range path {
		if path[i] == '~' {
			return path[:i] + home + path[i+1:]
		}
	}
	return path
}

// A relative path in a folder that is given through a link works like the folder that the link leads to.
func TestFolderThroughLink(t *testing.T) {
	home := tree(t)
	p, err := Compile(Policy{Rules: []Rule{
		{ID: "alias", Effect: Allow, Tool: "Edit", Path: "~/alias/**", CWD: "~/alias/**"},
	}}, Places{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	for cwd, want := range map[string]Effect{
		"alias/shop": Allow, // the pattern's own way in
		"src/shop":   Allow, // and where it leads
		"src-evil":   Ask,
		"mine":       Ask,
	} {
		call := file("Edit", "x.go")
		call.CWD = filepath.Join(home, cwd)
		if d := Decide(call, p, testNow); d.Effect != want {
			t.Errorf("in %s: %+v, want %s", cwd, d, want)
		}
	}
}

// All paths of an input must be inside for an allow; one is enough for a deny.
func TestEveryPathCounts(t *testing.T) {
	home := tree(t)
	compile := func(r Rule) *Compiled {
		p, err := Compile(Policy{Rules: []Rule{r}}, Places{Home: home})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	allow := compile(Rule{ID: "r", Effect: Allow, Tool: "?*", Path: "~/src/**"})
	deny := compile(Rule{ID: "r", Effect: Deny, Path: "~/out/**"})
	in, out := filepath.Join(home, "src/shop/a.go"), filepath.Join(home, "out/secret")
	tests := []struct {
		name  string
		tool  string
		input string
		allow bool
		deny  bool
	}{
		{"one", "Edit", `{"file_path":"` + in + `"}`, true, false},
		{"two", "mcp__fs__move", `{"source":"` + in + `","destination":"` + in + `2"}`, true, false},
		{"one of two outside", "mcp__fs__move", `{"source":"` + in + `","destination":"` + out + `"}`, false, true},
		{"a list", "mcp__fs__read", `{"paths":["` + in + `","` + out + `"]}`, false, true},
		{"nested", "MultiEdit", `{"edits":[{"filePath":"` + in + `"},{"filePath":"` + out + `"}]}`, false, true},
		{"by another name", "mcp__fs__x", `{"path":"` + in + `","absolute_path":"` + out + `"}`, false, true},
		{"none", "mcp__fs__x", `{"text":"` + in + `"}`, false, false},
		{"content is no path", "Write", `{"file_path":"` + in + `","content":"` + out + `"}`, true, false},
		{"an escaped name of the field", "Edit", `{"file\u005fpath":"` + out + `"}`, false, true},
		{"an escaped path", "Edit", `{"file_path":"` + filepath.Dir(out) + `\u002fsecret"}`, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			call := bash("").with(func(c *Call) { c.Tool, c.Input = tt.tool, ReadInput([]byte(tt.input)) })
			if d := Decide(call, allow, testNow); (d.Effect == Allow) != tt.allow {
				t.Errorf("allow: %+v, want %v", d, tt.allow)
			}
			if d := Decide(call, deny, testNow); (d.Effect == Deny) != tt.deny {
				t.Errorf("deny: %+v, want %v", d, tt.deny)
			}
		})
	}
}

// The files that a patch names are paths of the input.
func TestPathsOfPatches(t *testing.T) {
	home := tree(t)
	p, err := Compile(
		Policy{Rules: []Rule{{ID: "r", Effect: Allow, Tool: "apply_patch", Path: "~/src/**"}}},
		Places{Home: home},
	)
	if err != nil {
		t.Fatal(err)
	}
	patch := func(body string) Call {
		text, _ := json.Marshal(map[string]string{"input": "*** Begin Patch\n" + body + "\n*** End Patch"})
		return Call{Agent: "codex", Tool: "apply_patch", Input: ReadInput(text), CWD: filepath.Join(home, "src/shop")}
	}
	tests := map[string]Effect{
		"*** Update File: a.go\n@@\n-a\n+b":                            Allow,
		"*** Add File: new/b.go\n+x\n*** Delete File: a.go":            Allow,
		"*** Update File: a.go\n*** Move to: ../../out/a.go\n@@":       Ask,
		"*** Update File: a.go\n@@\n*** Add File: ../../out/x":         Ask,
		"*** Update File: a.go\n@@\n  *** Delete File: ../link/secret": Ask,
		"": Ask, // nothing that nod can see
	}
	for body, want := range tests {
		if d := Decide(patch(body), p, testNow); d.Effect != want {
			t.Errorf("%q: %+v, want %s", body, d, want)
		}
	}
}

// Nod's own files are guarded by whatever way they are reached, also when they do not exist yet.
func TestOwnFilesThroughLinks(t *testing.T) {
	home := tree(t)
	p, err := Compile(Policy{Rules: []Rule{{ID: "r", Effect: Allow, Agent: "claude-code"}}},
		Places{Home: home, Own: []string{filepath.Join(home, ".config", "nod")}})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"mine/nod/config.yaml", "mine/nod", "mine/nod/new", "src/link/../.config/nod/x", "mine/absolute/../.config/nod",
		"alias/../.config/nod/config.yaml", ".config/nod/../nod/x",
	} {
		if d := Decide(file("Write", "").at(home, home+"/"+path), p, testNow); d.Rule != "builtin:own_files" {
			t.Errorf("%s: %+v, want %s", path, d, "builtin:own_files")
		}
	}
	if d := Decide(file("Write", "").at(home, home+"/mine/x"), p, testNow); d.Effect != Allow {
		t.Errorf("next to it: %+v, want allow", d)
	}
}

// Where nod's own folder is a link, what it leads to is guarded as well.
func TestOwnFolderIsLink(t *testing.T) {
	home := tree(t)
	p, err := Compile(Policy{Rules: []Rule{{ID: "r", Effect: Allow, Agent: "claude-code"}}},
		Places{Home: home, Own: []string{filepath.Join(home, "mine", "nod")}})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"mine/nod/x", ".config/nod/x"} {
		if d := Decide(file("Write", "").at(home, home+"/"+path), p, testNow); d.Rule != "builtin:own_files" {
			t.Errorf("%s: %+v, want %s", path, d, "builtin:own_files")
		}
	}
}

// resolve agrees with the system wherever the system has an answer.
func TestResolveAgreesWithTheSystem(t *testing.T) {
	home := tree(t)
	for _, path := range []string{
		"", "/src", "/src/link", "/src/link/..", "/src/link/../src/shop/a.go", "/src/shop/self/self/../shop/a.go",
		"/alias/shop/file", "/mine/nod/..", "/mine/absolute/secret", "//src//./shop/",
	} {
		want, err := filepath.EvalSymlinks(home + path)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := resolve(home + path); !ok || got != want {
			t.Errorf("resolve(%s) = %q, %v, want %q", path, got, ok, want)
		}
	}
	for _, path := range []string{
		home + "/src/loop", home + "/src/loop/..", "/proc/self/cwd", "/proc/self/../self/root", "/dev/fd/1",
	} {
		if got, ok := resolve(path); ok {
			t.Errorf("resolve(%s) = %q, want none", path, got)
		}
	}
}

func TestPatterns(t *testing.T) {
	tests := []struct {
		pattern, path string
		below, want   bool
	}{
		{"~/src", "/home/u/src", false, true},
		{"~/src", "/home/u/src/a", false, false},
		{"~/src", "/home/u/src/a", true, true},
		{"~/src/", "/home/u/src", false, true},
		{"~/src/", "/home/u/src/a/b", false, true},
		{"~/src//shop/**", "/home/u/src/shop/a", false, true},
		{"~", "/home/u", false, true},
		{"/srv/*", "/srv/a/b", false, false},
		{"/srv/*", "/srv/a/b", true, true},
		{"/srv/**/x", "/srv/x", false, true},
		{"**/.env", "/a/b/.env", false, true},
		{"**/.env", "/a/b/.env2", true, false},
		{"/srv/{a,b}/*.go", "/srv/b/x.go", false, true},
		{"/srv/[ab]", "/srv/c", false, false},
		{"/", "/", false, true},
		{"/", "/a", false, true}, // a slash at the end: and everything in it
	}
	for _, tt := range tests {
		if problem := checkPattern(tt.pattern); problem != "" {
			t.Errorf("%q: %s", tt.pattern, problem)
		}
		if got := newPattern(tt.pattern, "/home/u", tt.below).match(tt.path); got != tt.want {
			t.Errorf("%q (below %v) on %q: %v, want %v", tt.pattern, tt.below, tt.path, got, tt.want)
		}
	}
	for _, bad := range []string{"src/**", "./a", "../a", "*.go", "/a/[", "/a/{b", "~root/x", ""} {
		if checkPattern(bad) == "" {
			t.Errorf("%q is fine, want a problem", bad)
		}
	}
	odd := newPattern("~/*", "/home/[u]*", false)
	if !odd.match("/home/[u]*/a") || odd.match("/home/u/a") {
		t.Errorf("a home folder is a name, not a pattern: %q", odd.globs)
	}
}

// Some agents take "~" and "file:" for names of files. Where there are such files, nobody knows where a path leads.
func TestNamesLikeTheHomeFolder(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	for _, path := range []string{"~/a", "file:///usr/a"} {
		start, _, _ := strings.Cut(path, "/")
		if p := locate(path, dir, home); p.lost {
			t.Errorf("%s: lost without a file %s", path, start)
		}
		if err := os.Symlink("/etc", filepath.Join(dir, start)); err != nil {
			t.Skip(err)
		}
		if p := locate(path, dir, home); !p.lost {
			t.Errorf("%s: leads to %s, next to a file %s", path, p.real, start)
		}
	}
}

// Agents work out ".." before they follow links, and the system after. Where that leads to two places, neither passes.
func TestUpAfterALink(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"docs/x", ".vscode"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"lnk": "docs/x", "cfg": "/home/u/.aws/credentials", "vs": ".vscode"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	rules, err := Compile(Default(), Places{Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]Effect{
		"docs/a": Allow, "docs/../a": Allow, "lnk/../cfg": Ask, "lnk/../vs/tasks.json": Ask, "lnk/../a": Ask, "cfg": Ask,
	} {
		input := ReadInput(fmt.Appendf(nil, `{"file_path":%q}`, path))
		d := Decide(Call{Agent: "claude-code", Tool: "Read", Input: input, CWD: dir}, rules, time.Now())
		if d.Effect != want {
			t.Errorf("%s: %+v, want %s", path, d, want)
		}
	}
}
