//go:build linux

package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nod/agents/registry"
)

// Silence is never an allow: what nod was asked about and nobody decided does not run unless the agent itself has asked
// the user. Each agent is driven in each of its modes through each way of not answering, and what was seen is printed
// as rows of a table.
func TestSilence(t *testing.T) {
	t.Run("claude-code", silentClaudeCode)
	t.Run("codex", silentCodex)
	t.Run("gemini-cli", silentGemini)
	t.Run("opencode", silentOpencode)
	t.Run("qwen-code", func(t *testing.T) { silentChat(t, qwen, qwenRuns, qwenModes) })
	t.Run("copilot-cli", func(t *testing.T) { silentChat(t, copilot, copilotRuns, copilotModes) })
	t.Run("kimi-code", func(t *testing.T) { silentChat(t, kimi, kimiRuns, kimiModes) })
	t.Run("letta", func(t *testing.T) { silentChat(t, lettaChat, lettaTool, lettaModes) })
	t.Run("cline", silentCline)
	t.Run("amp", silentAmp)
}

// tested is a release that nod is tested with: the oldest, or the newest.
func tested(t *testing.T, name string, newest bool) string {
	t.Helper()
	a, err := registry.Find(registry.All(), name)
	must(t, err)
	if newest {
		return a.Tested[len(a.Tested)-1]
	}
	return a.Tested[0]
}

func silentClaudeCode(t *testing.T) {
	eachClaudeCode(t, func(t *testing.T, claude claudeCode) {
		version := tested(t, "claude-code", strings.HasSuffix(t.Name(), "newest"))
		runs := func(command string) toolCall { return commands(command)[0] }
		for _, mode := range []string{
			"default", "default, no rule", "acceptEdits", "plan", "auto", "bypassPermissions", "dontAsk",
		} {
			for _, where := range []string{"terminal", "headless"} {
				t.Run(mode+" "+where, func(t *testing.T) {
					flag, config := configured(mode)
					n := claude.installedFor(t, config)
					m := newModel(touches(runs)...)
					t.Cleanup(m.Close)
					d := newDrive(n, "claude-code", &m.transcript)
					if where == "headless" {
						d.process = claude.headless(n, m.URL, "--permission-mode", flag)
					} else {
						d.inTerminal(n.terminal(claude.command(n, m.URL, "--permission-mode", flag, "do it")), "Do you want to", "Enter")
					}
					d.sees(version, mode+", "+where)
				})
			}
		}
	})
}

func silentCodex(t *testing.T) {
	program := released(t, "codex")
	never := []string{"-a", "never"}
	for _, mode := range []struct {
		name string
		runs func(string) responsesCall
		args []string
		exec bool
	}{
		{"on-request", codexRuns, nil, false},
		{"on-request, escalated", codexEscalates, nil, false},
		{"on-request, escalated, no rule", codexEscalates, nil, false},
		{"never", codexRuns, never, false},
		{"never, escalated", codexEscalates, never, false},
		{"danger-full-access", codexRuns, []string{"-s", "danger-full-access"}, false},
		{"never, exec", codexRuns, nil, true},
		{"never, danger-full-access, exec", codexRuns, []string{"-s", "danger-full-access"}, true},
	} {
		t.Run(mode.name, func(t *testing.T) {
			_, config := configured(mode.name)
			n := start(t, config)
			n.launch(n.program("nod", "agents", "install", "codex", "--yes")).result()
			m := n.codexModel(touches(mode.runs)...)
			d := newDrive(n, "codex", &m.transcript)
			args := append([]string{"--dangerously-bypass-hook-trust"}, mode.args...)
			where := ", terminal"
			if mode.exec {
				where = ", headless"
				args = slices.Concat([]string{"exec", "--skip-git-repo-check"}, args, []string{"do it"})
				d.process = n.launch(n.codex(program, args...))
			} else {
				d.inTerminal(n.terminal(n.codex(program, append(args, "do it")...)), codexAsks, "y")
			}
			d.sees(tested(t, "codex", true), mode.name+where)
		})
	}
}

