//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// costReads is how many files an agent reads to find out what nod's hook adds to each call.
const costReads = 20

// hookCost is what the hook of an agent costs, as the table has it: the times in milliseconds from a call that the
// model makes to what it reads of it, the least and the median. A busy machine has little say in the least.
type hookCost struct {
	Agent, Version string
	With, Without  [2]float64
}

// TestAgentHookCost has each agent read files with nod's hook and without, and prints how long a call takes. nod allows
// these by itself. What is measured is no promise, so nothing is asserted about it.
func TestAgentHookCost(t *testing.T) {
	bash := func(tool string) func(string) toolCall {
		return func(command string) toolCall {
			return toolCall{tool, map[string]any{
				"command": command, "description": "As the script says", "is_background": false,
			}}
		}
	}
	chat := func(a chatAgent, runs func(string) toolCall, args ...string) func(*nod) (*transcript, func() *call) {
		return func(n *nod) (*transcript, func() *call) { return chatReads(n, a, runs, args...) }
	}
	for _, tt := range []struct {
		agent  string
		newest bool
		start  func(*nod) (*transcript, func() *call)
	}{
		{"claude-code", false, claudeReads("oldest")},
		{"claude-code", true, claudeReads("newest")},
		{"codex", true, codexReads},
		{"gemini-cli", true, geminiReads},
		{"qwen-code", true, chat(qwen, bash("run_shell_command"), "--approval-mode", "yolo", "-p", "do it")},
		{"copilot-cli", true, chat(copilot, bash("bash"), "--allow-all-tools", "-p", "do it")},
		{"kimi-code", true, chat(kimi, bash("Bash"), "-p", "do it")},
		{"letta", true, chat(lettaChat, bash("Bash"), "--permission-mode", "unrestricted", "-p", "do it")},
		{"cline", true, chat(clineChat, func(command string) toolCall {
			return toolCall{"run_commands", map[string]any{"commands": []string{command}}}
		}, "do it")},
	} {
		version := tested(t, tt.agent, tt.newest)
		t.Run(tt.agent+" "+version, func(t *testing.T) {
			cost := hookCost{Agent: tt.agent, Version: version}
			for _, with := range []bool{true, false} {
				n := start(t, settings)
				must(t, os.WriteFile(filepath.Join(n.project(), "notes.txt"), []byte("read me\n"), 0o600))
				m, begin := tt.start(n)
				if with {
					n.launch(n.program("nod", "agents", "install", tt.agent, "--yes")).result()
				}
				out, _ := begin().result()
				took, ok := m.took()
				if !ok {
					t.Fatalf("with nod %v: not all was read: %s", with, out)
				}
				if with {
					cost.With = took
				} else {
					cost.Without = took
				}
			}
			text, err := json.Marshal(cost)
			must(t, err)
			t.Logf("cost: %s", text)
		})
	}
}

// took is how long the calls took, in milliseconds: the least time and the median.
func (m *transcript) took() (ms [2]float64, all bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.heardAt) < costReads || len(m.called) < costReads {
		return ms, false
	}
	var took []time.Duration
	for i, heard := range m.heardAt[:costReads] {
		took = append(took, heard.Sub(m.called[i]))
	}
	slices.Sort(took)
	for i, t := range []time.Duration{took[0], took[costReads/2]} {
		ms[i] = float64(t.Microseconds()) / 1000
	}
	return ms, true
}

// readings is the script of a model that reads, each time something else.
func readings[C any](runs func(command string) C) []C {
	var script []C
	for i := range costReads {
		script = append(script, runs(fmt.Sprintf("head -n %d notes.txt", i+1)))
	}
	return script
}

func claudeReads(age string) func(*nod) (*transcript, func() *call) {
	return func(n *nod) (*transcript, func() *call) {
		claude := claudeCode(installed(n.t, filepath.Join("claude-code-"+age, "bin", "claude.exe")))
		n.knowsClaude()
		m := newModel(readings(func(command string) toolCall { return commands(command)[0] })...)
		n.t.Cleanup(m.Close)
		return &m.transcript, func() *call { return claude.headless(n, m.URL, "--permission-mode", "default") }
	}
}

func codexReads(n *nod) (*transcript, func() *call) {
	m := n.codexModel(readings(codexRuns)...)
	return &m.transcript, func() *call {
		return n.launch(n.codex(released(n.t, "codex"), "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust",
			"do it"))
	}
}

func geminiReads(n *nod) (*transcript, func() *call) {
	s := n.geminiTalks(readings(geminiRuns)...)
	return s.transcript, func() *call { return s.launch(s.command("--approval-mode", "yolo", "-p", "do it")) }
}

func chatReads(n *nod, a chatAgent, runs func(string) toolCall, args ...string) (*transcript, func() *call) {
	m := newChatModel(readings(runs))
	n.t.Cleanup(m.Close)
	a.command(n, m.URL) // writes the settings that nod finds
	return &m.transcript, func() *call { return n.launch(a.command(n, m.URL, args...)) }
}
