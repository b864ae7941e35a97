// Package goose is all that nod knows of Goose: the plugin that its hooks are in, and its tools.
package goose

import (
	_ "embed"
	"path/filepath"
	"time"

	"nod/agents/agent"
	"nod/ipc/hooks"
)

const name = "goose"

// Agent is Goose.
var Agent = agent.Agent{
	Name: name, Title: "Goose", Program: "goose",
	Hooks:    hooks.Protocol{Read: hooks.Reads(payload.step), Deny: hooks.DenyIn(deny, "PreToolUse")},
	Folder:   plugin,
	Settings: settings,
	Needs:    needs,
	Limits: []string{
		"An allow in nod does not skip its own prompt, and by default it has none: nod denies what your rules deny, and " +
			"asks you about what they say ask to.",
	},
}

func plugin(m agent.Machine) string { return filepath.Join(m.Home, ".agents", "plugins", "nod") }

// settings has Goose deny when nod's hook fails: one that says nothing has not failed.
func settings(m agent.Machine) agent.File {
	return agent.HookFile{
		Agent: name, Unit: time.Second, Default: 30 * time.Second,
		Events: []agent.Event{
			{Name: "PreToolUse", Decides: true, Blocks: true}, {Name: "PostToolUse"}, {Name: "Stop"}, {Name: "SessionEnd"},
		},
	}.At(filepath.Join(plugin(m), "hooks", "hooks.json"))
}

//go:embed plugin.json
var manifest []byte

// needs is the plugin's manifest.
func needs(m agent.Machine) []agent.File {
	return []agent.File{agent.Whole(filepath.Join(plugin(m), "plugin.json"), func(string) []byte { return manifest }, nil)}
}
