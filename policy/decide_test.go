package policy

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	testNow    = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	testPlaces = Places{Home: "/home/u", Own: []string{
		"/home/u/.config/nod", "/home/u/.local/share/nod", "/run/user/1000/nod",
	}}
)

func compiled(t testing.TB, p Policy) *Compiled {
	t.Helper()
	c, err := Compile(p, testPlaces)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// bash is a call of Claude Code's shell.
func bash(command string) Call {
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err)
	}
	return Call{
		Agent: "claude-code", Session: "s1", CWD: "/home/u/src/shop", Tool: "Bash", Input: ReadInput(input),
		Programs: []string{"/usr/bin/nod", "/bin/sh", "/usr/bin/claude", "/usr/bin/bash"},
	}
}

// file is a call of a tool that takes a path.
func file(tool, path string) Call {
	c := bash("")
	c.Tool = tool
	input, err := json.Marshal(map[string]string{"file_path": path})
	if err != nil {
		panic(err)
	}
	c.Input = ReadInput(input)
	return c
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (c Call) with(change func(*Call)) Call {
	change(&c)
	return c
}

func openCode(c *Call) { c.Agent, c.Tool = "opencode", "bash" }

func holding(text string) func(*Call) { return func(c *Call) { c.Input = ReadInput([]byte(text)) } }

func TestDecide(t *testing.T) {
	allow := func(r Rule) []Rule { r.ID, r.Effect = "r", Allow; return []Rule{r} }
	deny := func(r Rule) []Rule { r.ID, r.Effect = "r", Deny; return []Rule{r} }
	readme := file("Read", "/home/u/src/shop/README.md")
	tests := []struct {
		name   string
		rules  []Rule
		call   Call
		want   Effect
		rule   string
		reason string
	}{
		{
			"nothing matches", nil, bash("make"), Ask, "",
			`no rule covers this; it runs the commands of the project's makefile`,
		},
		{"a tool that only looks", nil, readme, Allow, "class:read_only", "class read_only is allowed automatically"},
		{"a tool that writes", nil, file("Write", "/home/u/src/shop/a"), Ask, "", "no rule covers this"},

		{"tool by name", allow(Rule{Tool: "Bash"}), bash("make"), Allow, "r", `rule "r" allows it`},
		{"tool by another name", allow(Rule{Tool: "bash"}), bash("make"), Ask, "", ""},
		{"tool by glob", allow(Rule{Tool: "mcp__github__get_*"}), file("mcp__github__get_issue", ""), Allow, "r", ""},
		{"glob of another server", allow(Rule{Tool: "mcp__github__get_*"}), file("mcp__gitlab__get_issue", ""), Ask, "", ""},
		{"a slash is nothing special in a name", allow(Rule{Tool: "a*z"}), file("a/b/z", ""), Allow, "r", ""},
		{"brackets are themselves", allow(Rule{Tool: "x[ab]*"}), file("xa1", ""), Ask, "", ""},

		{"a name that gzip lengthens", deny(Rule{Path: "**/private.gz"}), bash("zcat private"), Deny, "r", ""},
		{"a name that gzip takes", deny(Rule{Path: "**/private.gz"}), bash("zcat private.gz"), Deny, "r", ""},
		{"a name that unzip lengthens", deny(Rule{Path: "**/private.zip"}), bash("unzip -p private x"), Deny, "r", ""},

		{"agent", allow(Rule{Agent: "claude-code", Class: Unknown}), bash("make"), Allow, "r", ""},
		{"another agent", allow(Rule{Agent: "codex", Class: Unknown}), bash("make"), Ask, "", ""},
		{"class", allow(Rule{Class: Write}), file("Write", "/home/u/src/shop/a"), Allow, "r", ""},
		{
			"class that only the caller says", allow(Rule{Class: ReadOnly}),
			file("Write", "/srv/a").with(func(c *Call) { c.Declared = ReadOnly }), Ask, "", "",
		},
		{"class spelled mutating", allow(Rule{Class: "mutating"}), file("Write", "/home/u/src/shop/a"), Allow, "r", ""},

		{
			"program of the agent behind its shell", allow(Rule{Program: "/usr/bin/claude", Tool: "Bash"}), bash("make"), Allow,
			"r", "",
		},
		{"program by pattern", allow(Rule{Program: "/usr/**", Tool: "Bash"}), bash("make"), Allow, "r", ""},
		{"program that is not there", allow(Rule{Program: "/opt/claude", Tool: "Bash"}), bash("make"), Ask, "", ""},
		{
			"program of a caller that nobody could verify", allow(Rule{Program: "**", Tool: "Bash"}),
			bash("make").with(func(c *Call) { c.Programs = nil }), Ask, "", "",
		},

		{"command to the letter", allow(Rule{Command: "make test"}), bash("make test"), Allow, "r", ""},
		{"command with a space more", allow(Rule{Command: "make test"}), bash("make test "), Ask, "", ""},
		{"command with a part more", allow(Rule{Command: "make test"}), bash("make test; x"), Ask, "", ""},
		{
			"command of an agent that nod doesn't know", allow(Rule{Command: "make test"}),
			bash("make test").with(func(c *Call) { c.Agent = "" }), Allow, "r", "",
		},
		{
			"command in a tool that is no shell", allow(Rule{Command: "make test"}),
			bash("make test").with(func(c *Call) { c.Tool = "mcp__x__run" }), Ask, "", "",
		},
		{
			"command in a tool that the rule names", allow(Rule{Command: "make test", Tool: "mcp__x__run"}),
			bash("make test").with(func(c *Call) { c.Tool = "mcp__x__run" }), Allow, "r", "",
		},
		{
			"command with words about it", allow(Rule{Command: "make"}),
			bash("").with(holding(`{"command":"make","description":"builds","timeout":5000}`)), Allow, "r", "",
		},
		{
			"command without its sandbox", allow(Rule{Command: "make"}),
			bash("").with(holding(`{"command":"make","dangerouslyDisableSandbox":true}`)), Ask, "", "",
		},
		{
			"command that keeps its sandbox", allow(Rule{Command: "make"}),
			bash("").with(holding(`{"command":"make","dangerouslyDisableSandbox":false}`)), Allow, "r", "",
		},
		{
			"command and cmd", allow(Rule{Command: "make"}), bash("").with(holding(`{"command":"make","cmd":"rm -rf x"}`)), Ask,
			"", "",
		},
		{"command in a list", allow(Rule{Command: "make"}), bash("").with(holding(`{"command":["make"]}`)), Ask, "", ""},
		{
			"command that is denied, with anything beside it", deny(Rule{Command: "make"}),
			bash("").with(holding(`{"command":"make","x":1}`)), Deny, "r", `rule "r" denies it`,
		},

		{"folder", allow(Rule{Command: "make", CWD: "~/src/**"}), bash("make"), Allow, "r", ""},
		{"folder itself", allow(Rule{Command: "make", CWD: "~/src/shop"}), bash("make"), Allow, "r", ""},
		{"another folder", allow(Rule{Command: "make", CWD: "~/src/bank"}), bash("make"), Ask, "", ""},
		{
			"no folder", allow(Rule{Command: "make", CWD: "~/src/**"}), bash("make").with(func(c *Call) { c.CWD = "" }), Ask, "",
			"",
		},
		{
			"folder that the input changes", allow(Rule{Command: "make", CWD: "~/src/**"}),
			bash("").with(holding(`{"command":"make","workdir":"/srv/evil"}`)).with(openCode), Ask, "", "",
		},
		{
			"folder that the input changes within", allow(Rule{Command: "make", CWD: "~/src/**"}),
			bash("").with(holding(`{"command":"make","workdir":"web"}`)).with(openCode), Allow, "r", "",
		},
		{
			"folder that the agent does not take from the input", allow(Rule{Command: "make", CWD: "~/src/**"}),
			bash("").with(holding(`{"command":"make","workdir":"web"}`)), Ask, "", "",
		},
		{
			"denied folder that the input changes to", deny(Rule{Tool: "bash", CWD: "/srv"}),
			bash("").with(holding(`{"command":"make","workdir":"/srv/x"}`)).with(openCode), Deny, "r", "",
		},

		{"a disabled rule", []Rule{{ID: "r", Effect: Allow, Tool: "Bash", Disabled: true}}, bash("make"), Ask, "", ""},
		{
			"a note is told", []Rule{{ID: "r", Effect: Deny, Tool: "Bash", Note: "use make"}}, bash("x"), Deny, "r",
			`rule "r" denies it: use make`,
		},
		{"a rule says ask", []Rule{{ID: "r", Effect: Ask, Tool: "Read"}}, readme, Ask, "r", `rule "r" asks about it`},
		{
			"deny beats allow and class", append(allow(Rule{Tool: "Read"}), Rule{ID: "d", Effect: Deny, Agent: "claude-code"}),
			readme, Deny, "d", "",
		},
		{
			"ask beats allow", append(allow(Rule{Tool: "Bash"}), Rule{ID: "a", Effect: Ask, Command: "make"}), bash("make"), Ask,
			"a", "",
		},
		{
			"every matcher must match", allow(Rule{Tool: "Bash", Agent: "claude-code", Command: "make", CWD: "/srv"}),
			bash("make"), Ask, "", "",
		},

		{
			"an allow by path never lets a shell pass", allow(Rule{Path: "~/src/**"}),
			bash("").with(holding(`{"command":"rm -rf /srv","path":"/home/u/src/a"}`)), Ask, "", "",
		},
		{"nor whatever else takes a command", allow(Rule{Path: "~/src/**"}), bash("").with(func(c *Call) {
			c.Tool, c.Input = "mcp__x__run", ReadInput([]byte(`{"command":"rm -rf /srv","path":"/home/u/src/a"}`))
		}), Ask, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := Default()
			p.Rules = tt.rules
			d := Decide(tt.call, compiled(t, p), testNow)
			if d.Effect != tt.want || d.Rule != tt.rule || (tt.reason != "" && d.Reason != tt.reason) {
				t.Errorf("got %s by %q: %s\nwant %s by %q: %s", d.Effect, d.Rule, d.Reason, tt.want, tt.rule, tt.reason)
			}
			if d.Reason == "" || d.Class == "" {
				t.Errorf("decision without reason or class: %+v", d)
			}
		})
	}
}

