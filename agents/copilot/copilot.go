// Package copilot supports GitHub Copilot CLI: its hooks, their file, and its tools.
package copilot

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"nod/agents/agent"
	"nod/agents/claude"
	"nod/api"
	"nod/interact"
	"nod/ipc/hooks"
)

const name = "copilot-cli"

// Agent is GitHub Copilot CLI.
var Agent = agent.Agent{
	Name: name, Title: "Copilot CLI", Program: "copilot",
	Hooks:    hooks.Protocol{Read: hooks.Reads(payload.step), Deny: refuse},
	Settings: settings,
	Off:      off,
	After:    "Copilot CLI reads its hooks when it starts: start it again.",
	Tested:   []string{"1.0.102"},
	Limits: []string{
		"nod's window shows the diff of a change; for a command, only the command line.",
		"With -p it denies every call that nobody allowed, even while nod isn't running.",
		"While nod isn't running, or when its hook takes too long, its own prompt decides; with --allow-all-tools the " +
			"call runs.",
		"Your answer to a question reaches the model as the reason of a denial.",
	},
}

var folder = agent.FolderOf("COPILOT_HOME", ".copilot", "")

// events are spelled in the way that gives the tools' own names: the other spelling looks like Claude Code's hooks but
// differs. Their payloads do not name the event.
var events = []string{preToolUse, permissionRequest, "notification", "userPromptSubmitted", "agentStop", "sessionEnd"}

func settings(m agent.Machine) agent.File {
	return agent.Whole(filepath.Join(folder(m), "hooks", "nod.json"), hookFile, run)
}

type handler struct {
	Type    string `json:"type"`
	Bash    string `json:"bash"`
	Timeout int    `json:"timeoutSec"`
	Comment string `json:"comment"`
}

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
	text, _ := json.MarshalIndent(table{1, hooks}, "", "  ") // cannot fail for texts and numbers
	return append(text, '\n')
}

// run returns the command in the file, without the event after it.
func run(text []byte) (agent.Run, bool) {
	var t table
	if json.Unmarshal(text, &t) != nil || len(t.Hooks[preToolUse]) != 1 {
		return agent.Run{}, false
	}
	return agent.RunOf(strings.TrimSuffix(t.Hooks[preToolUse][0].Bash, " "+preToolUse), name)
}

func off(m agent.Machine, s agent.Session) []agent.Switch {
	files := append([]string{filepath.Join(folder(m), "config.json"), filepath.Join(folder(m), "settings.json")},
		s.Project(".github/copilot/settings.json", ".github/copilot/settings.local.json")...)
	return []agent.Switch{{Key: "disableAllHooks", Off: true, Files: files}}
}

// payload is what nod reads of Copilot CLI's hook payloads
// (https://docs.github.com/en/copilot/reference/hooks-configuration).
type payload struct {
	SessionID string          `json:"sessionId"`
	CWD       string          `json:"cwd"`
	ToolName  string          `json:"toolName"`
	ToolArgs  json.RawMessage `json:"toolArgs"`  // of preToolUse
	ToolInput json.RawMessage `json:"toolInput"` // of permissionRequest, which has less in it

	Message          string `json:"message"`
	NotificationType string `json:"notification_type"`
}

const (
	preToolUse        = "preToolUse"
	permissionRequest = "permissionRequest"
)

func (p payload) step(c hooks.Call) (hooks.Step, error) {
	s := hooks.Step{Session: p.SessionID, CWD: p.CWD, Silence: api.AsksInTerminal}
	switch c.Event {
	case preToolUse:
		return p.preToolUse(s)
	case permissionRequest:
		s.Ask = interact.Approve{Tool: p.ToolName, Input: p.ToolInput}
		s.Reply = hooks.Allows(claude.Decision{Behavior: "allow"}) // otherwise it asks about the call in the terminal
	case "agentStop":
		s.Finished()
	case "userPromptSubmitted", "sessionEnd":
		s.Over = hooks.Everything
	case "notification":
		if p.NotificationType != "permission_prompt" && p.NotificationType != "elicitation_dialog" { // nod's window says so
			s.Notify(p.NotificationType, p.Message)
		}
	}
	return s, nil
}

// preToolUse comes before any prompt, and an allow skips the prompt. nod asks here about what the policy insists on,
// because with --allow-all-tools nothing follows, even if the reply is "ask"; about everything else when Copilot CLI
// would ask, with [permissionRequest].
func (p payload) preToolUse(s hooks.Step) (hooks.Step, error) {
	if p.ToolName == "ask_user" {
		return p.askUser(s)
	}
	s.Vetoes(claude.Payload{ToolName: p.ToolName, ToolInput: p.ToolArgs}.Approve(), decision{Decision: "allow"})
	return s, nil
}

// askUser answers Copilot CLI's own question tool. The only way to return an answer is as the reason of a denial;
// without one the question goes to the terminal.
func (p payload) askUser(s hooks.Step) (hooks.Step, error) {
	var in struct {
		Message string          `json:"message"`
		Schema  json.RawMessage `json:"requestedSchema"`
	}
	if err := json.Unmarshal(p.ToolArgs, &in); err != nil {
		return hooks.Step{}, err
	}
	return claude.Elicit(s, in.Message, in.Schema, func(content map[string]any) any {
		text, _ := json.Marshal(content) // cannot fail for texts, numbers and lists of texts
		return decision{"deny", hooks.NoRefusal + "\n" + string(text)}
	})
}

type decision struct {
	Decision string `json:"permissionDecision"`
	Reason   string `json:"permissionDecisionReason,omitempty"`
}

func refuse(event, reason string) any {
	switch event {
	case preToolUse:
		return decision{"deny", reason}
	case permissionRequest:
		return claude.Decision{Behavior: "deny", Message: reason}
	}
	return nil
}
