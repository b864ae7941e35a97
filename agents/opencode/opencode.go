// Package opencode is all that nod knows of opencode: the plugin that passes its events on, and its tools.
package opencode

import (
	_ "embed"
	"path/filepath"
	"strconv"
	"strings"

	"nod/agents/agent"
	"nod/ipc/hooks"
)

// Agent is opencode.
var Agent = agent.Agent{
	Name: "opencode", Title: "opencode", Program: "opencode",
	Hooks:    hooks.Protocol{Read: hooks.Reads(payload.step), Deny: refuse},
	Settings: settings,
	After:    `opencode asks only for what its own settings say "ask" to: see "permission" in opencode.json.`,
}

//go:embed plugin.js
var plugin string

func settings(m agent.Machine) agent.File {
	path := filepath.Join(m.Folder("XDG_CONFIG_HOME", ".config"), "opencode", "plugins", "nod.js")
	return agent.Whole(path, func(nod string) []byte {
		return []byte(strings.ReplaceAll(plugin, `"NOD"`, strconv.Quote(nod)))
	})
}