// escapedWrite is the input of a file's write with a Chinese text, escaped as Python escapes it.
func escapedWrite(characters int) string {
	return `{"file_path":"/home/u/src/a.txt","content":"` + strings.Repeat(`\u9879`, characters) + `"}`
}

// An escaped character is one to read, not six.
func TestEscapesAreNotLong(t *testing.T) {
	allowed := compiled(t, Policy{Rules: []Rule{{ID: "write", Effect: Allow, Tool: "Write"}}})
	call := file("Write", "").with(holding(escapedWrite(maxInput - 100)))
	if d := Decide(call, allowed, testNow); d.Effect != Allow {
		t.Errorf("got %s by %q: %s", d.Effect, d.Rule, d.Reason)
	}
}

// Some things are asked about whatever the rules allow, and still denied by a rule that denies them.
func TestAlwaysAsked(t *testing.T) {
	long := `{"command":"` + strings.Repeat("x", maxInput) + `"}`
	tests := []struct {
		name string
		call Call
		rule string
	}{
		{"bidirectional override", bash("ls \u202e x"), "builtin:hidden"},
		{"hidden behind an escape", bash("").with(holding(`{"command":"ls\u200b"}`)), "builtin:hidden"},
		{"carriage return", bash("ls\rfoo"), "builtin:hidden"},
		{"escape sequence", bash("ls \x1b[24D\x1b[K"), "builtin:hidden"},
		{"tag characters", bash("ls \U000e0041"), "builtin:hidden"},
		{"half a surrogate pair", bash("").with(holding(`{"command":"ls \ud800"}`)), "builtin:hidden"},
		{"hidden in a key", bash("").with(holding(`{"command":"ls","a\u200b":1}`)), "builtin:hidden"},
		{"hidden in the tool's name", bash("ls").with(func(c *Call) { c.Tool = "Ba\u200bsh" }), "builtin:hidden"},
		{"too long to have been read", bash("").with(holding(long)), "builtin:long"},
		{"too long, escaped", bash("").with(holding(escapedWrite(maxInput))), "builtin:long"},
		{"one field twice", bash("").with(holding(`{"command":"ls","command":"rm -rf /"}`)), "builtin:unreadable"},
		{
			"one field twice, further down",
			bash("").with(holding(`{"command":"ls","x":[{"a":1,"b":2,"a":3}]}`)), "builtin:unreadable",
		},
		{"one field twice, among many", bash("").with(holding(manyFields(40, "f3"))), "builtin:unreadable"},
		{"no JSON", bash("").with(holding(`{"command":`)), "builtin:unreadable"},
		{"no input", bash("").with(holding(``)), "builtin:unreadable"},
		{"no object", bash("").with(holding(`["ls"]`)), "builtin:unreadable"},
		{"a patch without an end", bash("").with(func(c *Call) {
			c.Agent, c.Tool = "codex", "apply_patch"
			c.Input = ReadInput([]byte(`{"input":"*** Begin Patch\n*** Update File: a.go\n@@\n"}`))
		}), "builtin:unreadable"},
		{"no UTF-8", bash("").with(holding("{\"command\":\"ls \xff\"}")), "builtin:unreadable"},
		{"a question of Claude Code", file("AskUserQuestion", ""), "builtin:question"},
		{"refused by the agent", file("Read", "").with(func(c *Call) { c.Refused = true }), "builtin:refused"},
		{"a question of Gemini CLI", file("ask_user", "").with(func(c *Call) { c.Agent = "gemini-cli" }), "builtin:question"},
		{"a question of Codex", file("request_user_input", "").with(func(c *Call) { c.Agent = "codex" }), "builtin:question"},
		{"a question in other letters", file("ASK_USER", "").with(func(c *Call) { c.Agent = "x" }), "builtin:question"},
		{"nod's configuration", file("Write", "/home/u/.config/nod/config.yaml"), "builtin:own_files"},
		{"nod's configuration from below", file("Write", "/home/u/src/../.config//nod/./x"), "builtin:own_files"},
		{"nod's configuration from the home folder", file("Edit", "~/.config/nod/config.yaml"), "builtin:own_files"},
		{"nod's configuration, relative", file("Write", "../../.config/nod/config.yaml"), "builtin:own_files"},
		{"nod's folder", file("mcp__fs__delete", "/home/u/.config/nod/"), "builtin:own_files"},
		{"a folder that holds nod's", file("mcp__fs__delete", "/home/u/.config"), "builtin:own_files"},
		{"nod's grants", file("NotebookEdit", "/home/u/.local/share/nod/grants.json"), "builtin:own_files"},
		{"nod's token", file("mcp__fs__write", "/run/user/1000/nod/endpoint.json"), "builtin:own_files"},
		{"nod's configuration in a patch", bash("").with(func(c *Call) {
			c.Agent, c.Tool = "codex", "apply_patch"
			c.Input = ReadInput([]byte(`{"input":"*** Begin Patch\n` +
				`*** Update File: ../../.config/nod/config.yaml\n@@\n*** End Patch"}`))
		}), "builtin:own_files"},
		{"nod's configuration in a command", bash("echo x >> ~/.config/nod/config.yaml"), "builtin:own_files"},
		{"nod's grants in a command", bash("rm $HOME/.local/share/nod/grants.json"), "builtin:own_files"},
		{"a hook of git", file("Write", "/home/u/src/shop/.git/hooks/pre-commit"), "builtin:guarded"},
		{"a repository's settings", file("Edit", "/home/u/src/shop/.git/config"), "builtin:guarded"},
		{"an agent's settings, not there yet", file("Write", "/home/u/src/shop/.claude/settings.json"), "builtin:guarded"},
		{"what a shell starts with", file("Edit", "/home/u/.bashrc"), "builtin:guarded"},
		{"what starts at log-in", file("Write", "/home/u/.config/autostart/x.desktop"), "builtin:guarded"},
		{"keys", file("Write", "/home/u/.ssh/authorized_keys"), "builtin:guarded"},
		{"a path that means something else to everybody", file("Write", "/proc/self/cwd/x"), "builtin:lost_path"},
		{"somebody else's home", file("Write", "~root/x"), "builtin:lost_path"},
	}
	lax := Policy{AutoAllow: Classes, TrustedAgents: []string{"claude-code"}, Rules: []Rule{
		{ID: "all", Effect: Allow, Tool: "?*"}, {ID: "agents", Effect: Allow, Agent: "claude-code"}, {
			ID: "places", Effect: Allow, Path: "**",
		},
	}}
	strict := lax
	strict.Rules = append(slices.Clone(lax.Rules), Rule{ID: "stop", Effect: Deny, Tool: "*"})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := Decide(tt.call, compiled(t, lax), testNow); d.Effect != Ask || d.Rule != tt.rule {
				t.Errorf("got %s by %q: %s\nwant ask by %q", d.Effect, d.Rule, d.Reason, tt.rule)
			}
			if d := Decide(tt.call, compiled(t, strict), testNow); d.Effect != Deny {
				t.Errorf("with a rule that denies: %s by %q, want deny", d.Effect, d.Rule)
			}
		})
	}
	for _, call := range []Call{
		bash("ls ~/src/nodding"), file("Write", "/home/u/.config/nodding/x"), file("Write", "/home/u/src/.github/hooksmith"),
		file("Write", "/processes/x"), file("Write", "/srv/etc/x"), file("Write", "/home/u/src/shop/.gitignore"),
	} {
		if d := Decide(call, compiled(t, lax), testNow); d.Effect != Allow {
			t.Errorf("%s %s, which only looks like it: %+v", call.Tool, call.Input, d)
		}
	}
}

