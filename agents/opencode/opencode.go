// Package opencode supports opencode: the plugin that passes its events on, and its tools.
package opencode

import (
	_ "embed"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"

	"nod/agents/agent"
	"nod/api"
	"nod/interact"
	"nod/ipc/hooks"
	"nod/policy"
)

const name = "opencode"

// Agent is opencode.
var Agent = agent.Agent{
	Name: name, Title: "opencode", Program: "opencode",
	Hooks:    hooks.Protocol{Read: hooks.Reads(payload.step), Deny: hooks.DenyIn(deny, "permission.asked")},
	Settings: settings,
	Off:      off,
	After:    `opencode asks only for what its own settings say "ask" to: see "permission" in opencode.json.`,
	Tested:   []string{"1.18.33"},
	Limits: []string{
		`It asks only where its own settings say "ask": nod cannot deny what they allow.`,
		"Its terminal shows its own prompt beside nod's window: the first answer counts.",
		"Commands in the text of its custom commands don't come to nod: they run unasked.",
		"opencode run rejects calls it would ask about before nod can answer.",
	},
}

//go:embed plugin.js
var plugin string

// folder is read whatever OPENCODE_CONFIG_DIR names: that is an additional folder, not a replacement.
var folder = agent.FolderOf("XDG_CONFIG_HOME", ".config", "opencode")

func settings(m agent.Machine) agent.File {
	return agent.Whole(filepath.Join(folder(m), "plugins", "nod.js"), func(nod string) []byte {
		path, _ := json.Marshal(nod) // cannot fail for a text, and JSON is JavaScript
		return []byte(strings.ReplaceAll(plugin, `"NOD"`, string(path)))
	}, run)
}

var command = regexp.MustCompile(`(?m)^const NOD = (".*")$`)

func run(text []byte) (agent.Run, bool) {
	found := command.FindSubmatch(text)
	var nod string
	if found == nil || json.Unmarshal(found[1], &nod) != nil {
		return agent.Run{}, false
	}
	return agent.RunOf(agent.Command(nod, name), name)
}

func off(agent.Machine, agent.Session) []agent.Switch {
	return []agent.Switch{{Key: "--pure"}, {Key: "OPENCODE_PURE"}}
}

// payload is what nod reads of the events that nod's plugin passes on from opencode's event stream
// (https://opencode.ai/docs/server). The plugin passes the reply to opencode's own API.
type payload struct {
	CWD        string `json:"cwd"`      // this and the next two are added by the plugin
	Worktree   string `json:"worktree"` // the top of the git repository; "/" outside of one
	Call       *call  `json:"call"`     // the tool call that wants the permission; nil: not known
	Properties struct {
		ID         string                     `json:"id"`
		SessionID  string                     `json:"sessionID"`
		RequestID  string                     `json:"requestID"`
		Permission string                     `json:"permission"`
		Patterns   []string                   `json:"patterns"`
		Metadata   map[string]json.RawMessage `json:"metadata"`
		Always     []string                   `json:"always"`
		Questions  []hooks.Question           `json:"questions"`
	} `json:"properties"`
}

func (p payload) step(c hooks.Call) (hooks.Step, error) {
	s := hooks.Step{Session: p.Properties.SessionID, CWD: p.CWD, Silence: api.AsksItself}
	switch c.Event {
	case "permission.asked":
		return p.permission(s)
	case "question.asked":
		return s.Asks(p.Properties.Questions, func(picks [][]string) (any, error) {
			return map[string][][]string{"answers": picks}, nil
		})
	case "permission.replied":
		s.Over = hooks.CallOf(p.Properties.RequestID)
	case "question.replied", "question.rejected":
		s.Over = func(r interact.Request) bool { return r.Body.Kind() == api.KindForm }
	case "session.idle":
		s.Finished()
	}
	return s, nil
}

type call struct {
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
}

// permission returns the name of the permission that the tool itself asks for: all tools that change files ask for
// "edit".
func (c call) permission() string {
	switch c.Tool {
	case "write", "multiedit", "patch", "apply_patch":
		return "edit"
	}
	return c.Tool
}

// externalDirectory is the permission that any tool asks for, before its own, to work outside the project.
const externalDirectory = "external_directory"

// approval returns the request that asks about the call itself, which says everything that a permission omits: what a
// file will hold, where a command runs, what a tool of an MCP server gets, and what is done outside the project.
func (p payload) approval() (interact.Approve, error) {
	a := interact.Approve{Tool: p.Properties.Permission, ToolUseID: p.Properties.ID}
	if c := p.Call; c != nil && (c.permission() == a.Tool || a.Tool == externalDirectory) {
		a.Tool, a.Input = c.permission(), c.Args
		return a, nil
	}
	if a.Tool == "read" && !filepath.IsAbs(p.Worktree) {
		a.Class = policy.Unknown // the patterns start in an unknown folder
	}
	var err error
	a.Input, err = json.Marshal(p.input())
	return a, err
}

func (p payload) input() map[string]any {
	input := map[string]any{}
	if _, isCommand := p.Properties.Metadata["command"]; !isCommand { // patterns are parts of the command
		input["patterns"] = p.patterns()
	}
	for k, v := range p.Properties.Metadata {
		input[k] = v
	}
	return input
}

// patterns returns the permission's patterns. For read, names of files are relative to the top of the repository; a
// resource of an MCP server has metadata, a file has none.
func (p payload) patterns() []string {
	if p.Properties.Permission != "read" || len(p.Properties.Metadata) > 0 {
		return p.Properties.Patterns
	}
	var paths []string
	for _, pattern := range p.Properties.Patterns {
		paths = append(paths, filepath.Join(p.Worktree, pattern))
	}
	return paths
}

func (p payload) permission(s hooks.Step) (hooks.Step, error) {
	a, err := p.approval()
	if err != nil {
		return hooks.Step{}, err
	}
	if len(p.Properties.Always) > 0 {
		always, err := json.Marshal(p.Properties.Always)
		if err != nil {
			return hooks.Step{}, err
		}
		a.Suggestions = []string{"allow " + p.Properties.Permission + " " + string(always) + " · until opencode ends"}
	}
	s.Ask = a
	s.Reply = func(a interact.Answer) (any, error) {
		switch {
		case a.Outcome == api.Allowed && a.Suggestion > 0:
			return reply{Reply: "always"}, nil
		case a.Outcome == api.Allowed:
			return reply{Reply: "once"}, nil
		}
		return nil, nil
	}
	return s, nil
}

type reply struct {
	Reply   string `json:"reply"`
	Message string `json:"message,omitempty"`
}

func deny(reason string) any { return reply{Reply: "reject", Message: reason} }