func silentGemini(t *testing.T) {
	for _, mode := range []string{"default", "auto_edit", "yolo", "nod alone asks"} {
		for _, where := range []string{"terminal", "headless"} {
			t.Run(mode+" "+where, func(t *testing.T) {
				s := newGemini(t, asksToTouch, true, mode == "nod alone asks", touches(geminiRuns)...)
				d := newDrive(s.nod, "gemini-cli", s.transcript)
				args := []string{"--approval-mode", mode}
				if mode == "nod alone asks" {
					args = nil
				}
				if where == "headless" {
					d.process = s.launch(s.command(append(args, "-p", "do it")...))
				} else {
					d.inTerminal(s.terminal(s.command(append(args, "-i", "do it")...)), geminiAsks, "Enter")
				}
				d.sees(tested(t, "gemini-cli", true), mode+", "+where)
			})
		}
	}
}

// What opencode's terminal shows is what its server says. "opencode run" rejects what it would ask about by itself.
func silentOpencode(t *testing.T) {
	runs := func(command string) toolCall {
		return toolCall{"bash", map[string]string{"command": command, "description": "As the script says"}}
	}
	s := newOpen(t, asksToTouch, true, touches(runs)...)
	s.launch(s.program("nod", "agents", "install", "opencode", "--yes")).result()
	s.configure()
	d := newDrive(s.nod, "opencode", s.transcript)
	s.serve(s.command("serve", "--port", "0", "--hostname", "127.0.0.1", "--print-logs"))
	go func() { s.reply <- s.begin() }()
	d.asking = func() bool { return strings.Contains(s.call(http.MethodGet, "/permission", ""), `"id"`) }
	d.agree = func() { s.call(http.MethodPost, "/permission/"+s.asked()+"/reply", `{"reply":"once"}`) }
	d.sees(tested(t, "opencode", true), "ask, server")
}

// silentMode is a mode of an agent whose model speaks chat completions.
type silentMode struct {
	name      string
	args      []string
	gate      bool                                    // nod alone asks
	begins    func(*chatSession, ...string) *terminal // in a terminal
	asks, key string
}

func withPrompt(s *chatSession, args ...string) *terminal {
	return s.terminal(s.command(append(args, "-i", "do it")...))
}

func silentChat(t *testing.T, a chatAgent, runs func(string) toolCall, modes []silentMode) {
	for _, mode := range modes {
		where := "headless"
		if mode.begins != nil {
			where = "terminal"
		}
		t.Run(mode.name+" "+where, func(t *testing.T) {
			_, config := configured(mode.name)
			s := a.start(t, config, true, mode.gate, touches(runs)...)
			d := newDrive(s.nod, a.name, s.transcript)
			if mode.begins != nil {
				d.inTerminal(mode.begins(s, mode.args...), mode.asks, mode.key)
			} else {
				d.process = s.headless(append(mode.args, "-p", "do it")...)
			}
			d.sees(tested(t, a.name, true), mode.name+", "+where)
		})
	}
}

// configured is a mode's name for the agent, and the configuration in which it is driven: with a rule that asks, or
// without one.
func configured(name string) (mode, config string) {
	mode, without := strings.CutSuffix(name, ", no rule")
	if without {
		return mode, settings
	}
	return mode, asksToTouch
}

func twice(name, asks string, begins func(*chatSession, ...string) *terminal, args ...string) []silentMode {
	return []silentMode{
		{name: name, args: args, begins: begins, asks: asks, key: "Enter"}, {name: name, args: args},
	}
}