func manyFields(n int, again string) string {
	var b strings.Builder
	b.WriteString("{")
	for i := range n {
		fmt.Fprintf(&b, `"f%d":%d,`, i, i)
	}
	return b.String() + `"` + again + `":0}`
}

// What passes by its class must not open what keeps secrets, however it is spelled. A rule may.
func TestSecretsAreNotReadByClass(t *testing.T) {
	secret := []Call{
		file("Read", "/home/u/.ssh/id_ed25519"), file("Read", "~/.ssh/config"), file("Read", "../../.ssh/config"),
		file("Read", "/home/u/.ssh"), file("Read", "/home/u/src/shop/.env"), file("Read", ".env.local"),
		file("Read", "/home/u/.aws/credentials"), file("Read", "/home/u/.netrc"), file("Read", "/srv/tls/site.pem"),
		file("Read", "/srv/tls/SITE.KEY"), file("Read", "/home/u/.gnupg/x"), file("Read", "/home/u/.config/gh/hosts.yml"),
		file(
			"Read",
			"/home/u/.mozilla/firefox/p/logins.json",
		), file("Read", "/home/u/.config/google-chrome/Default/Login Data"),
		file(
			"Read",
			"/home/u/.docker/config.json",
		), file("Read", "/etc/shadow"), file("Read", "/home/u/.claude/.credentials.json"),
		file(
			"Read",
			"/home/u/.codex/auth.json",
		), file("Read", "/home/u/id_rsa.bak"), file("Read", "/home/u/.local/share/keyrings/x"),
		file("Read", "/home/u/.config/nod/config.yaml"), file("Read", "/run/user/1000/nod/endpoint.json"),
		file("Read", "file:///home/u/.ssh/id_rsa"), file("Read", "file:///home/u/%2Essh/id_rsa"),
		file("Read", "/proc/self/environ"), file("Read", "/proc/1234/cwd/x"), file("Read", "/dev/fd/3"),
		file("Grep", "").with(holding(`{"pattern":"KEY","path":"/home/u"}`)),
		file("Grep", "").with(holding(`{"pattern":"KEY","path":"/"}`)),
		file("Grep", "").with(holding(`{"pattern":"KEY","path":"/proc"}`)), file("Read", "/proc/self/../1/environ"),
		file("Grep", "").with(holding(`{"pattern":"KEY"}`)).with(func(c *Call) { c.CWD = "/home/u" }),
		file("Grep", "").with(holding(`{"pattern":"KEY"}`)).with(func(c *Call) { c.CWD = "/home/u/.ssh" }),
		file("Grep", "").with(holding(`{"pattern":"KEY"}`)).with(func(c *Call) { c.CWD = "" }),
		file("Glob", "").with(holding(`{"pattern":"/home/u/.ssh/*"}`)),
		file("Glob", "").with(holding(`{"pattern":"../../.ssh/*"}`)),
		file("Glob", "").with(holding(`{"pattern":"../.ssh/*","path":"/home/u/src"}`)),
		file("Glob", "").with(holding(`{"pattern":"*/../../../.ssh"}`)),
		file(
			"read_many_files",
			"",
		).with(holding(`{"include":["a","/home/u/.ssh/*"]}`)).
			with(func(c *Call) { c.Agent = "gemini-cli" }),
		file("Read", ".env").with(func(c *Call) { c.CWD = "" }),
		file("Read", "../x").with(func(c *Call) { c.CWD = "" }),
		bash("grep ~/.ssh/* x a.txt"), bash("egrep ~/.aws/* x"), bash("tar tf ~/.ssh/a.tar"),
	}
	p := compiled(t, Default())
	for _, call := range secret {
		if d := Decide(call, p, testNow); d.Effect != Ask || (d.Rule != "builtin:secrets" && d.Rule != "builtin:lost_path") {
			t.Errorf("%s %s in %q: %s by %q, want ask", call.Tool, call.Input, call.CWD, d.Effect, d.Rule)
		}
	}
	open := []Call{
		file("Read", "/home/u/src/shop/README.md"), file("Read", "README.md"), file("Read", "/home/u/notes/environment.md"),
		file("Read", "src/token/token.go"), file("Read", "id_generator.go"), file("Read", "/home/u/.ssh-notes.md"),
		file(
			"Glob",
			"",
		).with(holding(`{"pattern":"**/*.go"}`)),
		file("Grep", "").with(holding(`{"pattern":"x","path":"src"}`)),
		file("Grep", "").with(holding(`{"pattern":"x"}`)), file("LSP", "/home/u/src/shop/a.go"),
		file("Read", "README.md").with(func(c *Call) { c.CWD = "" }),
	}
	for _, call := range open {
		if d := Decide(call, p, testNow); d.Effect != Allow {
			t.Errorf("%s %s in %q: %s by %q (%s), want allow", call.Tool, call.Input, call.CWD, d.Effect, d.Rule, d.Reason)
		}
	}
	rule := compiled(t, Policy{Rules: []Rule{{ID: "r", Effect: Allow, Tool: "Read", Path: "/srv/tls/*.pem"}}})
	if d := Decide(file("Read", "/srv/tls/site.pem"), rule, testNow); d.Effect != Allow {
		t.Errorf("a rule names the secret: %+v", d)
	}
}

