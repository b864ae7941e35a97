// Package opencode is all that nod knows of opencode: the plugin that passes its events on, and its tools.
package opencode

import (
	_ "embed"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"

	"nod/agents/agent"
	"nod/ipc/hooks"
)

const name = "opencode"

// Agent is opencode.
var Agent = agent.Agent{
	Name: name, Title: "opencode", Program: "opencode",
	Hooks:    hooks.Protocol{Read: hooks.Reads(payload.step), Deny: hooks.DenyIn(deny, "permission.asked")},
	Folder:   folder,
	Settings: settings,
	Off:      off,
	After:    `opencode asks only for what its own settings say "ask" to: see "permission" in opencode.json.`,
	Tested:   []string{"1.18.33"},
	Limits: []string{
		`It asks only about what its own settings say "ask" to: nod cannot deny what they allow.`,
		"Its terminal shows its own prompt beside nod's window: the first answer counts.",
		"opencode run rejects by itself what it would ask about, before nod has answered: nod's answer comes too late " +
			"there, but nothing runs unasked.",
	},
}

//go:embed plugin.js
var plugin string

// folder is read whatever OPENCODE_CONFIG_DIR names: that is a folder more, not another one.
func folder(m agent.Machine) string {
	return filepath.Join(m.Folder("XDG_CONFIG_HOME", ".config"), "opencode")
}

func settings(m agent.Machine) agent.File {
	return agent.Whole(filepath.Join(folder(m), "plugins", "nod.js"), func(nod string) []byte {
		path, _ := json.Marshal(nod) // a text becomes JSON always, and JSON is JavaScript
		return []byte(strings.ReplaceAll(plugin, `"NOD"`, string(path)))
	}, run)
}

var command = regexp.MustCompile(`(?m)^const NOD = (".*")$`)

// run is the command that the plugin runs.
func run(text []byte) (agent.Run, bool) {
	found := command.FindSubmatch(text)
	if found == nil {
		return agent.Run{}, false
	}
	var nod string
	if json.Unmarshal(found[1], &nod) != nil {
		return agent.Run{}, false
	}
	return agent.RunOf(agent.Command(nod, name), name)
}

// off are the ways around its plugins.
func off(agent.Machine, agent.Session) []agent.Switch {
	return []agent.Switch{{Key: "--pure"}, {Key: "OPENCODE_PURE"}}
}
