// Package copilot is all that nod knows of GitHub Copilot CLI: its hooks, the file that nod puts them in, and its
// tools.
package copilot

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"nod/agents/agent"
	"nod/ipc/hooks"
)

const name = "copilot-cli"

// Agent is GitHub Copilot CLI.
var Agent = agent.Agent{
	Name: name, Title: "Copilot CLI", Program: "copilot",
	Hooks:    hooks.Protocol{Read: hooks.Reads(payload.step), Deny: refuse},
	Folder:   folder,
	Settings: settings,
	Off:      off,
	After:    "Copilot CLI reads its hooks when it starts: start it again.",
	Tested:   []string{"1.0.102"},
	Limits: []string{
		"Of a change nod's window shows the difference, of a command only the command line: no more comes with its question.",
		"Run with -p it denies what nobody allowed, also when you close nod's window or nod isn't running.",
		"While nod isn't running, or when its hook takes longer than its settings say, its own prompt decides; with " +
			"--allow-all-tools the call runs.",
		"The model gets your answer to ask_user as a denial whose text says that it is your answer.",
	},
}

func folder(m agent.Machine) string { return m.Folder("COPILOT_HOME", ".copilot") }

// events are those in the spelling that has the tools' own names: the other one looks like Claude Code's hooks and is
// not. Their payloads do not say which event they are of.
var events = []string{preToolUse, permissionRequest, "notification", "userPromptSubmitted", "agentStop", "sessionEnd"}

// settings is a file of nod's own beside those of others.
func settings(m agent.Machine) agent.File {
	return agent.Whole(filepath.Join(folder(m), "hooks", "nod.json"), hookFile, run)
}

type handler struct {
	Type    string `json:"type"`
	Bash    string `json:"bash"`
	Timeout int    `json:"timeoutSec"`
	Comment string `json:"comment"`
}

// table is what is in the file.
type table struct {
	Version int                  `json:"version"`
	Hooks   map[string][]handler `json:"hooks"`
}

func hookFile(nod string) []byte {
	hooks := map[string][]handler{}
	for _, event := range events {
		hooks[event] = []handler{{
			Type: "command", Bash: agent.Command(nod, name) + " " + event, Timeout: int(agent.HookTimeout / time.Second),
			Comment: "written by nod",
		}}
	}
	text, _ := json.MarshalIndent(table{1, hooks}, "", "  ") // texts and numbers become JSON always
	return append(text, '\n')
}

// run is the command in the file, without the event after it.
func run(text []byte) (agent.Run, bool) {
	var t table
	if json.Unmarshal(text, &t) != nil || len(t.Hooks[preToolUse]) != 1 {
		return agent.Run{}, false
	}
	return agent.RunOf(strings.TrimSuffix(t.Hooks[preToolUse][0].Bash, " "+preToolUse), name)
}

// off are the ways around its hooks.
func off(m agent.Machine, s agent.Session) []agent.Switch {
	files := append([]string{filepath.Join(folder(m), "config.json"), filepath.Join(folder(m), "settings.json")},
		s.Project(".github/copilot/settings.json", ".github/copilot/settings.local.json")...)
	return []agent.Switch{{Key: "disableAllHooks", Off: true, Files: files}}
}