var (
	qwenModes = modesOf("--approval-mode", qwenAsks, withPrompt,
		"plan", "default", "default, no rule", "auto-edit", "auto", "yolo")
	copilotModes = slices.Concat(
		twice("default", copilotAsks, withPrompt), twice("default, no rule", copilotAsks, withPrompt),
		twice("allow-all-tools", copilotAsks, withPrompt, "--allow-all-tools"))
	kimiModes = []silentMode{
		{name: "default", begins: (*chatSession).kimiBegins, asks: kimiAsks, key: "Enter"},
		{name: "yolo", args: []string{"--yolo"}, begins: (*chatSession).kimiBegins, asks: kimiAsks, key: "Enter"},
		{name: "auto", args: []string{"--auto"}, begins: (*chatSession).kimiBegins, asks: kimiAsks, key: "Enter"},
		{name: "default"},
		{name: "nod alone asks", begins: (*chatSession).kimiBegins, asks: kimiAsks, key: "Enter", gate: true},
	}
	lettaModes = modesOf("--permission-mode", lettaAsks, (*chatSession).lettaBegins,
		"standard", "standard, no rule", "acceptEdits", "unrestricted")
)

func modesOf(flag, asks string, begins func(*chatSession, ...string) *terminal, names ...string) (all []silentMode) {
	for _, name := range names {
		mode, _ := configured(name)
		all = append(all, twice(name, asks, begins, flag, mode)...)
	}
	return all
}

func copilotRuns(command string) toolCall {
	return toolCall{"bash", map[string]string{"command": command, "description": "As the script says"}}
}

var (
	lettaChat = chatAgent{"letta", (*nod).lettaCommand}
	clineChat = chatAgent{"cline", (*nod).clineCommand}
)

func lettaTool(command string) toolCall {
	return toolCall{"Bash", map[string]string{"command": command, "description": "As the script says"}}
}

// lettaBegins starts Letta Code in a terminal and has it begin once it listens.
func (s *chatSession) lettaBegins(args ...string) *terminal {
	s.t.Helper()
	term := s.terminal(s.command(args...))
	term.shows("Letta Code [test]")
	term.asks("do it", "› ")
	return term
}

// Cline's task ends with what is denied.
func silentCline(t *testing.T) {
	for name, args := range map[string][]string{"auto-approve, headless": nil} {
		t.Run(name, func(t *testing.T) {
			n := start(t, asksToTouch)
			n.launch(n.program("nod", "agents", "install", "cline", "--yes")).result()
			m := newChatModel(nil)
			t.Cleanup(m.Close)
			d := newDrive(n, "cline", &m.transcript)
			d.again = func(i int) *call {
				m.anew(toolCall{"run_commands", map[string]any{"commands": []string{"touch " + touched(i)}}})
				return n.launch(n.clineCommand(m.URL, append(args, "do it")...))
			}
			d.sees(tested(t, "cline", true), name)
		})
	}
}

// anew has the model of an agent that is started anew make another call.
func (m *chatModel) anew(script ...toolCall) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.script, m.results = script, nil
}

// ampTerminal stands in for Amp's terminal, which Amp has only with its maker's servers: it goes by what Amp says that
// it would do with a call, asks where Amp would, and waits for the answer.
const ampTerminal = `made=$1; shift; "$@"
case $? in
0) touch "$made" ;;
1) touch asks; while [ ! -e agreed ]; do sleep 0.1; done; rm asks agreed; touch "$made" ;;
esac`

func silentAmp(t *testing.T) {
	program := released(t, "amp")
	n := start(t, asksToTouch)
	n.launch(n.program("nod", "agents", "install", "amp", "--yes")).result()
	d := newDrive(n, "amp", &transcript{})
	file := func(name string) string { return filepath.Join(n.project(), name) }
	d.again = func(i int) *call {
		return n.launch(n.onNode("/bin/sh", "-c", ampTerminal, "sh", touched(i), program, "permissions", "test", "Bash",
			"--cmd", "touch "+touched(i)))
	}
	d.asking = func() bool { _, err := os.Stat(file("asks")); return err == nil }
	d.agree = func() {
		must(t, os.WriteFile(file("agreed"), nil, 0o600))
		d.await("Amp to go on", func() bool { return !d.asking() })
	}
	d.sees(tested(t, "amp", true), "terminal")
}
