//go:build linux

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// claudeSession is Claude Code in a terminal, in the middle of what its model has it do.
type claudeSession struct {
	*nod
	*terminal
	*transcript
}

// inTerminal starts Claude Code in a terminal, set up for nod by nod itself, and has its model begin. It asks for what
// it has no rule for, unless args name another permission mode: the newest starts in one that rarely asks.
func (c claudeCode) inTerminal(
	t *testing.T, config string, isUp bool, script []toolCall, args ...string,
) *claudeSession {
	t.Helper()
	n := startDesktop(t)
	n.writeConfig(config)
	if isUp {
		n.startNod()
	}
	n.launch(n.program("nod", "agents", "install", "claude-code", "--yes")).result()
	n.knowsClaude()
	m := newModel(script...)
	t.Cleanup(m.Close)
	args = append([]string{"--permission-mode", "default"}, args...)
	return &claudeSession{n, n.terminal(c.command(n, m.URL, append(args, "do it")...)), &m.transcript}
}

// knowsClaude answers what Claude Code asks at its first start.
func (n *nod) knowsClaude() {
	n.t.Helper()
	elicitor := map[string]any{"type": "stdio", "command": n.borrow(elicitorName), "args": []string{}}
	settings := map[string]any{
		"hasCompletedOnboarding": true, "bypassPermissionsModeAccepted": true,
		"customApiKeyResponses": map[string]any{"approved": []string{"sk-ant-test"}, "rejected": []string{}},
		"projects": map[string]any{n.project(): map[string]any{
			"hasTrustDialogAccepted": true,
			"mcpServers":             map[string]any{elicitorName: elicitor},
		}},
	}
	text, err := json.Marshal(settings)
	must(n.t, err)
	must(n.t, os.WriteFile(filepath.Join(n.Home(), ".claude.json"), text, 0o600))
	// Claude Code takes the root of the repository for the project: not one that the tests happen to run in.
	must(n.t, os.MkdirAll(filepath.Join(n.project(), ".git"), 0o700))
}

// finished waits until the model has had its last word.
func (s *claudeSession) finished() { s.nod.t.Helper(); s.shows("all done") }

var makeIt = commands("touch made.txt")

func TestAgentClaudeCodeTerminal(t *testing.T) { eachClaudeCode(t, testClaudeCodeTerminal) }

func testClaudeCodeTerminal(t *testing.T, claude claudeCode) {
	t.Run("reads without a prompt", func(t *testing.T) {
		s := claude.inTerminal(t, settings, true, commands("ls -la"))
		s.finished()
		s.neverAWindow()
	})
	t.Run("allowed", func(t *testing.T) {
		s := claude.inTerminal(t, settings, true, makeIt)
		s.prompt()
		s.affirm()
		s.finished()
		s.made(true)
	})
	t.Run("denied with a reason", func(t *testing.T) {
		s := claude.inTerminal(t, settings, true, makeIt)
		s.prompt()
		s.armed()
		s.after(func() { s.press("Tab", "Tab", "Tab", "space") })
		s.write("use make instead")
		s.blink()
		s.press("ctrl+d")
		s.finished()
		s.made(false)
		s.reads(s, "use make instead")
	})
	t.Run("closed, so the terminal decides", func(t *testing.T) {
		s := claude.inTerminal(t, settings, true, makeIt)
		s.prompt()
		s.shows("Do you want to")
		s.press("Escape")
		s.noWindow()
		s.made(false)
		s.keys("Enter")
		s.finished()
		s.made(true)
	})
	t.Run("allowed in the terminal first", func(t *testing.T) {
		s := claude.inTerminal(t, settings, true, makeIt)
		s.prompt()
		s.shows("Do you want to")
		s.keys("Enter")
		s.noWindow()
		s.finished()
		s.made(true)
		s.logs("outcome=withdrawn")
	})
	t.Run("denied in the terminal first", func(t *testing.T) {
		s := claude.inTerminal(t, settings, true, makeIt)
		s.prompt()
		s.shows("Do you want to")
		s.keys("Escape")
		s.shows("Interrupted")
		s.noWindow()
		s.made(false)
		s.logs("outcome=cancelled") // an interrupt ends the hook itself: no event tells more
	})
	t.Run("nod killed in the middle", func(t *testing.T) {
		s := claude.inTerminal(t, settings, true, makeIt)
		s.prompt()
		s.shows("Do you want to")
		must(t, s.cmd.Process.Kill())
		<-s.ended
		s.made(false)
		s.keys("Enter")
		s.finished()
		s.made(true)
	})
	t.Run("away", func(t *testing.T) {
		s := claude.inTerminal(t, settings, false, makeIt)
		s.shows("Do you want to")
		s.made(false)
		s.keys("Enter")
		s.finished()
		s.made(true)
	})
	t.Run("away and strict", func(t *testing.T) {
		s := claude.inTerminal(t, settings+"\nagents:\n  strict: [claude-code]\n", false, makeIt)
		s.finished()
		s.made(false)
		s.reads(s, "nod start")
	})
}

