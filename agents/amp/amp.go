// Package amp supports Amp: the program that its rules delegate to, and its tools.
package amp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"nod/agents/agent"
	"nod/api"
	"nod/interact"
	"nod/ipc/hooks"
)

const name = "amp"

// Agent is Amp.
var Agent = agent.Agent{
	Name: name, Title: "Amp", Program: "amp",
	Hooks: hooks.Protocol{
		Read: hooks.Reads(payload.step), Deny: deny, Abstain: abstain, Payload: payloadOf,
	},
	Settings: settings,
	Needs:    func(m agent.Machine) []agent.File { return []agent.File{agent.Script(script(m), name)} },
	Tested:   []string{"0.0.1790142911-g7618fb"},
	Limits: []string{
		"It was tested with amp permissions test only, without Amp's servers.",
		"nod's rule in amp.permissions comes after yours and before the built-in ones: calls your rules decide do not " +
			"reach nod.",
		"nod's hook is a shell script beside its settings: there is none for Windows.",
	},
}

var folder = agent.FolderOf("XDG_CONFIG_HOME", ".config", "amp")

const scriptName = "nod-amp"

func script(m agent.Machine) string { return filepath.Join(folder(m), scriptName) }

// settings adds one rule of nod's after the user's own: the first that matches counts.
func settings(m agent.Machine) agent.File {
	isOurs := func(entry map[string]string) bool {
		return entry["tool"] == "*" && entry["action"] == "delegate" && entry["to"] == script(m)
	}
	return agent.List(filepath.Join(folder(m), "settings.json"), "amp.permissions",
		rule{Tool: "*", Action: "delegate", To: script(m)}, isOurs)
}

type rule struct {
	Tool   string `json:"tool"`
	Action string `json:"action"`
	To     string `json:"to"`
}

// payload is made from what Amp passes to the program that a rule delegates to (https://ampcode.com/manual/appendix):
// the tool's input, and in the environment the tool's name and the thread's.
type payload struct {
	Event  string          `json:"hook_event_name"`
	Thread string          `json:"thread"`
	CWD    string          `json:"cwd"`
	Tool   string          `json:"tool_name"`
	Input  json.RawMessage `json:"tool_input"`
}

// Amp reads only the exit status of the program.
const (
	allowed = 0
	abstain = 1 // Amp asks
	denied  = 2
)

const delegate = "delegate"

// payloadOf treats what was written as a tool's input, whatever it says. Without a tool's name it is not from Amp.
func payloadOf(written []byte, env func(string) string) ([]byte, error) {
	tool := env("AGENT_TOOL_NAME")
	if tool == "" {
		return written, nil
	}
	folder, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the folder that Amp runs in: %w", err)
	}
	made, err := json.Marshal(payload{delegate, env("AMP_THREAD_ID"), folder, tool, written})
	if err != nil {
		return nil, fmt.Errorf("the input of %s is not JSON: %w", tool, err)
	}
	return made, nil
}

func (p payload) step(c hooks.Call) (hooks.Step, error) {
	s := hooks.Step{Session: p.Thread, CWD: p.CWD}
	if c.Event == delegate {
		s.Ask, s.Silence = interact.Approve{Tool: p.Tool, Input: p.Input}, api.AsksInTerminal
		s.Reply = hooks.Allows(hooks.Exit{Status: allowed})
	}
	return s, nil
}

// deny also denies a call that names no event: every event decides something.
func deny(_, reason string) any { return hooks.Exit{Status: denied, Stderr: reason} }