func TestAskEverything(t *testing.T) {
	p := Default()
	p.AskEverything = true
	p.Rules = []Rule{{ID: "build", Effect: Allow, Command: "make"}, {ID: "no", Effect: Deny, Command: "rm"}}
	for command, want := range map[string]Effect{"make": Ask, "rm": Deny, "ls": Ask} {
		if d := Decide(bash(command), compiled(t, p), testNow); d.Effect != want {
			t.Errorf("%s: %+v, want %s", command, d, want)
		}
	}
	d := Decide(bash("make"), compiled(t, p), testNow)
	if d.Rule != "builtin:ask_everything" || !strings.Contains(d.Reason, `rule "build" allows it`) {
		t.Errorf("the reason hides what the rules say: %+v", d)
	}
}

// Payloads that the agents really sent.
func TestRecordedCalls(t *testing.T) {
	want := map[string]Decision{
		"claude-code-Read":             {Effect: Allow, Class: ReadOnly, Rule: "class:read_only"},
		"claude-code-Bash":             {Effect: Ask, Class: Unknown},
		"claude-code-Write":            {Effect: Ask, Class: Write},
		"claude-code-Edit":             {Effect: Ask, Class: Write},
		"claude-code-WebFetch":         {Effect: Ask, Class: Network},
		"claude-code-AskUserQuestion":  {Effect: Ask, Class: Unknown, Rule: "builtin:question"},
		"codex-Bash":                   {Effect: Ask, Class: Unknown},
		"codex-request_user_input":     {Effect: Ask, Class: Unknown, Rule: "builtin:question"},
		"gemini-cli-run_shell_command": {Effect: Ask, Class: Unknown},
		"gemini-cli-write_file":        {Effect: Ask, Class: Write},
		"gemini-cli-read_file":         {Effect: Allow, Class: ReadOnly, Rule: "class:read_only"},
		"gemini-cli-ask_user":          {Effect: Ask, Class: Unknown, Rule: "builtin:question"},
	}
	files, err := filepath.Glob("testdata/calls/*.json")
	if err != nil || len(files) != len(want) {
		t.Fatalf("%d recorded calls, want %d (%v)", len(files), len(want), err)
	}
	p := compiled(t, Default())
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		d := Decide(recorded(t, path), p, testNow)
		w, ok := want[name]
		if !ok || d.Effect != w.Effect || d.Class != w.Class || d.Rule != w.Rule {
			t.Errorf("%s: %+v, want %+v", name, d, w)
		}
	}
}

