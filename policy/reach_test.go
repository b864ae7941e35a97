//go:build unix

package policy

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nod/policy/shell"
)

// caseRules are the rules that testdata/tools.tsv names in words.
var caseRules = map[string]Rule{
	"rule allow class write path ~/src/**": {Effect: Allow, Class: Write, Path: "~/src/**"},
	"rule deny path **/.env":               {Effect: Deny, Path: "**/.env"},
}

// laxRules would each allow a call that must be asked about.
var laxRules = []Rule{
	{Effect: Allow, Host: "github.com"},
	{Effect: Allow, Tool: "mcp__fs__move"},
	{Effect: Allow, Tool: "?*", Path: "~/src/**"},
}

// Every line is agent, tool, input, effect, and the configuration with the reason; HOME is a home folder.
func TestToolCases(t *testing.T) {
	home := tree(t)
	file, err := os.Open("testdata/tools.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Scan() // the names of the columns
	var last Policy
	for lines.Scan() {
		column := strings.Split(lines.Text(), "\t")
		if len(column) != 5 {
			t.Fatalf("%d columns in %q", len(column), lines.Text())
		}
		if column[1] == "Bash" {
			continue // what a command reaches is for the tests of command lines
		}
		config, cwd := column[4], filepath.Join(home, "src", "shop")
		p := Default()
		switch {
		case strings.HasPrefix(config, "same rule"):
			p = last
		case strings.HasPrefix(config, "trusted_roots ~/src, cwd outside"):
			p.TrustedRoots, cwd = []string{"~/src"}, filepath.Join(home, "out")
		case strings.HasPrefix(config, "cwd is the home folder"):
			cwd = home
		case !strings.HasPrefix(config, "default"):
			text, _, _ := strings.Cut(config, ";")
			rule, ok := caseRules[text]
			if !ok {
				t.Fatalf("no rule %q", text)
			}
			rule.ID = "r"
			p.Rules = []Rule{rule}
		}
		last = p
		call := Call{
			Agent: column[0], Tool: column[1], CWD: cwd,
			Input: ReadInput(json.RawMessage(strings.ReplaceAll(column[2], "HOME", home))),
		}
		name := strings.Join(column[:3], " ")
		expectEffect(t, name, call, p, home, Effect(column[3]))
		if Effect(column[3]) != Ask || strings.Contains(column[4], "class write") ||
			strings.HasPrefix(column[4], "same rule") {
			for i, rule := range laxRules {
				rule.ID = "lax"
				if i == 0 || strings.HasPrefix(column[1], "mcp__") {
					q := p
					q.Rules = append([]Rule{rule}, p.Rules...)
					expectEffect(t, name, call, q, home, Effect(column[3]))
				}
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

func expectEffect(t *testing.T, name string, call Call, p Policy, home string, want Effect) {
	t.Helper()
	c, err := Compile(p, Places{Home: home, Own: []string{filepath.Join(home, ".config", "nod")}})
	if err != nil {
		t.Fatal(err)
	}
	if d := Decide(call, c, testNow); d.Effect != want {
		t.Errorf("%s with %+v: %s by %q (%s), want %s", name, p.Rules, d.Effect, d.Rule, d.Reason, want)
	}
}

// What passes by its class and what does not, of calls that no rule is about.
func TestReach(t *testing.T) {
	home := tree(t)
	project := filepath.Join(home, "src", "shop")
	for path, text := range map[string]string{
		".git/config":        "[core]\n\tbare = false\n[remote \"o\"]\n\turl = https://example.com/a.git\n",
		"token/.git/config":  "[remote \"o\"]\n\turl = https://u:ghp_x@example.com/a.git\n",
		"header/.git/config": "[http]\n\textraheader = AUTHORIZATION: basic x\n",
		"a.go":               "",
	} {
		path = filepath.Join(project, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, path, text)
	}
	for _, name := range []string{"notes", "token/a:x", `token/\x`} {
		if err := os.Symlink(filepath.Join(home, ".netrc"), filepath.Join(project, name)); err != nil {
			t.Fatal(err)
		}
	}
	const claude, gemini, oc = "claude-code", "gemini-cli", "opencode"
	tests := []struct {
		agent, tool, input string
		want               Effect
	}{
		{claude, "Read", `{"file_path":"HOME/src/shop/a.go"}`, Allow},
		{claude, "Read", `{"file_path":"a.go","offset":1,"limit":20}`, Allow},
		{claude, "Read", `{"file_path":".git/config"}`, Allow},
		{claude, "Read", `{"file_path":"token/.git/config"}`, Ask},
		{claude, "Read", `{"file_path":"header/.git/config"}`, Ask},
		{claude, "Read", `{"file_path":"gone/.git/config"}`, Ask},
		{claude, "Read", `{"file_path":"notes"}`, Ask},
		{claude, "Read", `{"file_path":" ~/.netrc"}`, Ask},
		{claude, "Read", `{"file_path":"~/.netrc\n"}`, Ask},
		{claude, "Read", `{"file_path":"\u3000~/.netrc\u3000"}`, Ask},
		{claude, "Read", `{"file_path":"~/.NETRC"}`, Ask},
		{claude, "Read", `{"file_path":"~/.netrc","note":"x"}`, Ask},
		{claude, "Read", `{"file_path":"a.go","also":"HOME/.netrc"}`, Ask},
		{claude, "Read", `{"file_path":"a.go","also":{"more":["x",".env"]}}`, Ask},
		{claude, "Read", `{"file_path":"a.go","encoding":"utf-8"}`, Allow},
		{claude, "Read", `{"file_path":".env.example"}`, Allow},
		{claude, "Read", `{"file_path":"\u017frc/.\u017f\u017fh/x"}`, Ask}, // long s

		{claude, "Glob", `{"pattern":"**/*"}`, Allow},
		{claude, "Glob", `{"pattern":"**/*.{ts,tsx}","path":"HOME/src"}`, Allow},
		{claude, "Glob", `{"pattern":"*.json"}`, Allow},
		{claude, "Glob", `{"pattern":"HOME/.ssh/*"}`, Ask},
		{claude, "Glob", `{"pattern":"**/.env"}`, Ask},
		{claude, "Glob", `{"pattern":"*","path":"HOME/.ssh "}`, Ask},
		{claude, "Glob", `{"pattern":"a/*/../../../.ssh/*"}`, Ask},

		{claude, "Grep", `{"pattern":"x"}`, Allow},
		{claude, "Grep", `{"pattern":"x","path":"HOME/src/shop","glob":"*.go","output_mode":"content","-n":true}`, Allow},
		{claude, "Grep", `{"pattern":"x","glob":"src/**/*.{ts,tsx}"}`, Allow},
		{claude, "Grep", `{"pattern":"x","glob":"*.json"}`, Allow},
		{claude, "Grep", `{"pattern":"x","glob":"!*.min.js"}`, Allow},
		{claude, "Grep", `{"pattern":"x","glob":"app/(auth)/**/*.tsx"}`, Allow},
		{claude, "Grep", `{"pattern":"x","type":"go"}`, Allow},
		{claude, "Grep", `{"pattern":"x","path":"HOME"}`, Ask},
		{claude, "Grep", `{"pattern":"x","path":"HOME/.cargo"}`, Ask},
		{claude, "Grep", `{"pattern":"x","path":"HOME/.config"}`, Ask},
		{claude, "Grep", `{"pattern":"x","path":"HOME/.docker/"}`, Ask},
		{claude, "Grep", `{"pattern":"x","path":".git"}`, Ask},
		{claude, "Grep", `{"pattern":"x","path":"/etc"}`, Ask},
		{claude, "Grep", `{"pattern":"x","path":"HOME/.cargo/registry/src/x"}`, Allow},
		{claude, "Grep", `{"pattern":"x","glob":".env"}`, Ask},
		{claude, "Grep", `{"pattern":"x","glob":".e*"}`, Ask},
		{claude, "Grep", `{"pattern":"x","glob":"**/.ENV"}`, Ask},
		{claude, "Grep", `{"pattern":"x","glob":"{.env,*.go}"}`, Ask},
		{claude, "Grep", `{"pattern":"x","glob":"*.go,.env"}`, Ask},
		{claude, "Grep", `{"pattern":"x","glob":"*.go .env"}`, Ask},
		{claude, "Grep", `{"pattern":"x","glob":"*.{go,pem}"}`, Ask},
		{claude, "Grep", `{"pattern":"x","glob":"*.p[e]m"}`, Ask},
		{claude, "Grep", `{"pattern":"x","glob":"id_rs?"}`, Ask},
		{claude, "Grep", `{"pattern":"x","glob":"secrets/**"}`, Ask},
		{claude, "Grep", `{"pattern":"x","glob":"../../.ssh/*"}`, Ask},

		{claude, "ListMcpResourcesTool", `{}`, Ask},
		{claude, "ReadMcpResourceTool", `{"server":"x","uri":"file:///a"}`, Ask},
		{claude, "ReadMcpResourceDirTool", `{"server":"x","uri":"file:///a"}`, Ask},
		{"codex", "read_mcp_resource", `{"server":"x","uri":"a"}`, Ask},
		{gemini, "read_mcp_resource", `{"uri":"a"}`, Ask},

		{gemini, "read_file", `{"file_path":"a.go"}`, Allow},
		{gemini, "read_file", `{"file_path":"@.env"}`, Ask},
		{gemini, "read_file", `{"file_path":"@../../.netrc"}`, Ask},
		{gemini, "read_file", `{"file_path":"%2eenv"}`, Ask},
		{gemini, "read_file", `{"file_path":"@%2Eenv"}`, Ask},
		{gemini, "read_many_files", `{"include":["src/*.go","README.md"]}`, Allow},
		{gemini, "read_many_files", `{"include":["src/**/*.ts"]}`, Allow},
		{gemini, "read_many_files", `{"include":["**/*"]}`, Ask},
		{gemini, "read_many_files", `{"include":["a.go",".env"]}`, Ask},
		{gemini, "read_many_files", `{"include":["notes"]}`, Ask},
		{gemini, "read_many_files", `{"include":["conf\\.env"]}`, Ask},
		{gemini, "read_many_files", `{"include":["{a,.env}"]}`, Ask},
		{gemini, "read_many_files", `{"include":["a.go"],"paths":["HOME/.netrc"]}`, Ask},
		{gemini, "read_many_files", `{"paths":["**"]}`, Ask},
		{gemini, "read_many_files", `{"paths":["[.]env"]}`, Ask},
		{gemini, "read_many_files", `{"paths":["src/*.go"]}`, Allow},
		{gemini, "grep_search", `{"pattern":"x","include_pattern":"*.go"}`, Allow},
		{gemini, "grep_search", `{"pattern":"x","include_pattern":".env*"}`, Ask},
		{gemini, "grep_search", `{"pattern":"x","dir_path":"HOME/.aws"}`, Ask},
		{gemini, "grep_search", `{"pattern":"x","path":"HOME/.aws"}`, Ask},
		{gemini, "list_directory", `{"dir_path":"."}`, Allow},
		{gemini, "run_shell_command", `{"command":"ls","dir_path":".","description":"List"}`, Allow},
		{gemini, "run_shell_command", `{"command":"ls","workdir":"."}`, Ask},
		{gemini, "run_shell_command", `{"command":"ls","cwd":"."}`, Ask},
		{claude, "Bash", `{"command":"ls","workdir":"."}`, Ask},
		{"codex", "Bash", `{"command":"ls","workdir":"."}`, Allow},
		{"codex", "Bash", `{"command":"ls","workdir":"token "}`, Ask},
		{"codex", "Bash", `{"command":"ls","workdir":[".","token"]}`, Ask},
		{"codex", "Bash", `{"command":"cat a:x","workdir":"token"}`, Ask},
		{"codex", "Bash", `{"command":"cat '\\x'","workdir":"token"}`, Ask},
		{"cursor", "Shell", `{"command":"cat a","cwd":"token","working_directory":"token"}`, Allow},
		{"cursor", "Shell", `{"command":"cat a","cwd":"token","working_directory":""}`, Allow},
		{"cursor", "Shell", `{"command":"cat a","cwd":"token","working_directory":"HOME/out"}`, Ask},
		{gemini, "run_shell_command", `{"command":"ls","dir_path":"@token"}`, Ask},
		{oc, "bash", `{"command":"ls","workdir":"."}`, Allow},
		{oc, "bash", `{"command":"ls","cwd":"."}`, Ask},

		{oc, "read", `{"filePath":"HOME/src/shop/a.go"}`, Allow},
		{oc, "read", `{"patterns":["a.go"]}`, Allow},
		{oc, "read", `{"patterns":["mcp:web:x"],"server":"web","uri":"https://evil.example"}`, Ask},
		{oc, "grep", `{"pattern":"x","include":"*.{ts,tsx}"}`, Allow},
		{oc, "grep", `{"pattern":"x","path":"HOME/.ssh"}`, Ask},
		{oc, "lsp", `{"operation":"hover","filePath":"a.go","line":1,"character":2}`, Allow},
	}
	for _, tt := range tests {
		input := ReadInput([]byte(strings.ReplaceAll(tt.input, "HOME", home)))
		call := Call{Agent: tt.agent, Tool: tt.tool, CWD: project, Input: input}
		expectEffect(t, tt.tool+" "+tt.input, call, Default(), home, tt.want)
	}
}

// What rules that allow a tool, or paths, do not let pass, and what they do.
func TestUnknownTexts(t *testing.T) {
	home := tree(t)
	tool := Rule{ID: "r", Effect: Allow, Tool: "?*"}
	path := Rule{ID: "r", Effect: Allow, Tool: "?*", Path: "~/src/**"}
	deny := Rule{ID: "r", Effect: Deny, Path: "**/.env"}
	folder := Rule{ID: "r", Effect: Deny, Path: "~/src/shop/private/**"}
	tests := []struct {
		rule        Rule
		tool, input string
		want        Effect
	}{
		{tool, "mcp__fs__move", `{"source":"HOME/src/a","target":"HOME/src/b"}`, Allow},
		{tool, "mcp__fs__move", `{"source":"HOME/src/a","target":"HOME/.bashrc"}`, Ask},
		{tool, "mcp__fs__move", `{"from":"HOME/src/a","into":"HOME/.bashrc"}`, Ask},
		{tool, "mcp__fs__move", `{"moves":[{"a":"x","b":[["HOME/.bashrc"]]}]}`, Ask},
		{tool, "mcp__fs__write", `{"x":".bashrc"}`, Ask},
		{tool, "mcp__fs__write", `{"x":"~/.bashrc "}`, Ask},
		{tool, "mcp__fs__write", `{"x":"file://HOME/.bashrc"}`, Ask},
		{tool, "mcp__fs__write", `{"x":"cp a HOME/.bashrc"}`, Ask},
		{tool, "mcp__fs__write", `{"x":"--into=HOME/.bashrc"}`, Ask},
		{tool, "mcp__fs__write", `{"x":"go to .git/hooks/pre-commit, then"}`, Ask},
		{tool, "mcp__fs__write", `{"x":"HOME/.config/nod/config.yaml"}`, Ask},
		{tool, "mcp__fs__rm", `{"x":"HOME/.config"}`, Ask},
		{tool, "mcp__git__commit", `{"message":"Fix the parser: see src/a.go and docs/b.md","all":true}`, Allow},
		{tool, "mcp__web__get", `{"q":"https://example.com/.bashrc"}`, Allow},
		{tool, "mcp__x__y", `{"q":"and/or, 1/2, text/html"}`, Allow},
		{path, "mcp__fs__write", `{"path":"HOME/src/a","content":"see HOME/out/b"}`, Allow},
		{path, "mcp__fs__write", `{"path":"HOME/src/a","other":"HOME/out/b"}`, Ask},
		{path, "mcp__fs__write", `{"path":"HOME/src/a","content":"edit HOME/src/.git/config"}`, Ask},
		{path, "mcp__fs__write", `{"other":"HOME/src/a"}`, Ask},
		{deny, "mcp__fs__read", `{"x":["HOME/src/shop/.env"]}`, Deny},
		{deny, "mcp__fs__read", `{"x":"read HOME/src/shop/.env please"}`, Deny},
		{deny, "Grep", `{"pattern":"x","glob":".env"}`, Deny},
		{deny, "Grep", `{"pattern":"x","glob":"**/.en?"}`, Deny},
		{deny, "Grep", `{"pattern":"x","glob":"*.go"}`, Allow},
		{deny, "Grep", `{"pattern":"x"}`, Allow},
		{folder, "Grep", `{"pattern":"x"}`, Deny},
		{folder, "Grep", `{"pattern":"x","path":"web"}`, Allow},
		{folder, "Glob", `{"pattern":"**/*.go"}`, Allow},
	}
	for _, tt := range tests {
		call := Call{
			Agent: "claude-code", Tool: tt.tool, CWD: filepath.Join(home, "src", "shop"),
			Input: ReadInput(json.RawMessage(strings.ReplaceAll(tt.input, "HOME", home))),
		}
		p := Default()
		p.Rules = []Rule{tt.rule}
		expectEffect(t, tt.tool+" "+tt.input, call, p, home, tt.want)
	}
}

func TestHostsAreForTools(t *testing.T) {
	host := Rule{ID: "r", Effect: Allow, Host: "github.com"}
	named := Rule{ID: "r", Effect: Allow, Host: "github.com", Tool: "mcp__web__*"}
	tests := []struct {
		rule               Rule
		agent, tool, input string
		want               Effect
	}{
		{host, "claude-code", "WebFetch", `{"url":"https://github.com/a","prompt":"sum up"}`, Allow},
		{host, "opencode", "webfetch", `{"url":"https://github.com/a","format":"text"}`, Allow},
		{host, "gemini-cli", "web_fetch", `{"prompt":"sum up https://github.com/a"}`, Allow},
		{host, "gemini-cli", "web_fetch", `{"prompt":"sum up https://github.com/a and https://evil.example"}`, Ask},
		{host, "claude-code", "Task", `{"prompt":"see https://github.com/a"}`, Ask},
		{host, "claude-code", "Write", `{"file_path":"a","content":"https://github.com/a"}`, Ask},
		{host, "claude-code", "mcp__web__get", `{"url":"https://github.com/a"}`, Ask},
		{named, "claude-code", "mcp__web__get", `{"url":"https://github.com/a"}`, Allow},
		{named, "claude-code", "mcp__fs__get", `{"url":"https://github.com/a"}`, Ask},
	}
	for _, tt := range tests {
		call := Call{Agent: tt.agent, Tool: tt.tool, CWD: "/src", Input: ReadInput(json.RawMessage(tt.input))}
		p := Default()
		p.Rules = []Rule{tt.rule}
		expectEffect(t, tt.agent+" "+tt.tool+" "+tt.input, call, p, "/home/u", tt.want)
	}
}

func TestLeaks(t *testing.T) {
	tests := []struct {
		access shell.Access
		want   bool
	}{
		{shell.Access{Path: "a.go", Kind: shell.Read}, false},
		{shell.Access{Path: ".env", Kind: shell.Look}, true},
		{shell.Access{Path: "~/.netrc", Kind: shell.Read}, true},
		{shell.Access{Path: "src/../.netrc", Kind: shell.Read}, true},
		{shell.Access{Path: ".git/config", Kind: shell.Read}, true},
		{shell.Access{Path: "~/.docker", Kind: shell.Look}, false},
		{shell.Access{Path: "~/.docker", Kind: shell.Tree}, true},
		{shell.Access{Path: "/home/u/.docker", Kind: shell.Tree}, true},
		{shell.Access{Path: "~/.terraform.d", Kind: shell.Tree}, true},
		{shell.Access{Path: "~/.config", Kind: shell.Tree}, true},
		{shell.Access{Path: "~", Kind: shell.Tree}, true},
		{shell.Access{Path: "/home/u", Kind: shell.Tree}, true},
		{shell.Access{Path: "/", Kind: shell.Tree}, true},
		{shell.Access{Path: "/etc", Kind: shell.Tree}, true},
		{shell.Access{Path: ".", Kind: shell.Tree}, false},
		{shell.Access{Path: "src/google", Kind: shell.Tree}, false},
		{shell.Access{Path: ".", Kind: shell.Tree, Only: []string{"*.go"}}, false},
		{shell.Access{Path: ".", Kind: shell.Tree, Only: []string{"*.go", ".env*"}}, true},
		{shell.Access{Path: ".", Kind: shell.Tree, Only: []string{"**/.env"}}, true},
		{shell.Access{Path: ".", Kind: shell.Tree, Only: []string{"*.pem"}}, true},
		{shell.Access{Path: "**/*", Kind: shell.Read}, true},
		{shell.Access{Path: "***/cred*", Kind: shell.Read}, true},
		{shell.Access{Path: "src/**/tok*", Kind: shell.Read}, true},
		{shell.Access{Path: "**/c*", Kind: shell.Read}, true},
		{shell.Access{Path: "**/d?/tok*", Kind: shell.Read}, true},
		{shell.Access{Path: "**/*.cfg", Kind: shell.Read}, true},
		{shell.Access{Path: "**/*.go", Kind: shell.Read}, false},
		{shell.Access{Path: "src/**", Kind: shell.Look}, false},
		{shell.Access{Path: "src/**", Kind: shell.Read}, true},
		{shell.Access{Path: "*.go", Kind: shell.Read}, false},
		{shell.Access{Path: ".e*", Kind: shell.Read}, true},
		{shell.Access{Path: ".[e]nv", Kind: shell.Read}, true},
	}
	for _, tt := range tests {
		if got := Leaks(tt.access); got != tt.want {
			t.Errorf("%+v: %v, want %v", tt.access, got, tt.want)
		}
	}
}

// Many patterns from many places are not looked at one by one: the call counts as if nothing narrowed it.
func TestManyPatternsFromManyPlaces(t *testing.T) {
	var paths, globs []string
	for i := range 900 {
		paths, globs = append(paths, fmt.Sprint("d", i)), append(globs, fmt.Sprint("*.{a,b}", i))
	}
	input, err := json.Marshal(map[string]any{"pattern": "x", "paths": paths, "glob": globs})
	if err != nil {
		t.Fatal(err)
	}
	call := Call{Agent: "copilot-cli", CWD: t.TempDir(), Tool: "grep", Input: ReadInput(input)}
	for _, p := range []Policy{{AutoAllow: []Class{ReadOnly}}, {Rules: []Rule{{ID: "r", Effect: Allow, Tool: "grep"}}}} {
		if d := Decide(call, compiled(t, p), testNow); d.Effect != Ask {
			t.Errorf("%+v", d)
		}
	}
}
