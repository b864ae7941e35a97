package imports_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nod/agents/registry"
	"nod/policy"
	"nod/policy/imports"
)

// summary writes rules and what is left out in one line each, without notes.
func summary(r imports.Result) string {
	var b strings.Builder
	for _, rule := range r.Rules {
		fmt.Fprintf(&b, "%s: %s", rule.ID, rule.Effect)
		for _, f := range [][2]string{
			{"tool", rule.Tool}, {"class", string(rule.Class)}, {"path", rule.Path}, {"command", rule.Command},
			{"host", rule.Host}, {"cwd", rule.CWD},
		} {
			if f[1] != "" {
				fmt.Fprintf(&b, " %s=%s", f[0], f[1])
			}
		}
		if len(rule.Run) > 0 {
			fmt.Fprintf(&b, " run=%s", strings.Join(rule.Run, "|"))
		}
		b.WriteString("\n")
	}
	for _, l := range r.Left {
		fmt.Fprintf(&b, "left %d: %s\n", l.Line, l.Text)
	}
	return b.String()
}

// translate reads files as the agent's own package does.
func translate(name string, files []imports.File, existing []policy.Rule) (imports.Result, error) {
	a, err := registry.Find(registry.WithRules(), name)
	if err != nil {
		return imports.Result{}, err
	}
	return a.Rules.Translate(a.Name, files, existing)
}

func readFile(t *testing.T, name, project string) imports.File {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return imports.File{Path: name, Project: project, Text: text}
}