func recorded(t *testing.T, path string) Call {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var payload struct {
		Session string          `json:"session_id"`
		CWD     string          `json:"cwd"`
		Tool    string          `json:"tool_name"`
		Input   json.RawMessage `json:"tool_input"`
	}
	if err := json.Unmarshal(data, &payload); err != nil {
		t.Fatal(err)
	}
	agent := filepath.Base(path)[:strings.LastIndex(filepath.Base(path), "-")]
	return Call{
		Agent: agent, Session: payload.Session, CWD: payload.CWD, Tool: payload.Tool,
		Input: ReadInput(payload.Input),
	}
}

// The decision does not depend on the order of the rules, and no rule that denies makes anything laxer.
func TestStrictestWins(t *testing.T) {
	const seed = 20261120
	random := rand.New(rand.NewPCG(seed, 1))
	for round := range 400 {
		p := randomPolicy(random)
		call := randomCall(random)
		base := Decide(call, compiled(t, p), testNow)
		for range 4 {
			q := p
			q.Rules = slices.Clone(p.Rules)
			random.Shuffle(len(q.Rules), func(i, j int) { q.Rules[i], q.Rules[j] = q.Rules[j], q.Rules[i] })
			if d := Decide(call, compiled(t, q), testNow); d != base {
				t.Fatalf("seed %d, round %d: order matters: %+v and %+v\ncall %+v\nrules %+v", seed, round, base, d, call, q.Rules)
			}
		}
		for _, effect := range []Effect{Deny, Ask} {
			extra := randomRule(random, "extra")
			extra.Effect = effect
			q := p
			q.Rules = append(slices.Clone(p.Rules), extra)
			if d := Decide(call, compiled(t, q), testNow); d.Effect.strictness() > base.Effect.strictness() {
				t.Fatalf(
					"seed %d, round %d: a rule that says %s turned %s into %s\ncall %+v\nrule %+v",
					seed,
					round,
					effect,
					base.Effect,
					d.Effect,
					call,
					extra,
				)
			}
		}
	}
}

