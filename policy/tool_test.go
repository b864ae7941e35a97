package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParseTools(t *testing.T) {
	agents, tools, err := parseTools(
		"# words\nagents: a b\npaths: trimmed\n\nread_only Grep p:tree=here g:only n -A e.x\nposix Sh c:command d:folder\n",
	)
	if err != nil || !slices.Equal(agents, []string{"a", "b"}) || len(tools) != 2 {
		t.Fatalf("%v: %v, %+v", err, agents, tools)
	}
	grep, sh := tools["Grep"], tools["Sh"]
	if grep.class != ReadOnly || grep.here == nil || !grep.paths.trimmed || grep.fields["g"] != onlyField ||
		grep.fields["-A"] != plainField ||
		grep.fields["e.x"] != plainField || grep.fields["e"] != unlisted ||
		grep.isShell {
		t.Errorf("Grep is %+v", grep)
	}
	if sh.class != Unknown || !sh.isShell || !sh.isPosix || sh.fields["d"] != folderField {
		t.Errorf("Sh is %+v", sh)
	}
	for text, want := range map[string]string{
		"read_only":                       "names no tool",
		"harmless Read p:read":            "unknown class",
		"read_only Read p:reed":           `"reed" is not a meaning of a field`,
		"paths: odd":                      `"odd" is nothing that an agent does to a path`,
		"read_only A\nwrite B\nwrite A":   "A appears twice",
		"read_only Read p:read\nposix X:": "",
	} {
		if _, _, err := parseTools(text); (want == "") != (err == nil) ||
			(err != nil && !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// Every agent's tools can be looked up by each of its names, and what reads or writes a file says where.
func TestToolFiles(t *testing.T) {
	for agent, want := range map[string][]string{
		"claude-code": {"Read", "Bash", "WebFetch"}, "claude": {"Read"}, "codex": {"apply_patch", "exec_command"},
		"gemini-cli": {"read_many_files", "replace"}, "gemini": {"run_shell_command"}, "opencode": {"patch", "lsp"},
	} {
		for _, name := range want {
			if known, ok := lookup(agent, name); !ok || len(known.fields) == 0 {
				t.Errorf("%s %s: %+v", agent, name, known)
			}
		}
	}
}

func TestSpellings(t *testing.T) {
	for _, tt := range []struct {
		how  spelling
		path string
		want []string
	}{
		{spelling{}, "a", []string{"a"}},
		{spelling{}, " a", []string{"a", " a"}},
		{spelling{trimmed: true}, "\ta\n", []string{"a"}},
		{spelling{marked: true}, "@/a", []string{"@/a", "a"}},
		{spelling{encoded: true}, "%61", []string{"%61", "a"}},
		{spelling{encoded: true}, "100%", []string{"100%"}},
		{spelling{escaped: true}, `\~/a\ b\c`, []string{`\~/a\ b\c`, `~/a b\c`}},
		{spelling{marked: true, encoded: true}, "@%61", []string{"@%61", "%61", "@a", "a"}},
	} {
		if got := tt.how.of(tt.path); !slices.Equal(got, tt.want) {
			t.Errorf("%+v of %q: %q, want %q", tt.how, tt.path, got, tt.want)
		}
	}
}

// offered are the lists of what released agents offer their models, which make agent-tools writes.
const offered = "../agents/*/testdata/tools/*.txt"

// The data know each tool that a tested release offers, and each field of its input. Tools that are always asked about
// need no fields.
func TestToolsOfReleases(t *testing.T) {
	lists, err := filepath.Glob(offered)
	if err != nil || len(lists) < 10 {
		t.Fatalf("%d lists of tools: %v", len(lists), err)
	}
	for _, list := range lists {
		name := filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(list))))
		_, tools := readLines(t, filepath.Join("tools", name+".txt"))
		text, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(line)
			known, ok := tools[words[0]]
			if !ok {
				t.Errorf("%s offers %s, of which tools/ says nothing", list, words[0])
			}
			for _, field := range words[1:] {
				_, isListed := known.fields[field]
				isAsked := known.isQuestion || known.class == Unknown && !known.isShell
				if !isListed && !isAsked {
					t.Errorf("%s offers %s with %s, which tools/ does not list", list, words[0], field)
				}
			}
		}
	}
}

func readLines(t *testing.T, path string) (agents []string, tools map[string]tool) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	agents, tools, err = parseTools(string(text))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return agents, tools
}

