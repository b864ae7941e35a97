// Package gemini is all that nod knows of Gemini CLI: its hooks, its settings, its tools and its own rules.
package gemini

import (
	_ "embed"
	"path/filepath"

	"nod/agents/agent"
	"nod/ipc/hooks"
	"nod/policy/imports"
)

const name = "gemini-cli"

// Agent is Gemini CLI.
var Agent = agent.Agent{
	Name: name, Title: "Gemini CLI", Program: "gemini",
	Hooks:    hooks.Protocol{Read: hooks.Reads(payload.step), Deny: refuse},
	Settings: settings,
	Gate:     gate,
	Rules: &imports.Source{ // Gemini CLI does not heed those of a project
		Folder: ".gemini", Home: []string{".gemini/policies/*.toml"}, Read: readRules,
	},
}

// settings counts time-outs in milliseconds, as Gemini CLI does.
func settings(m agent.Machine) agent.File {
	return agent.HookFile{Agent: name, Timeout: agent.HookTimeout * 1000, Named: true, Events: []agent.Event{
		{Name: "BeforeTool"}, {Name: "AfterTool"}, {Name: "BeforeAgent"}, {Name: "AfterAgent"},
		{Name: "Notification"}, {Name: "SessionEnd"},
	}}.At(filepath.Join(m.Home, ".gemini", "settings.json"))
}

//go:embed gate.toml
var gatePolicy []byte

// gate is the policy file that switches Gemini CLI's own prompt off. While it exists, nod is the only gate, and must
// deny what nobody allowed.
func gate(m agent.Machine) agent.File {
	path := filepath.Join(m.Home, ".gemini", "policies", "nod.toml")
	return agent.Whole(path, func(string) []byte { return gatePolicy })
}