func pick[T any](r *rand.Rand, items ...T) T { return items[r.IntN(len(items))] }

func randomPolicy(r *rand.Rand) Policy {
	p := Policy{AutoAllow: []Class{pick(r, Classes...)}, AskEverything: r.IntN(10) == 0}
	for i := range r.IntN(8) {
		p.Rules = append(p.Rules, randomRule(r, fmt.Sprintf("r%d", i)))
	}
	return p
}

func randomRule(r *rand.Rand, id string) Rule {
	rule := Rule{ID: id, Effect: pick(r, Allow, Allow, Sandbox, Ask, Deny), Disabled: r.IntN(12) == 0}
	for rule.Validate() != nil {
		rule.Tool = pick(r, "", "Bash", "Read", "Wri*", "mcp__*", "?ead", "*")
		rule.Agent = pick(r, "", "", "claude-code", "codex")
		rule.Class = pick(r, "", "", ReadOnly, Write, Unknown)
		rule.Path = pick(r, "", "", "~/src/**", "/srv/*", "**/.env", "/home/u/src/shop/a", "/srv/")
		rule.Command = pick(r, "", "", "make", "ls")
		rule.CWD = pick(r, "", "", "~/src/shop", "~/src/**", "/srv")
		rule.Program = pick(r, "", "", "/usr/bin/claude", "/usr/**", "/opt/x")
		rule.Session = pick(r, "", "", "", "s1", "s2")
		rule.Server = pick(r, "", "", "", "x", "*")
		rule.Host = pick(r, "", "", "", "", "example.com", "*.example.com")
		rule.Args = pick(r, nil, nil, nil, []Arg{{"command", "m*"}}, []Arg{{"file_path", "*x"}, {"/url", "*"}})
		rule.Expires = pick(r, "", "", "", "2001-01-01", "2199-01-01")
	}
	return rule
}

