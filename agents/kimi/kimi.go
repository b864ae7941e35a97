// Package kimi supports Kimi Code: its hooks, settings and tools.
package kimi

import (
	"path/filepath"

	"nod/agents/agent"
	"nod/agents/claude"
	"nod/api"
	"nod/ipc/hooks"
)

const name = "kimi-code"

// Agent is Kimi Code.
var Agent = agent.Agent{
	Name: name, Title: "Kimi Code", Program: "kimi",
	Hooks: hooks.Protocol{Read: hooks.Reads(step), Deny: hooks.DenyIn(deny, preToolUse)},
	Settings: func(m agent.Machine) agent.File {
		return agent.File{Path: config(m), Install: addHooks, Uninstall: removeHooks, Look: lookForHooks}
	},
	Gate:   func(m agent.Machine) agent.File { return gateAt(config(m)) },
	After:  "Kimi Code reads its hooks when it starts: start it again.",
	Tested: []string{"2.1.0"},
	Limits: []string{
		"Unless nod is the only gate, an allow in nod does not skip its own prompt.",
		"It asks about commands and about files outside the project, and changes files in the project unasked.",
		`While its settings contain default_permission_mode = "auto", nod is the only gate.`,
		"If nod's hook is killed or takes too long, the agent continues as if you had allowed; with -p, or with nod as " +
			"the only gate, nobody else asks.",
		"With -p it asks nobody: unless nod is the only gate, everything runs while nod isn't running.",
		"A hook with an unknown key makes it drop all hooks: nod then refuses to be set up.",
		"Your answer to a question reaches the model as the reason of a denial.",
	},
}

var folder = agent.FolderOf("KIMI_CODE_HOME", ".kimi-code", "")

func config(m agent.Machine) string { return filepath.Join(folder(m), "config.toml") }

// step reads Kimi Code's hook payloads, whose fields have Claude Code's names
// (https://moonshotai.github.io/kimi-code/en/customization/hooks).
func step(p claude.Payload, c hooks.Call) (hooks.Step, error) {
	s := hooks.Step{Session: p.SessionID, CWD: p.CWD, Silence: api.AsksInTerminal}
	switch c.Event {
	case preToolUse:
		return beforeTool(p, s, c.Gate)
	case "Stop":
		s.Finished()
	case "UserPromptSubmit", "Interrupt", "SessionEnd":
		s.Over = hooks.Everything
	}
	return s, nil
}

const preToolUse = "PreToolUse"

// beforeTool comes before Kimi Code's own prompt, which an allow does not skip: nod asks about everything only if that
// prompt is switched off, and otherwise about what the policy insists on. Kimi Code continues after silence, so nod
// denies whatever it asks about and gets no allow for.
func beforeTool(p claude.Payload, s hooks.Step, gate bool) (hooks.Step, error) {
	switch {
	case p.ToolName == "AskUserQuestion":
		return p.AsksByDenial(s, deny)
	case gate:
		s.Gates(p.Approve(), nil)
	default:
		s.Vetoes(p.Approve(), nil)
	}
	return s, nil
}

func deny(reason string) any { return claude.Deny(preToolUse, reason) }