// Programs in Go take a field for the one that they want whatever the letter case of its name.
func TestLetterCaseOfFields(t *testing.T) {
	private, publish := Rule{Path: "**/private.txt", Effect: Deny}, Rule{Run: []string{"npm publish"}, Effect: Deny}
	docs := Rule{Path: "~/src/shop/docs/**", Tool: "write", Effect: Allow}
	forced := Rule{Args: []Arg{{"force", "true"}}, Effect: Deny}
	gentle := Rule{Tool: mcpTool, Args: []Arg{{"force", "false"}}, Effect: Allow}
	for _, test := range []struct {
		rule        Rule
		tool, input string
		want        Effect
	}{
		{private, "view", `{"filE_patH":"private.txt"}`, Deny},
		{private, "view", `{"file_path":"a.go","filE_patH":"private.txt"}`, Deny},
		{publish, "bash", `{"Command":"npm publish"}`, Deny},
		{docs, "write", `{"file_path":"docs/a","content":"x"}`, Allow},
		{docs, "write", `{"file_path":"docs/a","filE_patH":"Makefile","content":"x"}`, Ask},
		{docs, "write", `{"file_path":"docs/a","\u017fource":"x","Source":"docs/b","content":"x"}`, Ask},
		{forced, mcpTool, `{"Force":true}`, Deny},
		{gentle, mcpTool, `{"force":false}`, Allow},
		{gentle, mcpTool, `{"Force":false}`, Ask},
		{gentle, mcpTool, `{"force":false,"Force":true}`, Ask},
	} {
		test.rule.ID = "r"
		p := compiled(t, Policy{AutoAllow: []Class{ReadOnly}, Rules: []Rule{test.rule}})
		c := call(test.tool, test.input).with(func(c *Call) { c.Agent = "crush" })
		if d := Decide(c, p, testNow); d.Effect != test.want {
			t.Errorf("%s %s: %s (%s), want %s", test.tool, test.input, d.Effect, d.Reason, test.want)
		}
	}
}

// A pattern leads somewhere only from a folder.
func TestPatternsHaveAFolder(t *testing.T) {
	for agent, tools := range catalogue() {
		for name, tool := range tools {
			for field, means := range tool.fields {
				if (means == globField || means == onlyField) && tool.here == nil {
					t.Errorf("%s %s: nobody knows where %s starts", agent, name, field)
				}
			}
		}
	}
}

// What a release adds to a call, and nod cannot judge, keeps it from passing unasked.
func TestNewFieldsAreAsked(t *testing.T) {
	p := compiled(t, Default())
	for _, test := range []struct {
		agent, tool, input string
		want               Effect
	}{
		{"claude-code", "Bash", `{"command": "ls"}`, Allow},
		{"claude-code", "Bash", `{"command": "ls", "dangerouslyDisableSandbox": false}`, Allow},
		{"claude-code", "Bash", `{"command": "ls", "dangerouslyDisableSandbox": true}`, Ask},
		{"claude-code", "TaskCreate", `{"subject": "a", "description": "b"}`, Allow},
		{"claude-code", "TaskCreate", `{"subject": "a", "metadata": {"path": "/"}}`, Ask},
		{"claude-code", "RefreshMcpTools", `{"server": "s"}`, Ask},
		{"claude-code", "DeferredToolPlaceholder", `{}`, Ask},
		{"codex", "exec_command", `{"cmd": "ls", "login": true, "tty": true}`, Allow},
		{"codex", "exec_command", `{"cmd": "ls", "shell": "./sh"}`, Ask},
		{"codex", "exec_command", `{"cmd": "ls", "sandbox_permissions": "require_escalated"}`, Ask},
		{"codex", "exec_command", `{"cmd": "ls", "prefix_rule": ["ls"]}`, Ask},
		{"codex", "collaborationspawn_agent", `{"message": "m", "task_name": "t"}`, Ask},
		{"codex", "collaborationwait_agent", `{"timeout_ms": 1}`, Allow},
		{"codex", "mcp__codex_tui__create_thread", `{"prompt": "p"}`, Ask},
		{"codex", "mcp__codex_tui__list_threads", `{}`, Ask},
		{"codex", "write_stdin", `{"session_id": 1, "chars": "rm -rf /\n"}`, Ask},
		{"copilot-cli", "extensions_manage", `{"operation": "list"}`, Ask},
		{"copilot-cli", "open_canvas", `{"canvasId": "c"}`, Ask},
		{"qwen-code", "zoom_image", `{"file_path": "a.png", "x1": 1}`, Allow},
		{"cline", "team_cleanup", `{}`, Ask},
	} {
		c := Call{Agent: test.agent, Tool: test.tool, Input: ReadInput([]byte(test.input)), CWD: "/home/u/src/a"}
		if d := Decide(c, p, testNow); d.Effect != test.want {
			t.Errorf("%s %s %s: %s (%s), want %s", test.agent, test.tool, test.input, d.Effect, d.Reason, test.want)
		}
	}
}