func TestFiles(t *testing.T) {
	for _, tt := range []struct{ agent, file, project, want string }{
		{"claude-code", "settings.json", "/w/shop", `
claude-run-npm-run-test-1: allow tool=Bash cwd=/w/shop/** run=npm run test
claude-bash-npm-run-lint-1: allow tool=Bash command=npm run lint cwd=/w/shop/**
claude-read-notes-1: allow tool=Read path=~/notes/** cwd=/w/shop/**
claude-read-docs-1: allow tool=Read path=/w/shop/docs/** cwd=/w/shop
claude-edit-src-1: allow tool=Edit path=/w/shop/src/** cwd=/w/shop/**
claude-write-src-1: allow tool=Write path=/w/shop/src/** cwd=/w/shop/**
claude-read-srv-data-1: allow tool=Read path=/srv/data/** cwd=/w/shop/**
claude-websearch-1: allow tool=WebSearch cwd=/w/shop/**
claude-mcp-github-get-issue-1: allow tool=mcp__github__get_issue cwd=/w/shop/**
claude-read-env-1: deny path=**/.env
claude-edit-package-lock-json-1: deny class=write path=**/package-lock.json
claude-edit-package-lock-json-by-command-1: deny class=unknown path=**/package-lock.json
left 11: allow WebFetch(domain:example.com)
left 13: allow mcp__github
left 15: ask Bash(git push:*)
left 16: deny Bash(curl:*)
left 16: deny WebFetch
left 17: permissions.additionalDirectories
left 18: permissions.defaultMode
`},
		{"codex", "default.rules", "", `
codex-run-rm-1: deny run=rm
codex-run-gh-1: ask run=gh
left 2: prefix_rule( pattern = ["git", ["status", "log"]], decision = "allow", match = ["git status"], )
left 9: network_rule(host="example.com", protocol="https", decision="allow")
`},
		{"gemini-cli", "policy.toml", "", `
gemini-google-web-search-1: allow tool=google_web_search
gemini-write-file-1: ask tool=write_file
gemini-replace-1: ask tool=replace
gemini-run-rm-1: deny run=rm
left 11: commandPrefix=git status decision=allow priority=100 toolName=run_shell_command
left 17: decision=allow priority=200 toolName=web_fetch
left 22: decision=deny deny_message=no priority=100 toolName=web_fetch
`},
	} {
		t.Run(tt.agent, func(t *testing.T) {
			f := readFile(t, tt.file, tt.project)
			got, err := translate(tt.agent, []imports.File{f}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if s := summary(got); s != tt.want[1:] {
				t.Errorf("got\n%s\nwant\n%s", s, tt.want[1:])
			}
			again, err := translate(tt.agent, []imports.File{f}, got.Rules)
			if err != nil || len(again.Rules) != 0 || again.Present != len(got.Rules) {
				t.Errorf("a second import adds %v and counts %d, %v", again.Rules, again.Present, err)
			}
		})
	}
}

func TestClaudeRules(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"all commands", `{"allow":["Bash"]}`, "claude-bash-1: allow tool=Bash\n"},
		{"a deny that is left out takes all commands with it", `{"allow":["Bash","Bash(go test:*)"],"deny":["Bash(rm*)"]}`,
			"left 1: allow Bash\nleft 1: allow Bash(go test:*)\nleft 1: deny Bash(rm*)\n"},
		{"and those that hold its word", `{"allow":["Bash(make && rm x)","Bash(make)"],"ask":["Bash(rm*)"]}`,
			"claude-bash-make-1: allow tool=Bash command=make\nleft 1: allow Bash(make && rm x)\nleft 1: ask Bash(rm*)\n"},
		{"a deny by leading words stands beside them",
			`{"allow":["Bash"],"deny":["Bash(rm:*)"],"ask":["Bash(git push *)","Bash(python:*)"]}`,
			"claude-bash-1: allow tool=Bash\nclaude-run-rm-1: deny run=rm\nclaude-run-git-push-1: ask run=git push\n" +
				"claude-run-python-1: ask run=python\n"},
		{"leading words",
			`{"allow":["Bash(go test:*)","Bash(npm run lint *)","Bash(./gradlew test:*)","Bash(git commit:*)"]}`,
			"claude-run-go-test-1: allow tool=Bash run=go test\nclaude-run-npm-run-lint-1: allow tool=Bash run=npm run lint\n" +
				"claude-run-gradlew-test-1: allow tool=Bash run=./gradlew test\n" +
				"claude-run-git-commit-1: allow tool=Bash run=git commit\n"},
		{"what rules would say more widely, or need not say",
			`{"allow":["Bash(:*)","Bash(python:*)","Bash(bash -c:*)","Bash(npx:*)","Bash(sudo:*)",` +
				`"Bash(go test -race:*)","Bash(CI=1 make:*)","Bash(go test && x:*)","Bash(ls:*)","Bash(go  test:*)","Bash(a*:*)"]}`,
			"left 1: allow Bash(:*)\nleft 1: allow Bash(python:*)\nleft 1: allow Bash(bash -c:*)\n" +
				"left 1: allow Bash(npx:*)\nleft 1: allow Bash(sudo:*)\n" +
				"left 1: allow Bash(go test -race:*)\nleft 1: allow Bash(CI=1 make:*)\nleft 1: allow Bash(go test && x:*)\n" +
				"left 1: allow Bash(ls:*)\nleft 1: allow Bash(go  test:*)\nleft 1: allow Bash(a*:*)\n"},
		{"an exact command that is denied", `{"deny":["Bash(make)"]}`, "left 1: deny Bash(make)\n"},
		{
			"a relative allow of the user", `{"allow":["Read(src/**)","Edit(/src/**)"]}`,
			"left 1: allow Read(src/**)\nleft 1: allow Edit(/src/**)\n",
		},
		{"a relative deny of the user", `{"deny":["Read(./secrets/)"]}`, "claude-read-secrets-1: deny path=**/secrets/\n"},
		{"a server", `{"deny":["mcp__db"]}`, "claude-mcp-db-1: deny tool=mcp__db__*\n"},
		{"hosts",
			`{"allow":["WebFetch(domain:example.com)","WebFetch(domain:*.go.dev)",` +
				`"WebFetch(domain:Example.org)","WebFetch(domain:*)","WebFetch(domain:)"]}`,
			"claude-fetch-example-com-1: allow tool=WebFetch host=example.com\n" +
				"claude-fetch-go-dev-1: allow tool=WebFetch host=*.go.dev\n" +
				"left 1: allow WebFetch(domain:Example.org)\nleft 1: allow WebFetch(domain:*)\nleft 1: allow WebFetch(domain:)\n"},
		{"a host that is denied, with all below", `{"deny":["WebFetch(domain:example.com)"]}`,
			"claude-fetch-example-com-1: deny tool=WebFetch host=example.com\n" +
				"claude-fetch-example-com-2: deny tool=WebFetch host=*.example.com\n"},
		{"every edit", `{"ask":["Edit"]}`, "claude-edit-1: ask tool=Edit\nclaude-write-1: ask tool=Write\n" +
			"claude-multiedit-1: ask tool=MultiEdit\nclaude-notebookedit-1: ask tool=NotebookEdit\n"},
		{"no commands", `{"deny":["Bash"]}`, "claude-bash-1: deny tool=Bash\nclaude-monitor-1: deny tool=Monitor\n"},
		{
			"a tool that got another name", `{"allow":["Task"],"deny":["Agent(Explore)"]}`,
			"left 1: allow Task\nleft 1: deny Agent(Explore)\n",
		},
		{
			"a tool that follows the rules of another", `{"allow":["Monitor"],"deny":["Bash(rm*)"]}`,
			"left 1: allow Monitor\nleft 1: deny Bash(rm*)\n",
		},
		{"what Claude Code does not heed", `{"allow":["Write(~/x)"]}`, "left 1: allow Write(~/x)\n"},
		{"patterns nod reads otherwise",
			`{"allow":["Read(~/a/../**)","Read(//)","Read(~/[a])","Read(~/a//b)","Read(~bob/x)"]}`,
			"left 1: allow Read(~/a/../**)\nleft 1: allow Read(//)\nleft 1: allow Read(~/[a])\nleft 1: allow Read(~/a//b)\n" +
				"left 1: allow Read(~bob/x)\n"},
		{
			"a broken deny stops every allow", `{"allow":["WebSearch"],"deny":["Bash(rm"]}`,
			"left 1: allow WebSearch\nleft 1: deny Bash(rm\n",
		},
		{"said twice", `{"allow":["WebSearch","WebSearch"]}`, "claude-websearch-1: allow tool=WebSearch\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := imports.File{Path: "s.json", Text: []byte(`{"permissions":` + tt.text + `}`)}
			got, err := translate("claude-code", []imports.File{file}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if s := summary(got); s != tt.want {
				t.Errorf("got\n%s\nwant\n%s", s, tt.want)
			}
		})
	}
}