func randomCall(r *rand.Rand) Call {
	c := pick(r, bash("make"), bash("ls"), file("Read", pick(r, "a", "/srv/x", "/home/u/src/shop/a", ".env")),
		file("Write", pick(r, "a", "/srv/x", "/home/u/src/shop/a", ".env")), file("mcp__x__y", "/srv/x"),
		fetch(pick(r, "https://example.com/x", "https://a.example.com", "https://good@evil.com", "x")))
	c.Session = pick(r, "", "s1")
	c.Agent = pick(r, "claude-code", "codex", "")
	c.CWD = pick(r, c.CWD, "/srv", "")
	c.Programs = pick(r, c.Programs, nil)
	return c
}

// benchmarkRule is one of the kinds of rules that people write.
func benchmarkRule(i int) Rule {
	r := Rule{ID: fmt.Sprintf("r%d", i), Effect: Allow, Agent: "claude-code"}
	switch i % 5 {
	case 0:
		r.Command = fmt.Sprintf("make target-%d", i)
	case 1:
		r.Path, r.Tool = fmt.Sprintf("~/src/project-%d/**", i), "Edit"
	case 2:
		r.Command, r.Effect = fmt.Sprintf("command %d", i), Deny
	case 3:
		r.Tool = fmt.Sprintf("mcp__server_%d__*", i)
	case 4:
		r.Command, r.CWD = "make test", fmt.Sprintf("~/src/project-%d", i)
	}
	return r
}

