//go:build unix

package policy

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A callRow is a line of testdata/calls-red3.jsonl: a call, what decides about it, and what that must come to.
type callRow struct {
	How     string          `json:"how"`
	Rules   []Rule          `json:"rules"`
	Granted string          `json:"granted"` // a command that a user allowed for always before
	Agent   string          `json:"agent"`
	Tool    string          `json:"tool"`
	Input   json.RawMessage `json:"input"`
	Expect  Effect          `json:"expect"`
}

// Every row is decided as nod would decide it, in a project in a git repository with a file private.txt.
func TestCallRows(t *testing.T) {
	home := tree(t)
	project := newProject(t, home)
	file, err := os.Open("testdata/calls-red3.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		var row callRow
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatalf("line %d: %v", n, err)
		}
		p := Default()
		for i, r := range row.Rules {
			r.ID = "r" + string(rune('a'+i))
			p.Rules = append(p.Rules, r)
		}
		c, err := Compile(p, Places{Home: home, Own: []string{filepath.Join(home, ".config", "nod")}})
		if err != nil {
			t.Fatalf("line %d: %v", n, err)
		}
		call := Call{Agent: row.Agent, Tool: row.Tool, CWD: project, Input: ReadInput(row.Input)}
		if row.Granted != "" {
			c = c.WithGrants(grantsFor(t, call, row.Granted, c))
		}
		if d := Decide(call, c, testNow); d.Effect != row.Expect {
			t.Errorf("line %d, %s: %s %s with %+v, granted %q: %s by %q (%s), want %s",
				n, row.How, row.Tool, row.Input, row.Rules, row.Granted, d.Effect, d.Rule, d.Reason, row.Expect)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// newProject makes a git repository with a file private.txt in a folder.
func newProject(t *testing.T, home string) string {
	t.Helper()
	project := filepath.Join(home, "src", "shop")
	for _, folder := range []string{".git/objects", ".git/refs", "sub"} {
		if err := os.MkdirAll(filepath.Join(project, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(project, ".git", "HEAD"), "ref: refs/heads/main\n")
	write(t, filepath.Join(project, ".git", "config"), "[core]\n\tbare = false\n")
	write(t, filepath.Join(project, "sub", "private.txt"), "secret")
	return project
}

// grantsFor is what "always" makes of a command that the same agent asks for in the same place.
func grantsFor(t *testing.T, call Call, command string, c *Compiled) []Grant {
	t.Helper()
	text, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	call.Input = ReadInput(text)
	cover := CoverCommands
	list, err := NewGrants(call, Always, cover, c, testNow)
	if err != nil {
		t.Fatalf("%q: %v", command, err)
	}
	return list
}

// However a file's name is spelled as a pattern, what reads it by one does not pass where it does not pass by name:
// neither with a rule that denies the file, nor where it is one that keeps secrets.
func TestPatternsHideNothing(t *testing.T) {
	home := tree(t)
	project := newProject(t, home)
	deny := Default()
	deny.Rules = []Rule{{ID: "r", Effect: Deny, Path: "**/private.txt"}}
	for _, tt := range []struct {
		policy  Policy
		globs   []string
		regexps []string
	}{
		{deny, []string{
			"private.txt", "[p]rivate.txt", "[[:alpha:]]rivate.txt", "[[:alpha:]]*", "?rivate.txt", "[o-q]rivate.txt",
			"[o-q]*", `\p\r\i\v\a\t\e.txt`, "[[=p=]]rivate.txt", "[[.p.]]rivate.txt", "[]p]rivate.txt", "[!]a]rivate.txt",
			"[^]a]rivate.txt", "private.t[[:lower:]]t", `private\.txt`, "*rivate.txt", "p??????.txt", "*", "[a-z]*.txt",
		}, []string{
			`private\.txt`, `\wrivate.txt`, `.rivate.txt`, `\x70rivate.txt`, `[[:alpha:]]rivate.txt`, `p+rivate.txt`,
			`(?i)PRIVATE.txt`, `p?private.txtx?`, `.{1}rivate.txt`, `(p)rivate\.(txt|go)`, `(?:p)rivate.*`, `\Sr.*`,
			`[^a]rivate.txt`, `prx*ivate.txt`, `\(p\|q\)rivate.txt`, `pri(v|w)ate.txt`, `\bprivate.txt`,
			`\Qprivate.txt\E`, `private\.txt$`, `(private|x).*`, `.*`,
		}},
		{Default(), []string{
			".env", "[.]env", "[[:punct:]]env", "?env", "[!-0]env", "[--0]env", `\.\e\n\v`, "[[=.=]]env", "[[...]]env",
			"[].]env", "[!]a]env", "[^]a]env", ".en[[:lower:]]", `\.env`, "*env", ".e*", ".e[n]v", ".[a-f]nv",
		}, []string{
			`\.env`, `\Wenv`, `.env`, `\x2eenv`, `[[:punct:]]env`, `\.+env`, `(?i)\.ENV`, `a?\.envx?`, `.{1}env`, `(\.)env`,
			`(?:\.)env`, `\Senv`, `[^a]env`, `\.enx*v`, `\(\.\|q\)env`, `\.e(n|m)v`, `\B\.env`, `\Q.env\E`, `\.env$`,
		}},
	} {
		c, err := Compile(tt.policy, Places{Home: home})
		if err != nil {
			t.Fatal(err)
		}
		hidesNothing(t, c, project, tt.globs, []string{
			"git log -p -- 'X'", "git diff HEAD -- 'X'", "git show HEAD -- 'sub/X'", "git grep KEY -- 'X'",
			"git log -p -- ':(glob)**/X'", "git log -p -- ':(icase)X'", "git stash show -p -- 'X'",
			"git ls-files 'X' | xargs cat", "cat $(git ls-files 'X')", "sh -c \"git show -- 'X'\"",
			"grep -r KEY --include='X' .", "grep -r --include 'X' KEY", "sh -c \"grep -r KEY --include='X' .\"",
			"rg -g 'X' KEY", "rg --iglob 'X' KEY", "rg -uu --glob='**/X' KEY", "rg -g 'X' -g '*.go' KEY",
			"find . -name 'X' -exec cat {} +", "find . -iname 'X' -print0 | xargs -0 cat",
			"find . -path '*/X' -exec cat {} ';'", "find . -wholename './*X' | xargs grep KEY",
			"find . -name 'X' -o -name '*.go' -exec cat {} +", "find . -type f -name 'X' -exec env cat {} ';'",
			"fd -g 'X' | xargs cat", "fd --glob 'X' . sub | xargs -I{} cat {}", "cat $(fd -g 'X')",
		})
		hidesNothing(t, c, project, tt.regexps, []string{
			"find . -regex '.*/X' -exec cat {} +", "find . -iregex '.*X' | xargs cat",
			"find . -regextype egrep -regex '.*/X' -exec cat {} +", "fd 'X' | xargs cat", "fd -H '^X' | xargs cat",
			"fd -p '/X' | xargs cat", "fdfind -uu 'X$' -0 | xargs -0 cat", "cat $(fd 'X')", "fd -H 'y|X' | xargs cat",
			"find . -type f | grep 'X' | xargs cat", "git ls-files | grep -iE '/X$' | sort | xargs head -3",
			"cat $(rg --files --hidden | grep -e '\\.go$' -e 'X')", "ls | egrep '(y|X)' | head -2 | xargs cat",
			"find . -name '*' | grep -E 'a$|X' | xargs cat",
		})
	}
}

func hidesNothing(t *testing.T, c *Compiled, project string, patterns, ways []string) {
	t.Helper()
	for _, pattern := range patterns {
		for _, way := range ways {
			if command := strings.ReplaceAll(way, "X", pattern); commandDecision(c, project, command) == Allow {
				t.Errorf("%s passes", command)
			}
		}
	}
}

// commandDecision is what becomes of a command of Claude Code in a project.
func commandDecision(c *Compiled, project, command string) Effect {
	text, _ := json.Marshal(map[string]string{"command": command})
	return Decide(Call{Agent: "claude-code", Tool: "Bash", CWD: project, Input: ReadInput(text)}, c, testNow).Effect
}

// Gemini CLI reads the files that it is told to whatever the letter case of their names.
func TestLetterCaseOfFiles(t *testing.T) {
	project := newProject(t, t.TempDir())
	p := compiled(t, Policy{AutoAllow: []Class{ReadOnly}, Rules: []Rule{{ID: "r", Effect: Deny, Path: "**/private.txt"}}})
	for file, want := range map[string]Effect{"sub/private.txt": Deny, "SUB/Private.TXT": Deny, "sub/a.txt": Allow} {
		input, _ := json.Marshal(map[string][]string{"include": {file}})
		c := Call{Agent: "gemini-cli", Tool: "read_many_files", CWD: project, Input: ReadInput(input)}
		if d := Decide(c, p, testNow); d.Effect != want {
			t.Errorf("%s: %s (%s), want %s", file, d.Effect, d.Reason, want)
		}
	}
}