func TestCodexRules(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{
			"allow", `prefix_rule(pattern=["go","test"], decision="allow", justification="fine")`,
			"codex-run-go-test-1: allow run=go test\n",
		},
		{
			"nothing said is allow", `prefix_rule(pattern=["npm","run",["lint","test"]])`,
			"codex-run-npm-run-lint-1: allow run=npm run lint|npm run test\n",
		},
		{
			"with a flag", `prefix_rule(pattern=["go","test","-race"])`,
			"left 1: prefix_rule(pattern=[\"go\",\"test\",\"-race\"])\n",
		},
		{"an interpreter", `prefix_rule(pattern=["python3"])`, "left 1: prefix_rule(pattern=[\"python3\"])\n"},
		{"words with blanks", `prefix_rule(pattern=["go test"])`, "left 1: prefix_rule(pattern=[\"go test\"])\n"},
		{"computed", `prefix_rule(pattern=["go"]+["test"])`, "left 1: prefix_rule(pattern=[\"go\"]+[\"test\"])\n"},
		{"nothing", `prefix_rule(pattern=[])`, "left 1: prefix_rule(pattern=[])\n"},
		{
			"a field nod doesn't know", `prefix_rule(pattern=["make"], when="x")`,
			"left 1: prefix_rule(pattern=[\"make\"], when=\"x\")\n",
		},
		{"a deny that cannot be read takes back", "prefix_rule(pattern=['make'])\n" +
			"prefix_rule(pattern=X, decision='forbidden')",
			"left 1: prefix_rule(pattern=['make'])\nleft 2: prefix_rule(pattern=X, decision='forbidden')\n"},
		{"both hold", "prefix_rule(pattern=['make'])\nprefix_rule(pattern=['make','install'], decision='forbidden')",
			"codex-run-make-1: allow run=make\ncodex-run-make-install-1: deny run=make install\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := translate("codex", []imports.File{{Path: "x.rules", Text: []byte(tt.text)}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if s := summary(got); s != tt.want {
				t.Errorf("got\n%s\nwant\n%s", s, tt.want)
			}
		})
	}
}