func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		p := Default()
		for i := range n {
			p.Rules = append(p.Rules, benchmarkRule(i))
		}
		c := compiled(b, p)
		for name, call := range map[string]Call{
			"read": file("Read", "/home/u/src/shop/main.go"), "bash": bash("make test"), "denied": bash("command 7"),
		} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Decide(call, c, testNow)
				}
			})
		}
	}
}

// What a caller says of its own call never makes a decision laxer, whatever the rules.
func TestDeclaredClassIsNeverLaxer(t *testing.T) {
	for name, p := range map[string]Policy{
		"classes that pass": {AutoAllow: []Class{ReadOnly, Network}},
		"a class that is denied": {Rules: []Rule{
			{ID: "no", Effect: Deny, Class: Write}, {ID: "yes", Effect: Allow, Agent: "claude-code"},
		}},
		"a class that is asked about": {Rules: []Rule{
			{ID: "no", Effect: Ask, Class: Network}, {ID: "yes", Effect: Allow, Tool: "*F*"},
		}},
		"a class that is allowed": {Rules: []Rule{{ID: "yes", Effect: Allow, Class: Execute}}},
	} {
		c := compiled(t, p)
		for _, tool := range []string{"Read", "Write", "Task", "WebFetch", "Bash", "NoSuchTool"} {
			call := file(tool, "/home/u/src/shop/a.txt")
			want := Decide(call, c, testNow).Effect
			for _, call.Declared = range append(slices.Clone(Classes), "bogus") {
				if got := Decide(call, c, testNow); want.IsStricter(got.Effect) {
					t.Errorf("%s, %s declared as %s: %s, want at least %s", name, tool, call.Declared, got.Effect, want)
				}
			}
		}
	}
}