// logs waits until nod's log says something.
func (n *nod) logs(text string) {
	n.t.Helper()
	must(n.t, n.Screen.Await(n.ctx, fmt.Sprintf("nod's log to say %q", text), func() (bool, error) {
		log, err := os.ReadFile(n.logPath())
		return strings.Contains(string(log), text), err
	}))
}

// Claude Code asks its human by nod's form: the model reads what was picked there.
func TestAgentClaudeCodeQuestion(t *testing.T) { eachClaudeCode(t, testClaudeCodeQuestion) }

func testClaudeCodeQuestion(t *testing.T, claude claudeCode) {
	question := map[string]any{"questions": []any{
		map[string]any{"question": "Which database?", "header": "Storage", "multiSelect": false, "options": databases},
		map[string]any{"question": "Which checks?", "header": "Checks", "multiSelect": true, "options": []any{
			map[string]any{"label": "Unit", "description": "Fast"}, map[string]any{"label": "Lint", "description": "Faster"}}},
	}}
	s := claude.inTerminal(t, settings, true, []toolCall{{"AskUserQuestion", question}})
	s.prompt()
	s.shows("Which database?")
	s.armed()
	s.after(func() { s.press("2") }) // Postgres
	s.after(func() { s.press("Return", "1", "2") })
	s.shot("claude-code-question")
	s.press("Return")
	s.finished()
	s.reads(s, "Postgres")
	s.reads(s, "Unit, Lint")
}

// What the user writes instead of picking is what the model reads.
func TestAgentClaudeCodeOther(t *testing.T) { eachClaudeCode(t, testClaudeCodeOther) }

func testClaudeCodeOther(t *testing.T, claude claudeCode) {
	question := map[string]any{"questions": []any{
		map[string]any{"question": "Which database?", "header": "Storage", "multiSelect": false, "options": databases},
	}}
	s := claude.inTerminal(t, settings, true, []toolCall{{"AskUserQuestion", question}})
	s.prompt()
	s.after(func() { s.press("3") }) // the last: Other
	s.write("DuckDB")
	s.blink()
	s.shot("claude-code-other")
	s.armed()
	s.press("ctrl+Return")
	s.finished()
	s.reads(s, "DuckDB")
}

// A plan is shown as a plan, and carried out once it is approved.
func TestAgentClaudeCodePlan(t *testing.T) { eachClaudeCode(t, testClaudeCodePlan) }

func testClaudeCodePlan(t *testing.T, claude claudeCode) {
	const plan = "# Make it\n\n1. write **made.txt**\n2. look at it\n"
	planned := func(t *testing.T) *claudeSession {
		s := claude.inTerminal(t, settings, true, []toolCall{
			{"Write", map[string]any{"file_path": planFile, "content": plan}}, {"ExitPlanMode", map[string]any{}},
			{"Write", map[string]any{"file_path": "made.txt", "content": "made\n"}},
		}, "--permission-mode", "plan")
		s.prompt()
		s.armed()
		return s
	}
	t.Run("asks for each edit", func(t *testing.T) {
		s := planned(t)
		s.shot("claude-code-plan")
		s.press("ctrl+Return")
		s.noWindow()
		s.prompt() // for what the plan wants done
		s.affirm()
		s.finished()
		s.made(true)
	})
	t.Run("lets edits pass", func(t *testing.T) {
		s := planned(t)
		s.press("ctrl+shift+Return")
		s.finished() // nobody is asked
		s.made(true)
		s.shows("accept edits on")
	})
	t.Run("feedback", func(t *testing.T) {
		s := planned(t)
		s.after(func() { s.press("Tab", "Tab", "Tab", "space") })
		s.write("look first")
		s.armed()
		s.shot("claude-code-plan-feedback")
		s.press("Return")
		s.noWindow()
		s.prompt() // still plans, so it asks for the edit
		s.armed()
		s.reads(s, "look first")
		s.press("ctrl+d")
		s.finished()
		s.made(false)
	})
}