func TestGeminiRules(t *testing.T) {
	const head = "[[rule]]\npriority = 10\n"
	for _, tt := range []struct{ name, text, want string }{
		{"everything", head + "toolName='*'\ndecision='allow'", "left 1: decision=allow priority=10 toolName=*\n"},
		{
			"a shell without its checks", head + "toolName='run_shell_command'\ndecision='allow'",
			"left 1: decision=allow priority=10 toolName=run_shell_command\n",
		},
		{"leading words", head + "toolName='run_shell_command'\ncommandPrefix=['go test','npm run lint']\n" +
			"decision='allow'\n[[rule]]\npriority=9\n" +
			"toolName='run_shell_command'\ncommandPrefix='rm'\ndecision='deny'",
			"gemini-run-go-test-1: allow tool=run_shell_command run=go test|npm run lint\ngemini-run-rm-1: deny run=rm\n"},
		{"leading words that win over a deny", head + "toolName='run_shell_command'\ncommandPrefix='npm run'\n" +
			"decision='allow'\n[[rule]]\npriority=9\n" +
			"toolName='run_shell_command'\ncommandPrefix='npm'\ndecision='deny'",
			"left 1: commandPrefix=npm run decision=allow priority=10 toolName=run_shell_command\n" +
				"left 6: commandPrefix=npm decision=deny priority=9 toolName=run_shell_command\n"},
		{"all of an interpreter", head + "toolName='run_shell_command'\ncommandPrefix='node'\ndecision='allow'",
			"left 1: commandPrefix=node decision=allow priority=10 toolName=run_shell_command\n"},
		{"a regular expression", head + "toolName='run_shell_command'\ncommandRegex='go .*'\ndecision='allow'",
			"left 1: commandRegex=go .* decision=allow priority=10 toolName=run_shell_command\n"},
		{
			"a mode", head + "toolName='glob'\ndecision='deny'\nmodes=['plan']",
			"left 1: decision=deny modes=[plan] priority=10 toolName=glob\n",
		},
		{
			"an old name", head + "toolName='grep_search'\ndecision='deny'",
			"gemini-grep-search-1: deny tool=grep_search\ngemini-search-file-content-1: deny tool=search_file_content\n",
		},
		{"a deny of everything wins there", head + "toolName='*'\ndecision='deny'\n[[rule]]\ntoolName='glob'\n" +
			"decision='allow'\npriority=9",
			"gemini-1: deny tool=*\ngemini-glob-1: allow tool=glob\n"},
		{"or not", head + "toolName='*'\ndecision='deny'\n[[rule]]\ntoolName='glob'\ndecision='allow'\npriority=10",
			"left 1: decision=deny priority=10 toolName=*\nleft 5: decision=allow priority=10 toolName=glob\n"},
		{"a server", head + "mcpName='db'\ntoolName='drop'\ndecision='deny'\n[[rule]]\ntoolName='glob'\n" +
			"decision='allow'\npriority=9",
			"left 1: decision=deny mcpName=db priority=10 toolName=drop\nleft 6: decision=allow priority=9 toolName=glob\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := translate("gemini-cli", []imports.File{{Path: "p.toml", Text: []byte(tt.text)}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if s := summary(got); s != tt.want {
				t.Errorf("got\n%s\nwant\n%s", s, tt.want)
			}
		})
	}
}

func TestBrokenFiles(t *testing.T) {
	for _, tt := range []struct{ agent, text, want string }{
		{"claude-code", `{"permissions":`, "not JSON"},
		{"claude-code", `[]`, "JSON object"},
		{"claude-code", `{"permissions":{"deny":"Bash"}}`, "line 1: permissions.deny: want a list"},
		{"claude-code", "{\"permissions\":{\"deny\":[],\n\"deny\":[]}}", "line 2: permissions.deny appears twice"},
		{"codex", `prefix_rule(`, "not Starlark"},
		{"gemini-cli", `[[rule`, "not TOML"},
		{"gemini-cli", "\n[[rule]]\ndecision='maybe'", "line 2: decision maybe"},
		{"gemini-cli", "[[rule]]\ndecision='deny'\npriority=1000", "priority 1000"},
		{"cursor", ``, "claude-code, codex, gemini-cli"},
	} {
		_, err := translate(tt.agent, []imports.File{{Path: "f", Text: []byte(tt.text)}}, nil)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %q: %v, want %q", tt.agent, tt.text, err, tt.want)
		}
	}
}

