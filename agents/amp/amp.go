// Package amp is all that nod knows of Amp: the program that its rules delegate to, and its tools.
package amp

import (
	"path/filepath"

	"nod/agents/agent"
	"nod/ipc/hooks"
)

const name = "amp"

// Agent is Amp.
var Agent = agent.Agent{
	Name: name, Title: "Amp", Program: "amp",
	Hooks: hooks.Protocol{
		Read: hooks.Reads(payload.step), Deny: refuse, Abstain: abstain, Payload: payloadOf,
	},
	Folder:   folder,
	Settings: settings,
	Needs:    func(m agent.Machine) []agent.File { return []agent.File{agent.Script(script(m), name)} },
	Tested:   []string{"0.0.1790142911-g7618fb"},
	Limits: []string{
		"It was tested with amp permissions test, as far as it goes without its maker's servers.",
		"What your own rules in amp.permissions decide it does not ask nod about: nod's rule comes after them, and before " +
			"those that are built in.",
		"It runs a shell script that nod keeps beside its settings, as it runs programs without arguments: there is none " +
			"for Windows.",
	},
}

// folder is where XDG has it, on every system.
func folder(m agent.Machine) string {
	return filepath.Join(m.Folder("XDG_CONFIG_HOME", ".config"), "amp")
}

// scriptName is that of nod's program for Amp.
const scriptName = "nod-amp"

func script(m agent.Machine) string { return filepath.Join(folder(m), scriptName) }

// settings has one rule of nod's, after the person's own: the first that matches counts, and what they reject stays
// rejected.
func settings(m agent.Machine) agent.File {
	return agent.ListFile{
		List:  "amp.permissions",
		Entry: rule{Tool: "*", Action: "delegate", To: script(m)},
		IsOurs: func(entry map[string]string) bool {
			return entry["tool"] == "*" && entry["action"] == "delegate" && entry["to"] == script(m)
		},
	}.At(filepath.Join(folder(m), "settings.json"))
}

type rule struct {
	Tool   string `json:"tool"`
	Action string `json:"action"`
	To     string `json:"to"`
}