// What the user picks of Claude Code's own suggestions, Claude Code keeps.
func TestAgentClaudeCodeSuggestion(t *testing.T) { eachClaudeCode(t, testClaudeCodeSuggestion) }

func testClaudeCodeSuggestion(t *testing.T, claude claudeCode) {
	s := claude.inTerminal(t, settings, true, commands("touch made.txt", "touch made.txt"))
	s.prompt()
	s.armed()
	s.after(func() { s.press("Tab", "Tab", "Tab", "Tab", "space") }) // the scope
	s.shot("claude-code-suggestion-menu")
	s.after(func() { s.press("Up", "Up", "space") }) // the last but one: Claude Code's own
	s.armed()
	s.shot("claude-code-suggestion")
	s.press("ctrl+Return")
	s.finished() // the second time nobody is asked
	s.made(true)
	s.shows("accept edits on") // what it suggests for such a command
}

// A rule that Claude Code suggests ends up in its own settings once the user picks it.
func TestAgentClaudeCodeKeepsARule(t *testing.T) { eachClaudeCode(t, testClaudeCodeKeepsARule) }

func testClaudeCodeKeepsARule(t *testing.T, claude claudeCode) {
	s := claude.inTerminal(t, settings, true, commands("make -h"))
	s.prompt()
	s.armed()
	s.after(func() { s.press("Tab", "Tab", "Tab", "Tab", "space") }) // the scope
	s.after(func() { s.press("Up", "Up", "space") })                 // the last but one: Claude Code's own
	s.armed()
	s.shot("claude-code-rule")
	s.press("ctrl+Return")
	s.finished()
	s.keys("/exit", "Enter")
	s.shows("Resume this session with") // by when it has written its settings
	text, err := os.ReadFile(filepath.Join(s.project(), ".claude", "settings.local.json"))
	must(t, err)
	if !strings.Contains(string(text), `"Bash(make`) {
		t.Errorf("Claude Code's settings hold no rule for make:\n%s", text)
	}
}

// elicitorName is the name under which this test's own binary is an MCP server that asks for something in the
// middle of a tool call.
const elicitorName = "elicitor"

// setupForm is what that server asks for.
const setupForm = `{"type": "object", "required": ["name"], "properties": {
	"name": {"type": "string", "title": "Name", "minLength": 2},
	"replicas": {"type": "integer", "title": "Replicas", "minimum": 1, "maximum": 9, "default": 3},
	"size": {"type": "string", "title": "Size", "oneOf": [
		{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]}}}`

// beElicitor serves one tool, which tells what it was answered. A client of MCP 2026-07-28 calls it again with the
// answer; of others, the server asks by elicitation/create.
func beElicitor() int {
	server := sdk.NewServer(&sdk.Implementation{Name: elicitorName, Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "setup", Description: "sets up"},
		func(_ context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
			got, isAnswered := r.Params.InputResponses["setup"].(*sdk.ElicitResult)
			if !isAnswered {
				ask := &sdk.ElicitParams{Message: "How shall it be set up?", RequestedSchema: json.RawMessage(setupForm)}
				return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"setup": ask}}, nil, nil
			}
			text, err := json.Marshal(got.Content)
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: got.Action + " " + string(text)}}}, nil, err
		})
	if err := server.Run(context.Background(), &sdk.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// What an MCP server asks for in the middle of a call is a form of nod's.
func TestAgentClaudeCodeElicitation(t *testing.T) { eachClaudeCode(t, testClaudeCodeElicitation) }

func testClaudeCodeElicitation(t *testing.T, claude claudeCode) {
	s := claude.inTerminal(t, settings, true, []toolCall{{"mcp__elicitor__setup", map[string]any{}}})
	s.prompt()
	s.affirm() // the call itself
	s.noWindow()
	s.prompt()
	s.write("orders")
	s.armed()
	s.shot("claude-code-elicitation")
	s.press("ctrl+Return")
	s.finished()
	s.reads(s, "accept")
	s.reads(s, "orders")
}