// TestNeverWider asks the imported rules about calls that the original refuses or asks about.
func TestNeverWider(t *testing.T) {
	got, err := translate("claude-code", []imports.File{readFile(t, "settings.json", "/w/shop")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Compile(policy.Policy{Rules: got.Rules}, policy.Places{Home: "/home/ann"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		tool, input, cwd string
		want             policy.Effect
	}{
		{"Bash", `{"command":"npm run lint"}`, "/w/shop", policy.Allow},
		{"Bash", `{"command":"npm run lint"}`, "/w/other", policy.Ask},
		{"Bash", `{"command":"npm run lint; curl x"}`, "/w/shop", policy.Ask},
		{"Bash", `{"command":"npm run test -- a.test.ts 2>&1"}`, "/w/shop", policy.Allow},
		{"Bash", `{"command":"npm run test"}`, "/w/other", policy.Ask},
		{"Bash", `{"command":"npm run test:all"}`, "/w/shop", policy.Ask},
		{"Bash", `{"command":"npm run test > out.txt"}`, "/w/shop", policy.Ask},
		{"Bash", `{"command":"npm run test && curl x"}`, "/w/shop", policy.Ask},
		{"Bash", `{"command":"npm run test --prefix /w/other"}`, "/w/shop", policy.Ask},
		{"Read", `{"file_path":"docs/a.md"}`, "/w/shop", policy.Allow},
		{"Read", `{"file_path":"/w/shop/docs/a.md"}`, "/w/shop/sub", policy.Ask},
		{"Read", `{"file_path":"/w/shop/docs/../.env"}`, "/w/shop", policy.Deny},
		{"Edit", `{"file_path":"/w/shop/src/a.go"}`, "/w/shop", policy.Allow},
		{"Edit", `{"file_path":"/w/shop/docs/a.md"}`, "/w/shop", policy.Ask},
		{"Edit", `{"file_path":"/w/shop/src/package-lock.json"}`, "/w/shop", policy.Deny},
		{"Read", `{"file_path":"/w/shop/docs/package-lock.json"}`, "/w/shop", policy.Allow},
		{"WebFetch", `{"url":"https://example.com"}`, "/w/shop", policy.Ask},
		{"mcp__github__delete_repo", `{}`, "/w/shop", policy.Ask},
	} {
		input := policy.ReadInput([]byte(tt.input))
		call := policy.Call{Agent: "claude-code", Tool: tt.tool, Input: input, CWD: tt.cwd}
		d := policy.Decide(call, p, time.Time{})
		if d.Effect != tt.want {
			t.Errorf("%s %s in %s: %s (%s), want %s", tt.tool, tt.input, tt.cwd, d.Effect, d.Reason, tt.want)
		}
	}
}

func FuzzClaude(f *testing.F) { fuzzRead(f, "claude-code", "settings.json") }
func FuzzCodex(f *testing.F)  { fuzzRead(f, "codex", "default.rules") }
func FuzzGemini(f *testing.F) { fuzzRead(f, "gemini-cli", "policy.toml") }

// fuzzRead holds that nothing panics, that every rule is one that nod takes, and that what a file does not
// name is never allowed.
func fuzzRead(f *testing.F, agent, sample string) {
	text, err := os.ReadFile(filepath.Join("testdata", sample))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text, true)
	f.Add(text, false)
	f.Fuzz(func(t *testing.T, text []byte, inProject bool) {
		file := imports.File{Path: "file", Text: text}
		if inProject {
			file.Project = "/w/shop"
		}
		got, err := translate(agent, []imports.File{file}, nil)
		if err != nil {
			return
		}
		p, err := policy.Compile(policy.Policy{Rules: got.Rules}, policy.Places{Home: "/home/ann"})
		if err != nil {
			t.Fatalf("nod refuses the rules: %v", err)
		}
		input := policy.ReadInput([]byte(`{"file_path":"/w/shop/src/a"}`))
		stranger := policy.Call{Agent: "stranger", Tool: "Edit", Input: input, CWD: "/w/shop"}
		if d := policy.Decide(stranger, p, time.Time{}); d.Effect == policy.Allow {
			t.Errorf("another agent is allowed: %s", d.Reason)
		}
		for _, r := range got.Rules {
			if r.Effect == policy.Allow && len(r.Run) == 0 &&
				(agent == "codex" || strings.ContainsAny(r.Tool, "*?") || r.Tool == "") {
				t.Errorf("allows too much: %+v", r)
			}
			if inProject && r.Effect == policy.Allow && !slices.Contains([]string{"/w/shop", "/w/shop/**"}, r.CWD) {
				t.Errorf("a project allows outside of it: %+v", r)
			}
		}
	})
}
